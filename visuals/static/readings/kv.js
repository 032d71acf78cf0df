// @ts-check
// What the live cache held at a moment of the run: pure arithmetic over the run's own messages.

/**
 * @typedef {import("../../decode.js").Trace} Trace
 *
 * @typedef {import("../../decoded.d.ts").Detail<"kv_live">} Live
 *
 * @typedef {{ model: Pick<Trace["model"], "n_layers" | "n_kv_heads" | "head_dim" | "dtype" | "parts"> }} Shape
 *   what the bytes of a token depend on
 *
 * @typedef {Shape & { encoder: (Shape & Pick<Trace, "T">) | null }} WithSource
 *
 * @typedef {Pick<Trace, "steps"> & WithSource} Written
 */

/** @type {Record<string, number>} */
const ELEMENT_BYTES = { float32: 4, float16: 2, bfloat16: 2, float64: 8 };

/**
 * Bytes of one stored number in the run's dtype.
 *
 * @param {{ model: Pick<Trace["model"], "dtype"> }} trace
 */
export const elementBytes = (trace) => ELEMENT_BYTES[trace.model.dtype];

/**
 * What a layer keeps of a token in place of keys and values: the widths of the latent and of its rotated key; null
 * where it keeps them.
 *
 * @param {Shape} trace
 */
export const latentOf = ({ model: { parts } }) => parts.latent;

/**
 * How many numbers a layer keeps of a token.
 *
 * @param {Shape} trace
 */
export function keptNumbers(trace) {
  const { n_kv_heads, head_dim } = trace.model;
  const latent = latentOf(trace);
  return latent ? latent.rank + latent.rope : 2 * n_kv_heads * head_dim;
}

/**
 * The factors of the formula for `tokens` tokens, in the order in which they are printed.
 *
 * @param {Shape} trace
 * @param {number} tokens
 * @returns {import("./format.js").Factor[]}
 */
export function factorsOf(trace, tokens) {
  const { n_layers, n_kv_heads, head_dim, dtype } = trace.model;
  const kept = latentOf(trace)
    ? [{ value: keptNumbers(trace), code: "latent_rope_key" }]
    : [
        { value: n_kv_heads, code: "k_v_heads" },
        { value: 2, code: "k_and_v" },
        { value: head_dim, code: "head_dim" },
      ];
  return [
    { value: n_layers, code: "layers" },
    { value: tokens, code: "tokens" },
    ...kept,
    { value: elementBytes(trace), code: "bytes", params: { format: dtype } },
  ];
}

/**
 * The product of the factors.
 *
 * @param {{ value: number }[]} factors
 */
export const bytesOf = (factors) => factors.reduce((bytes, { value }) => bytes * value, 1);

/**
 * The factors of what a decoder keeps of its source besides, from before its first token on; null where there is
 * none.
 *
 * @param {WithSource} trace
 */
export const sourceFactors = (trace) => (trace.encoder ? factorsOf(trace, trace.encoder.T) : null);

/**
 * Bytes of all that is held with `tokens` tokens: their own, and the source's.
 *
 * @param {WithSource} trace
 * @param {number} tokens
 */
export function heldBytes(trace, tokens) {
  const source = sourceFactors(trace);
  return bytesOf(factorsOf(trace, tokens)) + (source ? bytesOf(source) : 0);
}

/**
 * All tokens that the page knows: those of the run, and those written since.
 *
 * @param {Pick<Trace, "tokens" | "steps" | "T" | "nPrompt">} trace
 */
export const piecesOf = (trace) => [
  ...trace.tokens.pieces,
  ...trace.steps.slice(trace.T - trace.nPrompt).map((step) => step.piece),
];

/**
 * The moment at which the model has read `query`: a prompt token belongs to the prefill, which reads the prompt at
 * once.
 *
 * @param {Pick<Trace, "nPrompt">} trace
 * @param {number} query
 * @returns {{ held: number; from: number; query: number; prefill: boolean }} tokens held, the first one written
 *   then
 */
export function momentOf(trace, query) {
  const prefill = query < trace.nPrompt;
  const held = prefill ? trace.nPrompt : query + 1;
  return { held, from: prefill ? 0 : query, query, prefill };
}

/**
 * What was measured when the cache held so many tokens.
 *
 * @param {Pick<Trace, "steps">} trace
 * @param {Pick<Live, "tokens" | "bytes"> | null} detail
 * @param {number} held
 * @returns {number | null}
 */
export function measuredAt(trace, detail, held) {
  const step = trace.steps.find(({ cacheTokens }) => cacheTokens === held);
  if (step) return step.cacheBytes;
  return detail?.tokens === held ? detail.bytes : null;
}

/**
 * Every length that was measured: how many there are, and how many equal the formula.
 *
 * @param {Written} trace
 * @param {Pick<Live, "tokens" | "bytes"> | null} detail
 */
export function agreement(trace, detail) {
  const lengths = new Set(trace.steps.map(({ cacheTokens }) => cacheTokens));
  if (detail) lengths.add(detail.tokens);
  const equal = [...lengths].filter((held) => measuredAt(trace, detail, held) === heldBytes(trace, held));
  return { measured: lengths.size, equal: equal.length };
}
