// The arithmetic that the panels show, in double precision, from the values of the run. Pure: no DOM, no store.
// Attention is not sent by the server. It is computed here from q and k, by the formulas printed beside it.

/**
 * @typedef {{ shape: number[], data: ArrayLike<number> }} NumArray
 * @typedef {{ q: NumArray, k: NumArray|null, kRot: NumArray|null }} Heads  q (n_heads, T, head_dim), k (n_kv_heads, T, head_dim),
 *             before RoPE; kRot, after it, where there is no k
 * @typedef {{ inv_freq: NumArray, attention_scaling: number, first: number, interleaved: boolean }} Rotary
 * @typedef {{ n_heads: number, n_kv_heads: number, head_dim: number,
 *             parts: { causal: boolean, prefix: number|null, rotary: Rotary|null, bias: NumArray|null, bias_after: NumArray|null, scale: number } }} Model  model/parts.py says what each is
 */

const MAX_ROWS = 256; // rows of attention kept a layer: hovering goes back and forth between few
/** @type {WeakMap<Heads, { q: Float64Array[], k: Float64Array[], rows: Map<string, object> }>} */
const caches = new WeakMap();
/** @type {WeakMap<ArrayLike<number>, Map<number, { cos: Float64Array, sin: Float64Array }>>} */
const turns = new WeakMap();

/** SiLU(x) = x·sigmoid(x). @param {number} x @returns {number} */
export const silu = (x) => x / (1 + Math.exp(-x));

/** The error function, by the series of Abramowitz and Stegun 7.1.6, all of whose terms are positive. @param {number} x */
export function erf(x) {
  if (Math.abs(x) > 6) return Math.sign(x);
  let [term, sum] = [x, x];
  for (let n = 1; Math.abs(term) > Math.abs(sum) * 1e-17; n++) sum += term *= (2 * x * x) / (2 * n + 1);
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

/** What the network's activations are called, and what they give. */
export const ACTIVATIONS = {
  silu,
  relu: (x) => Math.max(0, x),
  gelu: (x) => (x / 2) * (1 + erf(x / Math.SQRT2)),
  gelu_new: (x) => (x / 2) * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
};

/** The K/V head that a query head reads: heads 0 … group_size - 1 share K/V head 0, and so on. */
export const kvHead = (model, head) => Math.floor(head / (model.n_heads / model.n_kv_heads));

/** Angle of a pair at a position, in radians; float32, as the model multiplies. */
export const angle = (position, frequency) => Math.fround(position * frequency);

/** Tokens until a pair has turned once. @param {number} frequency radians per token */
export const wavelength = (frequency) => (2 * Math.PI) / frequency;

/** How many pairs RoPE turns in each head; 0 where nothing is rotated. @param {Model} model */
export const pairsOf = ({ parts: { rotary } }) => (rotary ? rotary.inv_freq.data.length : 0);

/** The two channels of a head that make up a pair. @param {Rotary} rotary @returns {[number, number]} */
export function channelsOf({ inv_freq, first, interleaved }, pair) {
  return interleaved ? [first + 2 * pair, first + 2 * pair + 1] : [first + pair, first + pair + inv_freq.data.length];
}

/** The pair that a channel belongs to; null where the channel is not rotated. @param {Rotary|null} rotary */
export function pairOf(rotary, channel) {
  const [pairs, at] = rotary ? [rotary.inv_freq.data.length, channel - rotary.first] : [0, 0];
  if (at < 0 || at >= 2 * pairs) return null;
  return rotary.interleaved ? at >> 1 : at % pairs;
}

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
 * RoPE: pair i of the vector is turned by position·inv_freq[i]; channels outside the pairs stay as they are, as all do
 * where nothing is rotated.
 * @param {ArrayLike<number>} vector head_dim values @param {Rotary|null} rotary @returns {Float64Array} head_dim values
 */
export function rotate(vector, position, rotary) {
  const out = Float64Array.from(vector);
  if (!rotary) return out;
  const { cos, sin } = turn(position, rotary.inv_freq.data, rotary.attention_scaling);
  for (let i = 0; i < cos.length; i++) {
    const [a, b] = channelsOf(rotary, i);
    out[a] = vector[a] * cos[i] - vector[b] * sin[i];
    out[b] = vector[b] * cos[i] + vector[a] * sin[i];
  }
  return out;
}

/** What `rotate` was given, from what it gave: turned back, and its lengths without the scaling. @returns {Float64Array} */
export function turnBack(vector, position, rotary) {
  const out = Float64Array.from(vector);
  const { cos, sin } = turn(position, rotary.inv_freq.data, rotary.attention_scaling);
  const square = rotary.attention_scaling ** 2;
  for (let i = 0; i < cos.length; i++) {
    const [a, b] = channelsOf(rotary, i);
    out[a] = (vector[a] * cos[i] + vector[b] * sin[i]) / square;
    out[b] = (vector[b] * cos[i] - vector[a] * sin[i]) / square;
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
    const rotated = name === "k" && layer.kRot;
    const given = rotated || layer[name];
    const [, tokens, width] = given.shape;
    known[head] = new Float64Array(tokens * width);
    for (let t = 0; t < tokens; t++) {
      known[head].set(rotate(vectorOf(given, head, t), t, rotated ? null : model.parts.rotary), t * width);
    }
  }
  return known[head];
}

/** How many keys a query sees, from the first on: those up to itself, or all where no mask hides those after it. @param {Model} model @param {number} tokens T */
export const keysSeen = ({ parts: { causal, prefix } }, query, tokens) => (causal === false ? tokens : Math.max(query + 1, Math.min(prefix ?? 0, tokens)));

/** What is added to a head's score of a key so far before the query, or after it where that is negative; 0 where nothing is. @param {Model} model */
export function biasAt({ parts: { bias, bias_after: after } }, head, distance) {
  const found = distance < 0 ? after : bias;
  return found ? found.data[head * found.shape[1] + Math.abs(distance)] : 0;
}

/** Which of the learned numbers that is; null where they are none. @param {Model} model @returns {number|null} */
export function bucketAt({ parts: { buckets } }, distance) {
  return buckets ? (distance < 0 ? buckets.after : buckets.before).data[Math.abs(distance)] : null;
}

/** ALiBi's slope of a head: what its bias falls by from each token to the next before it; null where it is not so. @param {Model} model */
export function slopeOf({ parts: { bias } }, head) {
  if (!bias || bias.shape[1] < 2) return null;
  const [width, slope] = [bias.shape[1], -bias.data[head * bias.shape[1] + 1]];
  const straight = (_, distance) => Math.abs(bias.data[head * width + distance] + slope * distance) <= 1e-6 * slope * (distance + 1);
  return Array.from({ length: width }).every(straight) ? slope : null;
}

/** What multiplies q·k is 1/√head_dim, but for its rounding. @param {Model} model */
export const scaledByRoot = ({ parts: { scale }, head_dim }) => Math.abs(scale * Math.sqrt(head_dim) - 1) < 1e-6;

/** Scores of one query row into `out`: q·k · scale, with the bias where there is one, for the first `seen` keys. */
function fillScores(out, q, k, query, model, head, seen) {
  const { parts: { scale }, head_dim: width } = model;
  for (let key = 0; key < seen; key++) {
    let sum = 0;
    for (let i = 0; i < width; i++) sum += q[query * width + i] * k[key * width + i];
    out[key] = sum * scale + biasAt(model, head, query - key);
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
 * @returns {{ scores: Float64Array, weights: Float64Array, top: number, total: number }} a value for each key that it sees (keysSeen);
 * weight = e^(score - top) / total, where top is the largest score and total the sum of those powers
 */
export function row(layer, model, head, query) {
  const { rows } = cacheOf(layer);
  const name = `${head} ${query}`;
  if (!rows.has(name)) {
    if (rows.size >= MAX_ROWS) rows.delete(rows.keys().next().value);
    const q = rotatedHead(layer, model, "q", head);
    const k = rotatedHead(layer, model, "k", kvHead(model, head));
    const seen = keysSeen(model, query, layer.q.shape[1]);
    rows.set(name, weighed(fillScores(new Float64Array(seen), q, k, query, model, head, seen)));
  }
  return rows.get(name);
}

/** A row of scores with what the softmax makes of it. @param {Float64Array} scores */
function weighed(scores) {
  const top = scores.reduce((a, b) => Math.max(a, b));
  const total = scores.reduce((sum, score) => sum + Math.exp(score - top), 0);
  return { scores, weights: softmax(scores), top, total };
}

/**
 * As `row`, of a decoder's look at the source: its scores are q·k times that attention's own factor, with no bias, and no
 * key is hidden. @param {{ cross: { q: NumArray, k: NumArray } }} layer
 */
export function crossRow({ cross }, { parts: { cross_scale: scale } }, head, query) {
  const { rows } = cacheOf(cross);
  const name = `${head} ${query}`;
  if (!rows.has(name)) {
    const q = vectorOf(cross.q, head, query);
    rows.set(name, weighed(Float64Array.from({ length: cross.k.shape[1] }, (_, key) => dot(q, vectorOf(cross.k, head, key)) * scale)));
  }
  return rows.get(name);
}

/** @param {ArrayLike<number>} a @param {ArrayLike<number>} b */
export function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

/** q·k · scale, with any bias, of one query with the keys that it sees. @returns {Float64Array} */
export const scores = (layer, model, head, query) => row(layer, model, head, query).scores;

/** Attention weights of one query over the keys that it sees; they sum to 1. @returns {Float64Array} */
export const attention = (layer, model, head, query) => row(layer, model, head, query).weights;

/** Each pair's share of q·k after RoPE. @param {Rotary} rotary @returns {Float64Array} */
export function pairTerms(qRotated, kRotated, rotary) {
  return Float64Array.from(rotary.inv_freq.data, (_, i) => {
    const [a, b] = channelsOf(rotary, i);
    return qRotated[a] * kRotated[a] + qRotated[b] * kRotated[b];
  });
}

/** What the channels that are not rotated add to q·k: with the pairs' shares, all of it. @param {Rotary} rotary */
export function unrotatedTerm(q, k, rotary) {
  let sum = 0;
  for (let i = 0; i < q.length; i++) if (pairOf(rotary, i) === null) sum += q[i] * k[i];
  return sum;
}

/**
 * Calls use(query, scores, weights) for the rows from … to - 1 of a head, a value for each key that the query sees; both arrays are used
 * again for the next row. Keeps nothing: for whole maps. @param {(query: number, scores: Float64Array, weights: Float64Array) => void} use
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

/** The neuron with the largest activation at a token: what panels speak of where none is selected. @param {{ top: { neuron: object } }} layer @returns {number} */
export const strongestNeuron = ({ top: { neuron } }, token) => neuron.data[token * neuron.shape[1]];

/**
 * Columns for a strip that is narrower than its vector: in each, the index of the value of largest magnitude; NaN is none.
 * @param {ArrayLike<number>} values @param {number} columns @returns {number[]} at most one index a column
 */
export function poolColumns(values, columns) {
  const count = Math.min(columns, values.length);
  const size = (i) => (Number.isNaN(values[i]) ? -1 : Math.abs(values[i]));
  return Array.from({ length: count }, (_, column) => {
    const end = Math.floor(((column + 1) * values.length) / count);
    let best = Math.floor((column * values.length) / count);
    for (let i = best + 1; i < end; i++) if (size(i) > size(best)) best = i;
    return best;
  });
}

/**
 * What neurons make of what they read: `activated`, the activation of the gate or, where there is none, of up; `product`, what scales
 * their columns of W_down. NaN marks a neuron of an expert that the token does not go to.
 * @param {{ gate: NumArray|null, up: NumArray, weight: NumArray|null, ffn: { activation: string } }} neurons
 * @returns {{ gate: ArrayLike<number>|null, up: ArrayLike<number>, weight: ArrayLike<number>|null, activated: Float64Array, product: Float64Array }}
 */
export function inner({ gate, up, weight, ffn: { activation } }) {
  const activated = Float64Array.from((gate ?? up).data, ACTIVATIONS[activation]);
  const product = gate ? activated.map((x, i) => x * up.data[i]) : Float64Array.from(activated);
  if (weight) for (let i = 0; i < product.length; i++) product[i] *= weight.data[i];
  return { gate: gate && gate.data, up: up.data, weight: weight && weight.data, activated, product };
}

/** A function of an object whose value is worked out once for each. @template Source, Value @param {(source: Source) => Value} make @returns {(source: Source) => Value} */
export function once(make) {
  const made = new WeakMap();
  return (source) => (made.has(source) ? made : made.set(source, make(source))).get(source);
}

/** `inner`, worked out once for each. */
export const innerOf = once(inner);

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
