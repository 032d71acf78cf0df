// The arithmetic that the panels show, in double precision, from the values of the run. Pure: no DOM, no store.
// Attention is not sent by the server. It is computed here from q and k, by the formulas printed beside it.

/**
 * @typedef {{ shape: number[], data: ArrayLike<number> }} NumArray
 * @typedef {{ q: NumArray, k: NumArray }} Heads  q (n_heads, T, head_dim), k (n_kv_heads, T, head_dim), before RoPE
 * @typedef {{ n_heads: number, n_kv_heads: number, head_dim: number, inv_freq: NumArray,
 *             attention_scaling: number }} Model
 */

const MAX_ROWS = 256; // rows of attention kept a layer: hovering goes back and forth between few
/** @type {WeakMap<Heads, { q: Float64Array[], k: Float64Array[], rows: Map<string, object> }>} */
const caches = new WeakMap();
/** @type {WeakMap<ArrayLike<number>, Map<number, { cos: Float64Array, sin: Float64Array }>>} */
const turns = new WeakMap();

/** SiLU(x) = x·sigmoid(x). @param {number} x @returns {number} */
export const silu = (x) => x / (1 + Math.exp(-x));

/** The K/V head that a query head reads: heads 0 … group_size - 1 share K/V head 0, and so on. */
export const kvHead = (model, head) => Math.floor(head / (model.n_heads / model.n_kv_heads));

/** Angle of a pair at a position, in radians; float32, as the model multiplies. */
export const angle = (position, frequency) => Math.fround(position * frequency);

/** Tokens until a pair has turned once. @param {number} frequency radians per token */
export const wavelength = (frequency) => (2 * Math.PI) / frequency;

/** cos and sin of every pair at a position, times the attention scaling (1 unless YaRN). */
function turn(position, invFreq, scaling) {
  if (!turns.has(invFreq)) turns.set(invFreq, new Map());
  const known = turns.get(invFreq);
  if (!known.has(position)) {
    const angles = Float64Array.from(invFreq, (frequency) => angle(position, frequency));
    known.set(position, { cos: angles.map((a) => Math.cos(a) * scaling), sin: angles.map((a) => Math.sin(a) * scaling) });
  }
  return known.get(position);
}

/**
 * RoPE in Hugging Face's half-split layout: pair i is (x[i], x[i + head_dim/2]), turned by position·inv_freq[i].
 * @param {ArrayLike<number>} vector head_dim values @param {ArrayLike<number>} invFreq head_dim/2 values
 * @param {number} position
 * @param {number} attentionScaling @returns {Float64Array} head_dim values
 */
export function rotate(vector, position, invFreq, attentionScaling = 1) {
  const half = invFreq.length;
  const { cos, sin } = turn(position, invFreq, attentionScaling);
  const out = new Float64Array(2 * half);
  for (let i = 0; i < half; i++) {
    out[i] = vector[i] * cos[i] - vector[i + half] * sin[i];
    out[i + half] = vector[i + half] * cos[i] + vector[i] * sin[i];
  }
  return out;
}

/** The vector of one head and position, before RoPE. @param {NumArray} array @returns {ArrayLike<number>} */
export function vectorOf(array, head, position) {
  const [, tokens, width] = array.shape;
  const start = (head * tokens + position) * width;
  return array.data.subarray(start, start + width);
}

function cacheOf(layer) {
  if (!caches.has(layer)) caches.set(layer, { q: [], k: [], rows: new Map() });
  return caches.get(layer);
}

/** All positions of one head after RoPE, (T, head_dim) flat; computed once. @param {"q"|"k"} name */
export function rotatedHead(layer, model, name, head) {
  const known = cacheOf(layer)[name];
  if (!known[head]) {
    const [, tokens, width] = layer[name].shape;
    known[head] = new Float64Array(tokens * width);
    for (let t = 0; t < tokens; t++) {
      const turned = rotate(vectorOf(layer[name], head, t), t, model.inv_freq.data, model.attention_scaling);
      known[head].set(turned, t * width);
    }
  }
  return known[head];
}

/** Scores of one query row into `out`: q·k / √head_dim for keys 0 … query. */
function fillScores(out, q, k, query, width) {
  const root = Math.sqrt(width);
  for (let key = 0; key <= query; key++) {
    let sum = 0;
    for (let i = 0; i < width; i++) sum += q[query * width + i] * k[key * width + i];
    out[key] = sum / root;
  }
  return out;
}

/** Softmax of the first `count` values, in place. */
function softmaxInPlace(values, count) {
  let top = -Infinity;
  for (let i = 0; i < count; i++) top = Math.max(top, values[i]);
  let total = 0;
  for (let i = 0; i < count; i++) total += values[i] = Math.exp(values[i] - top);
  for (let i = 0; i < count; i++) values[i] /= total;
  return values;
}

export const softmax = (values) => softmaxInPlace(Float64Array.from(values), values.length);

/**
 * One row of one head: what a query makes of every key it may see.
 * @param {Heads} layer @param {Model} model @param {number} head @param {number} query
 * @returns {{ scores: Float64Array, weights: Float64Array, top: number, total: number }} query + 1 values each;
 * weight = e^(score - top) / total, where top is the largest score and total the sum of those powers
 */
export function row(layer, model, head, query) {
  const { rows } = cacheOf(layer);
  const name = `${head} ${query}`;
  if (!rows.has(name)) {
    if (rows.size >= MAX_ROWS) rows.delete(rows.keys().next().value);
    const q = rotatedHead(layer, model, "q", head);
    const k = rotatedHead(layer, model, "k", kvHead(model, head));
    const found = fillScores(new Float64Array(query + 1), q, k, query, model.head_dim);
    const top = found.reduce((a, b) => Math.max(a, b));
    const total = found.reduce((sum, score) => sum + Math.exp(score - top), 0);
    rows.set(name, { scores: found, weights: softmax(found), top, total });
  }
  return rows.get(name);
}

/** q·k / √head_dim of one query with keys 0 … query (later keys are masked). @returns {Float64Array} */
export const scores = (layer, model, head, query) => row(layer, model, head, query).scores;

/** Attention weights of one query over keys 0 … query; they sum to 1. @returns {Float64Array} */
export const attention = (layer, model, head, query) => row(layer, model, head, query).weights;

/** Each pair's share of q·k: q[i]k[i] + q[i+half]k[i+half], after RoPE. Their sum is q·k. @returns {Float64Array} */
export function pairTerms(qRotated, kRotated) {
  const half = qRotated.length / 2;
  return Float64Array.from({ length: half }, (_, i) => qRotated[i] * kRotated[i] + qRotated[i + half] * kRotated[i + half]);
}

/**
 * Calls use(query, scores, weights) for the rows from … to - 1 of a head, query + 1 values each; both arrays are used
 * again for the next row. Keeps nothing: for whole maps. @param {(query: number, scores: Float64Array, weights: Float64Array) => void} use
 */
export function eachRow(layer, model, head, from, to, use) {
  const q = rotatedHead(layer, model, "q", head);
  const k = rotatedHead(layer, model, "k", kvHead(model, head));
  const [found, weights] = [new Float64Array(to), new Float64Array(to)];
  for (let query = from; query < to; query++) {
    weights.set(fillScores(found, q, k, query, model.head_dim));
    use(query, found, softmaxInPlace(weights, query + 1));
  }
}

/** B − A, value by value. Throws RangeError for vectors of two lengths. @returns {Float64Array} */
export function subtract(b, a) {
  if (a.length !== b.length) throw new RangeError(`cannot subtract ${a.length} values from ${b.length}`);
  return Float64Array.from(b, (value, i) => value - a[i]);
}

/** The largest magnitude. @param {ArrayLike<number>} values @returns {number} NaN, which marks no value, is passed over */
export function largest(values) {
  let most = 0;
  for (let i = 0; i < values.length; i++) if (Math.abs(values[i]) > most) most = Math.abs(values[i]);
  return most;
}

/** Indices of the `count` largest magnitudes, largest first; equal ones in order of index. @returns {number[]} */
export function strongest(values, count) {
  const order = Array.from(values, (_, i) => i);
  return order.sort((a, b) => Math.abs(values[b]) - Math.abs(values[a]) || a - b).slice(0, count);
}

/** The neuron with the largest |SiLU(gate)·up| at a token: what panels speak of where none is selected. @param {{ top: { neuron: object } }} layer @returns {number} */
export const strongestNeuron = ({ top: { neuron } }, token) => neuron.data[token * neuron.shape[1]];

/**
 * Columns for a strip that is narrower than its vector: in each, the index of the value of largest magnitude.
 * @param {ArrayLike<number>} values @param {number} columns @returns {number[]} at most one index a column
 */
export function poolColumns(values, columns) {
  const count = Math.min(columns, values.length);
  return Array.from({ length: count }, (_, column) => {
    const end = Math.floor(((column + 1) * values.length) / count);
    let best = Math.floor((column * values.length) / count);
    for (let i = best + 1; i < end; i++) if (Math.abs(values[i]) > Math.abs(values[best])) best = i;
    return best;
  });
}

/** SwiGLU's inner vector: SiLU(gate) ⊙ up. @returns {{ gate, up, silu: Float64Array, product: Float64Array }} */
export function swiglu(gate, up) {
  const activated = Float64Array.from(gate, silu);
  return { gate, up, silu: activated, product: activated.map((x, i) => x * up[i]) };
}

/** A function of an object whose value is worked out once for each. @template Source, Value @param {(source: Source) => Value} make @returns {(source: Source) => Value} */
export function once(make) {
  const made = new WeakMap();
  return (source) => (made.has(source) ? made : made.set(source, make(source))).get(source);
}

/** The inner vector of a token's neurons. @param {{ gate: NumArray, up: NumArray }} neurons */
export const innerOf = once(({ gate, up }) => swiglu(gate.data, up.data));

/**
 * The first candidates with their softmax over the WHOLE vocabulary, e^(logit - log_z), and what the others share.
 * @param {import("./decode.js").Next} next @param {number} count
 * @returns {{ rows: { id: number, piece: string, logit: number, probability: number }[],
 *             others: { count: number, probability: number } }}
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
