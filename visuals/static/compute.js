// Attention and the choice of the next token, in double precision, from the values of the run. Pure: no DOM, no store.
// Attention is not sent by the server. It is computed here from q and k, by the formulas printed beside it.

import { dot, softmax, softmaxInPlace } from "./arrays.js";
import { rotate } from "./rotation.js";

/**
 * @typedef {import("./decoded.d.ts").NumArray} NumArray
 *
 * @typedef {{ q: NumArray; k: NumArray | null; kRot: NumArray | null }} Heads q (n_heads, T, head_dim), k
 *   (n_kv_heads, T, head_dim), before RoPE; kRot, after it, where there is no k
 *
 * @typedef {import("./rotation.js").Rotary} Rotary
 *
 * @typedef {{
 *   n_heads: number;
 *   n_kv_heads: number;
 *   head_dim: number;
 *   parts: {
 *     causal: boolean;
 *     prefix: number | null;
 *     window?: number | null;
 *     rotary: Rotary | null;
 *     bias: NumArray | null;
 *     bias_after: NumArray | null;
 *     no_position?: boolean;
 *     buckets?: { before: NumArray; after: NumArray | null } | null;
 *     scale: number;
 *   };
 * }} Model
 *   model/layer_metadata.py says what each is
 *
 * @typedef {{ scores: Float64Array; weights: Float64Array; top: number; total: number }} Row a value for each key
 *   up to the last that a query sees (keysSeen), those that a window hides with score −∞ and weight 0; weight =
 *   e^(score - top) / total, where top is the largest score and total the sum of those powers
 */

const MAX_ROWS = 256; // rows of attention kept a layer: hovering goes back and forth between few
/** @type {WeakMap<object, { q: Float64Array[]; k: Float64Array[]; rows: Map<string, Row> }>} */
const caches = new WeakMap(); // by the layer that is read, or its look at a source

/**
 * The K/V head that a query head reads: heads 0 … group_size - 1 share K/V head 0, and so on.
 *
 * @param {Pick<Model, "n_heads" | "n_kv_heads">} model
 * @param {number} head
 */
export const kvHead = (model, head) => Math.floor(head / (model.n_heads / model.n_kv_heads));

/**
 * The vector of one head and position, before RoPE.
 *
 * @param {NumArray} array
 * @param {number} head
 * @param {number} position
 * @returns {NumArray["data"]}
 */
export function vectorOf(array, head, position) {
  const [, tokens, width] = array.shape;
  const start = (head * tokens + position) * width;
  return array.data.subarray(start, start + width);
}

/** @param {object} layer */
function cacheOf(layer) {
  let known = caches.get(layer);
  if (!known) caches.set(layer, (known = { q: [], k: [], rows: new Map() }));
  return known;
}

/**
 * All positions of one head after RoPE, (T, head_dim) flat; computed once.
 *
 * @param {Heads} layer
 * @param {Model} model
 * @param {"q" | "k"} name
 * @param {number} head
 */
export function rotatedHead(layer, model, name, head) {
  const known = cacheOf(layer)[name];
  if (!known[head]) {
    const rotated = name === "k" && layer.kRot;
    const given = /** @type {NumArray} */ (rotated || layer[name]); // of k and kRot one is always there
    const [, tokens, width] = given.shape;
    known[head] = new Float64Array(tokens * width);
    for (let t = 0; t < tokens; t++) {
      known[head].set(rotate(vectorOf(given, head, t), t, rotated ? null : model.parts.rotary), t * width);
    }
  }
  return known[head];
}

/**
 * q of a head at a query, and k of the K/V head that it reads at a key, after RoPE, (head_dim,) each.
 *
 * @param {Heads} layer
 * @param {Model} model
 * @param {{ head: number; query: number; key: number }} cell
 * @returns {[Float64Array, Float64Array]}
 */
export function rotatedPair(layer, model, { head, query, key }) {
  const width = model.head_dim;
  /** @type {(name: "q" | "k", index: number, position: number) => Float64Array} */
  const at = (name, index, position) =>
    rotatedHead(layer, model, name, index).subarray(position * width, (position + 1) * width);
  return [at("q", head, query), at("k", kvHead(model, head), key)];
}

/**
 * Where the keys that a query sees end: after itself, or after all where no mask hides those after it.
 *
 * @param {Pick<Model, "parts">} model
 * @param {number} query
 * @param {number} tokens T
 */
export const keysSeen = ({ parts: { causal, prefix } }, query, tokens) =>
  causal === false ? tokens : Math.max(query + 1, Math.min(prefix ?? 0, tokens));

/**
 * The first key that a query sees: under a sliding window not those farther back, but that the tokens of a prefix
 * all see each other.
 *
 * @param {Pick<Model, "parts">} model
 * @param {number} query
 */
export const firstKey = ({ parts: { window, prefix } }, query) =>
  window && query >= (prefix ?? 0) ? Math.max(0, query + 1 - window) : 0;

/**
 * The keys that a query sees, from … to − 1.
 *
 * @param {Pick<Model, "parts">} model
 * @param {number} query
 * @param {number} tokens T
 * @returns {import("./readings/masks.js").Span}
 */
export const spanSeen = (model, query, tokens) => [firstKey(model, query), keysSeen(model, query, tokens)];

/**
 * What is added to a head's score of a key so far before the query, or after it where that is negative; 0 where
 * nothing is.
 *
 * @param {Pick<Model, "parts">} model
 * @param {number} head
 * @param {number} distance
 */
export function biasAt({ parts: { bias, bias_after: after } }, head, distance) {
  const found = distance < 0 ? after : bias;
  return found ? found.data[head * found.shape[1] + Math.abs(distance)] : 0;
}

/**
 * Which of the learned numbers that is; null where they are none.
 *
 * @param {Pick<Model, "parts">} model
 * @param {number} distance
 * @returns {number | null}
 */
export function bucketAt({ parts: { buckets } }, distance) {
  const found = distance < 0 ? buckets?.after : buckets?.before;
  return found ? found.data[Math.abs(distance)] : null;
}

/**
 * Whether a network adds a number to its scores that depends on the distance.
 *
 * @param {Pick<Model, "parts">} model
 */
export const hasBias = ({ parts: { bias, no_position: none } }) => bias !== null && !none;

/**
 * ALiBi's slope of a head: what its bias falls by from each token to the next before it; null where it is not so.
 *
 * @param {Pick<Model, "parts">} model
 * @param {number} head
 */
export function slopeOf({ parts: { bias } }, head) {
  if (!bias || bias.shape[1] < 2) return null;
  const [width, slope] = [bias.shape[1], -bias.data[head * bias.shape[1] + 1]];
  /** @type {(none: unknown, distance: number) => boolean} */
  const straight = (_, distance) =>
    Math.abs(bias.data[head * width + distance] + slope * distance) <= 1e-6 * slope * (distance + 1);
  return Array.from({ length: width }).every(straight) ? slope : null;
}

/**
 * What multiplies q·k is 1/√head_dim, but for its rounding.
 *
 * @param {Pick<Model, "parts" | "head_dim">} model
 */
export const scaledByRoot = ({ parts: { scale }, head_dim }) => Math.abs(scale * Math.sqrt(head_dim) - 1) < 1e-6;

/**
 * Scores of one query row into `out`: q·k · scale, with the bias where there is one, for the first `seen` keys; −∞
 * for those that a window hides.
 *
 * @param {Float64Array} out
 * @param {Float64Array} q (T, head_dim) flat
 * @param {Float64Array} k
 * @param {number} query
 * @param {Model} model
 * @param {number} head
 * @param {number} seen
 */
function fillScores(out, q, k, query, model, head, seen) {
  const {
    parts: { scale },
    head_dim: width,
  } = model;
  const first = firstKey(model, query);
  out.fill(-Infinity, 0, first);
  for (let key = first; key < seen; key++) {
    let sum = 0;
    for (let i = 0; i < width; i++) sum += q[query * width + i] * k[key * width + i];
    out[key] = sum * scale + biasAt(model, head, query - key);
  }
  return out;
}

/**
 * One row of one head: what a query makes of every key it may see.
 *
 * @param {Heads} layer
 * @param {Model} model
 * @param {number} head
 * @param {number} query
 * @returns {Row}
 */
export function row(layer, model, head, query) {
  const { rows } = cacheOf(layer);
  const name = `${head} ${query}`;
  const known = rows.get(name);
  if (known) return known;
  const [oldest] = rows.keys();
  if (rows.size >= MAX_ROWS) rows.delete(oldest);
  const q = rotatedHead(layer, model, "q", head);
  const k = rotatedHead(layer, model, "k", kvHead(model, head));
  const seen = keysSeen(model, query, layer.q.shape[1]);
  const found = weighed(fillScores(new Float64Array(seen), q, k, query, model, head, seen));
  rows.set(name, found);
  return found;
}

/**
 * A row of scores with what the softmax makes of it.
 *
 * @param {Float64Array} scores
 * @returns {Row}
 */
function weighed(scores) {
  const top = scores.reduce((a, b) => Math.max(a, b));
  const total = scores.reduce((sum, score) => sum + Math.exp(score - top), 0);
  return { scores, weights: softmax(scores), top, total };
}

/**
 * As `row`, of a decoder's look at the source: its scores are q·k times that attention's own factor, with no bias,
 * and no key is hidden.
 *
 * @param {{ cross: { q: NumArray; k: NumArray } }} layer
 * @param {{ parts: { cross_scale: number | null } }} model
 * @param {number} head
 * @param {number} query
 */
export function crossRow({ cross }, { parts }, head, query) {
  const { rows } = cacheOf(cross);
  const name = `${head} ${query}`;
  const known = rows.get(name);
  if (known) return known;
  const q = vectorOf(cross.q, head, query);
  const scale = /** @type {number} */ (parts.cross_scale); // a network that looks at a source has one
  const found = weighed(
    Float64Array.from({ length: cross.k.shape[1] }, (_, key) => dot(q, vectorOf(cross.k, head, key)) * scale),
  );
  rows.set(name, found);
  return found;
}

/**
 * q·k · scale, with any bias, of one query with the keys that it sees.
 *
 * @type {(...of: Parameters<typeof row>) => Float64Array}
 */
export const scores = (layer, model, head, query) => row(layer, model, head, query).scores;

/**
 * Attention weights of one query over the keys that it sees; they sum to 1.
 *
 * @type {(...of: Parameters<typeof row>) => Float64Array}
 */
export const attention = (layer, model, head, query) => row(layer, model, head, query).weights;

/**
 * Calls use(query, scores, weights) for the rows from … to - 1 of a head, a value for each key that the query sees;
 * both arrays are used again for the next row. Keeps nothing: for whole maps.
 *
 * @param {Heads} layer
 * @param {Model} model
 * @param {number} head
 * @param {number} from
 * @param {number} to
 * @param {(query: number, scores: Float64Array, weights: Float64Array) => void} use
 */
export function eachRow(layer, model, head, from, to, use) {
  const q = rotatedHead(layer, model, "q", head);
  const k = rotatedHead(layer, model, "k", kvHead(model, head));
  const tokens = layer.q.shape[1];
  const [found, weights] = [new Float64Array(tokens), new Float64Array(tokens)];
  for (let query = from; query < to; query++) {
    const seen = keysSeen(model, query, tokens);
    weights.set(fillScores(found, q, k, query, model, head, seen));
    use(query, found, softmaxInPlace(weights, seen));
  }
}

/**
 * The first candidates with their softmax over the WHOLE vocabulary, e^(logit - log_z), and what the others share.
 *
 * @param {import("./decode.js").Next} next
 * @param {number} count
 * @returns {{
 *   rows: { id: number; piece: string; logit: number; probability: number }[];
 *   others: { count: number; probability: number };
 * }}
 */
export function topCandidates(next, count) {
  const every = next.ids.map((id, i) => {
    const logit = next.logits.data[i];
    return { id, piece: next.pieces[i], logit, probability: Math.exp(logit - next.logZ) };
  });
  const rows = every.slice(0, count);
  const hidden = every.slice(count).reduce((sum, { probability }) => sum + probability, next.tail);
  return { rows, others: { count: next.vocabSize - rows.length, probability: hidden } };
}
