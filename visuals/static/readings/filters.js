// Temperature, top-k and top-p over all logits of one position, as model/sampling.py applies them. Pure.

/**
 * @typedef {{ order: Int32Array; values: Float64Array }} Ranked token ids and logits, highest logit first
 *
 * @typedef {{ temperature: number; topK: number; topP: number }} Settings top-k 0 and top-p 1 keep every token
 *
 * @typedef {{ weights: Float64Array; below: Float64Array }} Weighed by rank: e^((logit − highest) / temperature),
 *   and the sum of the weights from that rank on, (V + 1,)
 *
 * @typedef {Weighed & { kept: Record<Stage, number>; greedy: boolean }} Filtered how many of the first ranks are
 *   left
 *
 * @typedef {"all" | "topK" | "topP"} Stage after temperature alone, after top-k, after top-p
 */

const IDS = 2 ** 21; // more than any vocabulary has; with 32 bits of logit it fits into a double's 53

/**
 * All tokens by logit; of equal logits the lower id comes first. The logits are float32: their bits, turned so that
 * they sort as numbers, stand in front of the id, and a sort of plain numbers is many times faster than one that
 * compares.
 *
 * @param {ArrayLike<number>} logits
 * @returns {Ranked}
 */
export function rank(logits) {
  const bits = new Uint32Array(Float32Array.from(logits, (x) => x + 0).buffer);
  const keys = Float64Array.from(bits, (b, id) => (b >>> 31 ? b : 0x7fffffff - b) * IDS + id).sort();
  const order = Int32Array.from(keys, (key) => key % IDS);
  return { order, values: Float64Array.from(order, (id) => logits[id]) };
}

/**
 * Temperature 0 takes the most probable token: all weight is its own.
 *
 * @param {Pick<Ranked, "values">} ranked
 * @param {number} temperature
 * @returns {Weighed}
 */
export function weigh({ values }, temperature) {
  const weights =
    temperature === 0
      ? values.map((_, place) => (place === 0 ? 1 : 0))
      : values.map((value) => Math.exp((value - values[0]) / temperature));
  const below = new Float64Array(weights.length + 1);
  for (let place = weights.length - 1; place >= 0; place--) below[place] = below[place + 1] + weights[place];
  return { weights, below };
}

/**
 * Summed weights of the ranks from `from` up to `to`. Weights fall, so little is lost by subtracting.
 *
 * @param {Pick<Weighed, "below">} weighed
 * @param {number} from
 * @param {number} to
 */
const massOf = ({ below }, from, to) => below[from] - below[Math.max(from, to)];

/**
 * How many ranks top-k keeps: k, and those that tie with the last of them.
 *
 * @param {Pick<Ranked, "values">} ranked
 * @param {number} topK
 */
function keptByTopK({ values }, topK) {
  if (topK <= 0 || topK >= values.length) return values.length;
  let count = topK;
  while (count < values.length && values[count] === values[topK - 1]) count++;
  return count;
}

/**
 * How many of the first `count` ranks top-p keeps: each before which less than `topP` of their mass stands.
 *
 * @param {Float64Array} weights
 * @param {number} count
 * @param {number} sum of their weights
 * @param {number} topP
 */
function keptByTopP(weights, count, sum, topP) {
  if (topP >= 1) return count;
  let through = 0;
  for (let rank = 0; rank < count; rank++) {
    const probability = weights[rank] / sum;
    through += probability;
    if (rank > 0 && through - probability >= topP) return rank;
  }
  return count;
}

/**
 * @param {Ranked} ranked
 * @param {Settings} settings
 * @param {Weighed} [weighed] what `weigh` gave
 * @returns {Filtered}
 */
export function filter(ranked, { temperature, topK, topP }, weighed = weigh(ranked, temperature)) {
  const all = ranked.values.length;
  if (temperature === 0) return { ...weighed, kept: { all, topK: 1, topP: 1 }, greedy: true };
  const first = keptByTopK(ranked, topK);
  const kept = { all, topK: first, topP: keptByTopP(weighed.weights, first, massOf(weighed, 0, first), topP) };
  return { ...weighed, kept, greedy: false };
}

/**
 * The weights' sum that a stage divides by.
 *
 * @param {Filtered} filtered
 * @param {Stage} stage
 */
export const sumAfter = (filtered, stage) => massOf(filtered, 0, filtered.kept[stage]);

/**
 * Probability of a rank after a stage; 0 where it was left out.
 *
 * @param {Filtered} filtered
 * @param {Stage} stage
 * @param {number} place the rank
 */
export const probabilityAfter = (filtered, stage, place) =>
  place < filtered.kept[stage] ? filtered.weights[place] / sumAfter(filtered, stage) : 0;

/**
 * What the ranks from `from` on share after a stage: how many of them are kept, and their summed probability.
 *
 * @param {Filtered} filtered
 * @param {Stage} stage
 * @param {number} from
 */
export function rest(filtered, stage, from) {
  const kept = filtered.kept[stage];
  return { count: Math.max(0, kept - from), probability: massOf(filtered, from, kept) / sumAfter(filtered, stage) };
}
