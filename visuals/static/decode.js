// The messages that Python sends (messages.d.ts), their arrays as typed arrays. Pure; the other end is
// visuals/payload.py.

import { RecordedMap, watchFields } from "./reads.js";

/**
 * @import {
 *   Decoded,
 *   NumArray
 * } from "./decoded.d.ts"
 * @import {
 *   Changes,
 *   CrossMessage,
 *   DrawnWith,
 *   Ffn,
 *   LayerMessage,
 *   ModelMessage,
 *   NeuronArrays,
 *   NextMessage,
 *   NormFigures,
 *   Packed,
 *   RunMessage,
 *   StepMessage,
 *   TokensMessage,
 *   TraceMessage
 * } from "./messages.d.ts"
 */

/**
 * @typedef {Decoded<ModelMessage>} Model
 *
 * @typedef {Decoded<NeuronArrays> & { ffn: Ffn }} Neurons (N,) each, at one token
 *
 * @typedef {{
 *   index: number;
 *   ffn: Ffn;
 *   q: NumArray;
 *   k: NumArray | null;
 *   kRot: NumArray | null;
 *   cross: Decoded<CrossMessage> | null;
 *   top: Neurons & { neuron: NumArray };
 *   neurons: Map<number, Neurons>;
 * }} Layer
 *   as in LayerMessage; `neurons` by token, as far as they have come
 *
 * @typedef {{ ids: number[]; pieces: string[]; logits: NumArray; logZ: number; vocabSize: number; tail: number }} Next
 *
 *
 * @typedef {{
 *   index: number;
 *   id: number;
 *   piece: string;
 *   probability: number;
 *   drawnProbability: number;
 *   stop: string | null;
 *   own: boolean;
 *   cacheBytes: number;
 *   cacheTokens: number;
 *   seconds: number;
 *   sampling: DrawnWith;
 *   next: Next | null;
 * }} Step
 *
 *
 * @typedef {{
 *   id: string;
 *   prompt: string;
 *   nPrompt: number;
 *   model: Model;
 *   tokens: TokensMessage;
 *   T: number;
 *   rms: Decoded<NormFigures>;
 *   mean: Decoded<NormFigures>;
 *   next: Next | null;
 *   layers: Map<number, Layer>;
 *   steps: Step[];
 *   details: Map<string, any>;
 *   generating: boolean;
 *   seconds: number;
 *   sinks: number[];
 *   changes: Changes;
 *   source: Trace | null;
 *   start: import("./messages.d.ts").Start | null;
 *   encoder: Trace | null;
 *   whole: Trace | null;
 * }} Trace
 *   source: whose stream its patches took; start: where to look first; encoder: what an encoder made of the prompt, a
 *   run without a choice, which knows the `whole` that it is part of
 *
 * @typedef {TraceMessage &
 *   Pick<RunMessage, "id" | "prompt" | "n_prompt" | "seconds" | "changes"> &
 *   Partial<RunMessage> & { source?: Trace | null }} AnyRunMessage
 *   of a whole run, or of an encoder's part of one; `source` is put in by the page
 */

/**
 * @param {string} text
 * @returns {Uint8Array<ArrayBuffer>}
 */
function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/**
 * IEEE 754 half precision to a number.
 *
 * @param {number} half
 * @returns {number}
 */
export function halfToNumber(half) {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 0x1f) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/**
 * @param {Packed} packed
 * @returns {NumArray} half precision comes back as Float32Array
 */
export function decodeArray(packed) {
  const { dtype, shape } = packed;
  const bytes = bytesOf(packed.data);
  const View = { f4: Float32Array, f2: Uint16Array, u1: Uint8Array, u2: Uint16Array, i4: Int32Array }[dtype];
  if (!View) throw new Error(`unknown dtype ${dtype}`);
  const raw = new View(bytes.buffer, bytes.byteOffset, bytes.byteLength / View.BYTES_PER_ELEMENT);
  const data = dtype === "f2" ? Float32Array.from(raw, halfToNumber) : raw;
  const size = shape.reduce((product, n) => product * n, 1);
  if (data.length !== size) throw new Error(`array of shape (${shape}) holds ${data.length} values, expected ${size}`);
  return { shape, data };
}

/**
 * Whether a part of a message is a packed array.
 *
 * @param {object} value
 * @returns {value is Packed}
 */
const isPacked = (value) =>
  "dtype" in value && typeof value.dtype === "string" && "data" in value && typeof value.data === "string";

/**
 * @param {unknown} value
 * @returns {unknown}
 */
function decodeParts(value) {
  if (Array.isArray(value)) return value.map(decodeParts);
  if (value === null || typeof value !== "object") return value;
  if (isPacked(value)) return decodeArray(value);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, decodeParts(part)]));
}

/**
 * A message with every packed array in it decoded, however deep.
 *
 * @template Message
 * @param {Message} message
 * @returns {Decoded<Message>}
 */
export const decodeAll = (message) => /** @type {Decoded<Message>} */ (decodeParts(message));

/**
 * @param {Packed | null} packed
 * @returns {NumArray | null}
 */
const maybe = (packed) => packed && decodeArray(packed);

/**
 * @param {NeuronArrays} payload
 * @param {Ffn} ffn
 * @returns {Neurons}
 */
export const decodeNeurons = ({ gate, up, weight }, ffn) => ({
  gate: maybe(gate),
  up: decodeArray(up),
  weight: maybe(weight),
  ffn,
});

/**
 * Neurons of all tokens, (T, N) each, by token.
 *
 * @param {NeuronArrays} payload
 * @param {Ffn} ffn
 * @returns {Map<number, Neurons>}
 */
export function decodeAllNeurons(payload, ffn) {
  const { gate, up, weight } = decodeNeurons(payload, ffn);
  const [tokens, width] = up.shape;
  /**
   * @template {NumArray | null} Array
   * @param {Array} all
   * @param {number} token
   */
  const row = (all, token) => all && { shape: [width], data: all.data.subarray(token * width, (token + 1) * width) };
  return new RecordedMap(
    Array.from({ length: tokens }, (_, t) => [t, { gate: row(gate, t), up: row(up, t), weight: row(weight, t), ffn }]),
  );
}

/**
 * @param {LayerMessage} payload
 * @param {{ parts: { ffn: Ffn[] } }} model
 * @returns {Layer}
 */
export function decodeLayer(payload, model) {
  const ffn = model.parts.ffn[payload.layer];
  /** @type {RecordedMap<number, Neurons>} */
  const neurons = new RecordedMap();
  const one = payload.neurons;
  if (one && one.token !== null) neurons.set(one.token, decodeNeurons(one, ffn));
  const layer = {
    index: payload.layer,
    ffn,
    q: decodeArray(payload.q),
    k: maybe(payload.k),
    kRot: maybe(payload.k_rot),
    cross: payload.cross ? decodeAll(payload.cross) : null,
    top: { neuron: decodeArray(payload.top.neuron), ...decodeNeurons(payload.top, ffn) },
    neurons,
  };
  return watchFields(layer, "neurons");
}

/**
 * @param {NextMessage | null | undefined} payload
 * @returns {Next | null}
 */
function decodeNext(payload) {
  if (!payload) return null;
  const { ids, pieces, tail } = payload;
  return { ids, pieces, tail, logits: decodeArray(payload.logits), logZ: payload.log_z, vocabSize: payload.vocab_size };
}

/**
 * @param {StepMessage} payload
 * @returns {Step}
 */
export function decodeStep(payload) {
  const { index, id, piece, probability, seconds, stop, sampling, own } = payload;
  const drawnProbability = payload.drawn_probability;
  const cache = { cacheBytes: payload.cache_bytes, cacheTokens: payload.cache_tokens };
  return {
    index,
    id,
    piece,
    probability,
    drawnProbability,
    seconds,
    stop,
    sampling,
    own,
    ...cache,
    next: decodeNext(payload.next),
  };
}

/**
 * All that a run read and wrote, as what makes runs has it: of an encoder's network the prompt's ids first.
 *
 * @param {Trace} trace
 * @returns {{ ids: number[]; n_prompt: number }}
 */
export function textOf({ tokens: { ids }, nPrompt, encoder }) {
  const prompt = encoder ? encoder.tokens.ids : ids.slice(0, nPrompt);
  return { ids: [...prompt, ...ids.slice(nPrompt)], n_prompt: prompt.length };
}

/**
 * @param {AnyRunMessage} payload
 * @returns {Trace}
 */
export function decodeRun(payload) {
  /** @type {RecordedMap<number, Layer>} */
  const layers = new RecordedMap();
  const model = { ...payload.model, parts: decodeAll(payload.model.parts) };
  if (payload.layer) layers.set(payload.layer.layer, decodeLayer(payload.layer, model));
  /** @type {Trace} */
  const trace = {
    id: payload.id,
    prompt: payload.prompt,
    nPrompt: payload.n_prompt,
    model,
    tokens: payload.tokens,
    T: payload.tokens.ids.length,
    rms: decodeAll(payload.rms),
    mean: decodeAll(payload.mean),
    next: decodeNext(payload.next),
    layers,
    details: new RecordedMap(),
    steps: (payload.steps ?? []).map(decodeStep),
    generating: payload.generating === true,
    seconds: payload.seconds,
    sinks: payload.sinks ?? [],
    changes: payload.changes ?? {},
    source: payload.source ?? null,
    start: payload.start ?? null,
    encoder: null,
    whole: null,
  };
  if (payload.encoder) {
    const { prompt, seconds } = payload;
    const encoder = decodeRun({ ...payload.encoder, prompt, seconds, n_prompt: payload.encoder.tokens.ids.length });
    encoder.whole = trace;
    trace.encoder = encoder;
  }
  return watchFields(trace, "steps", "generating");
}
