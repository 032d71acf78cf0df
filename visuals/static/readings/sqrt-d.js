// A query's row of scores with another divisor than the network's: how hard the softmax gets, what is left of its
// gradient, and how far the products q·k of the layer are spread.

import { onceFor, softmax } from "../arrays.js";
import { biasAt, kvHead, rotatedHead, row, spanSeen } from "../compute.js";
import { atCell } from "./attend.js";

/**
 * @typedef {import("../decode.js").Layer} Layer
 *
 * @typedef {import("../types.d.ts").Model} Model
 *
 * @typedef {{ largest: number; rest: number; key: number; entropy: number; gradient: number }} Hardness `key`:
 *   whose weight is the largest; `rest`: that of all others together, which is told where 1 − largest is rounded to
 *   0
 *
 * @typedef {{ spread: Float64Array; expected: Float64Array; pairs: number; queries: number }} Spread by the number
 *   of channels, from 1 on: the standard deviation of the products over so many pairs of query and key, and what it
 *   would be if all entries were independent and as large as they are on average; `queries`: how many of them were
 *   taken in each head
 *
 * @typedef {{ layer: number; head: number; query: number; key: number; power: number | null }} SqrtSelection the
 *   divisor is head_dim to that power; null for the one at which the row's own weights look different
 *
 * @typedef {import("./reading.js").Reading<SqrtSelection> & {
 *   width: number;
 *   divisors: { own: number; set: number; root: number };
 *   weights: { own: Float64Array; set: Float64Array };
 *   hard: { own: Hardness; set: Hardness };
 *   curve: () => ({ divisor: number } & Hardness)[];
 *   spread: Spread;
 * }} SqrtReading
 */

const STEPS = 60; // of the curve
const HARD = 0.99; // from this weight on a row is hard with the network's own divisor, too
const MOST = 2e7; // products of two entries that are added up for the spread

/**
 * How hard a row of weights is. What the largest leaves of 1 is added up from the others: 1 − largest loses it
 * where that rounds to 0.
 *
 * @param {Float64Array} weights
 * @returns {Hardness}
 */
export function hardnessOf(weights) {
  let [key, rest, gradient, entropy] = [0, 0, 0, 0];
  for (const [i, weight] of weights.entries()) if (weight > weights[key]) key = i;
  for (const [i, weight] of weights.entries()) {
    if (i === key) continue;
    rest += weight;
    gradient += weight * (1 - weight);
    if (weight > 0) entropy -= weight * Math.log(weight);
  }
  const largest = weights[key];
  return { largest, rest, key, entropy: entropy - largest * Math.log1p(-rest), gradient: gradient + largest * rest };
}

/** Whether nearly all of a row's weight is on one key. @param {Hardness} own */
export const isHard = (own) => own.largest > HARD;

/**
 * Where the divisor stands at first: where it makes a difference. A row that is hard changes with a larger one, d;
 * another without any; one of a network that does not divide with √d.
 *
 * @param {Model} model
 * @param {Hardness} [own] of the row, where one alone is shown
 */
export function firstPower({ parts }, own) {
  if (parts.scale > 0.5) return 0.5;
  return own && isHard(own) ? 1 : 0;
}

/** √mean(x²) over all entries of all heads. */
function rmsOf(/** @type {Float64Array[]} */ heads) {
  let [sum, count] = [0, 0];
  for (const values of heads) {
    for (const value of values) sum += value * value;
    count += values.length;
  }
  return Math.sqrt(sum / count);
}

/**
 * The spread of Σ qᵢkᵢ over the first channels, for every number of them; of every query, or where that is too much
 * of queries at equal distances.
 *
 * @param {Layer} layer
 * @param {Model} model
 * @returns {Spread}
 */
function spreadIn(layer, model) {
  const { head_dim: width, n_heads: heads, n_kv_heads: kv } = model;
  const [tokens, sum, square] = [layer.q.shape[1], new Float64Array(width), new Float64Array(width)];
  const step = Math.max(1, Math.ceil((heads * tokens * tokens * width) / 2 / MOST));
  let pairs = 0;
  for (let head = 0; head < heads; head++) {
    const [q, k] = [rotatedHead(layer, model, "q", head), rotatedHead(layer, model, "k", kvHead(model, head))];
    for (let query = tokens - 1; query >= 0; query -= step) {
      const [first, end] = spanSeen(model, query, tokens);
      for (let key = first; key < end; key++) {
        let total = 0;
        for (let i = 0; i < width; i++) {
          total += q[query * width + i] * k[key * width + i];
          sum[i] += total;
          square[i] += total * total;
        }
      }
      pairs += end - first;
    }
  }
  const all = (/** @type {"q" | "k"} */ name, /** @type {number} */ count) =>
    rmsOf(Array.from({ length: count }, (_, head) => rotatedHead(layer, model, name, head)));
  const each = all("q", heads) * all("k", kv);
  return {
    pairs,
    queries: Math.ceil(tokens / step),
    spread: sum.map((total, i) => Math.sqrt(Math.max(0, square[i] / pairs - (total / pairs) ** 2))),
    expected: sum.map((_, i) => Math.sqrt(i + 1) * each),
  };
}
const spreadOf = onceFor((/** @type {Layer} */ layer, /** @type {string} */ _name, /** @type {Model} */ model) =>
  spreadIn(layer, model),
);

/**
 * @param {SqrtReading} reading
 * @param {Float64Array} products
 * @param {string[]} pieces
 * @returns {import("./reading.js").Table}
 */
function weightsTable({ selection: { layer, head, query }, weights }, products, pieces) {
  const every = (/** @type {number} */ value) => Array.from(products, () => value);
  return {
    keys: {
      layer: every(layer),
      head: every(head),
      query: every(query),
      key: [...products.keys()],
      piece: pieces.slice(0, products.length),
    },
    columns: { product: products, weight: weights.own, weight_at_divisor: weights.set },
  };
}

/** @param {SqrtReading} reading @returns {import("./reading.js").Table} */
function curveTable({ curve }) {
  const points = curve();
  /** @type {(name: "divisor" | "largest" | "entropy" | "gradient") => number[]} */
  const column = (name) => points.map((point) => point[name]);
  return {
    keys: { divisor: column("divisor") },
    columns: { largest: column("largest"), entropy: column("entropy"), gradient: column("gradient") },
  };
}

/** @param {SqrtReading} reading @returns {import("./reading.js").Table} */
const spreadTable = ({ spread: { spread, expected } }) => ({
  keys: { channels: Array.from(spread, (_, i) => i + 1) },
  columns: { spread, expected },
});

/** @type {import("./reading.js").Reader<SqrtReading>} */
export const sqrtReader = {
  layer: true,
  read({ trace, held }, selection) {
    const { head, query } = selection;
    const { model, tokens } = trace;
    const width = model.head_dim;
    const { scores, weights } = row(held, model, head, query);
    const bias = scores.map((_, key) => biasAt(model, head, query - key));
    const products = scores.map((score, key) => (score - bias[key]) / model.parts.scale);
    /** @type {(divisor: number) => Float64Array} */
    const at = (divisor) => softmax(products.map((product, key) => product / divisor + bias[key]));
    const own = hardnessOf(weights);
    const power = selection.power ?? firstPower(model, own);
    const divisors = { own: 1 / model.parts.scale, set: width ** power, root: Math.sqrt(width) };
    const set = at(divisors.set);
    const now = hardnessOf(set);
    const spread = spreadOf(held, "spread", model);
    /** @type {SqrtReading} */
    const reading = {
      selection: { ...selection, power },
      width,
      divisors,
      spread,
      weights: { own: weights, set },
      hard: { own, set: now },
      curve: () =>
        Array.from({ length: STEPS + 1 }, (_, i) => {
          const divisor = width ** (i / STEPS);
          return { divisor, ...hardnessOf(at(divisor)) };
        }),
      at: atCell(selection),
      values: {
        divisor: divisors.set,
        top_weight: now.largest,
        entropy: now.entropy,
        gradient: now.gradient,
        own_top_weight: own.largest,
        own_entropy: own.entropy,
        own_gradient: own.gradient,
        spread: spread.spread[width - 1],
        expected: spread.expected[width - 1],
      },
      rows: {
        weights: () => weightsTable(reading, products, tokens.pieces),
        curve: () => curveTable(reading),
        spread: () => spreadTable(reading),
      },
    };
    return reading;
  },
};
