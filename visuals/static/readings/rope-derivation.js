// RoPE taken back to its reasons, on one pair of this run: as a 2 × 2 matrix and as complex numbers; the three
// conditions that it is derived from; and the bound that its long-term decay is read off (RoFormer, arXiv 2104.09864,
// sections 3.4.1 and 3.4.3). Pure: no DOM, no store.

import { onceFor } from "../arrays.js";
import { channelsOf, wavelength } from "../rotation.js";
import { farOf, placeOf } from "./rope-place.js";

/**
 * @typedef {[number, number]} Complex real and imaginary part: the first and the second channel of a pair
 *
 * @typedef {[[number, number], [number, number]]} Matrix
 *
 * @typedef {import("../rotation.js").Rotary} Rotary
 *
 * @typedef {{
 *   layer: number;
 *   head: number;
 *   query: number;
 *   key: number;
 *   pair: number;
 *   distance: number;
 *   count: number;
 * }} DerivationSelection
 *   `distance`: where the bound is read off; `count`: of so many distances
 *
 * @typedef {object} PairForms one pair in every form
 * @property {number} theta radians per position
 * @property {number} scaling what cos and sin are multiplied by, 1 unless YaRN
 * @property {[number, number]} channels
 * @property {Complex} q before, as RoPE finds it
 * @property {Complex} k
 * @property {Complex} turnedQ f(q, m) = q·e^(imθ)
 * @property {Complex} turnedK f(k, n)
 * @property {number} term ⟨f(q, m), f(k, n)⟩, the pair's share of q·k
 * @property {number} shifted the same with both positions SHIFT further
 * @property {number} byDistance qᵀ R_(n−m) k
 * @property {number} wrongSign qᵀ R_(m−n) k
 * @property {Matrix} both R_mᵀ R_n
 * @property {Complex} start f(q, 0)
 * @property {number} step by how much further q is turned at m + 1, radians
 */

/** By how much both positions are moved in the check that the distance alone counts. */
export const SHIFT = 100;

/**
 * @param {Complex} one
 * @param {Complex} other
 * @returns {Complex}
 */
const times = ([a, b], [c, d]) => [a * c - b * d, a * d + b * c];
/**
 * e^(i·angle).
 *
 * @param {number} angle
 * @returns {Complex}
 */
const turn = (angle) => [Math.cos(angle), Math.sin(angle)];
/** @param {Complex} one */
const size = ([a, b]) => Math.hypot(a, b);
/**
 * Re(one · other*), the inner product of two pairs.
 *
 * @param {Complex} one
 * @param {Complex} other
 */
const inner = ([a, b], [c, d]) => a * c + b * d;

/**
 * The rotation by an angle.
 *
 * @param {number} angle
 * @returns {Matrix}
 */
export const rotationBy = (angle) => [
  [Math.cos(angle), -Math.sin(angle)],
  [Math.sin(angle), Math.cos(angle)],
];

/**
 * Aᵀ·B.
 *
 * @param {Matrix} a
 * @param {Matrix} b
 * @returns {Matrix}
 */
function transposedTimes(a, b) {
  /** @type {(i: number, j: number) => number} */
  const at = (i, j) => a[0][i] * b[0][j] + a[1][i] * b[1][j];
  return [
    [at(0, 0), at(0, 1)],
    [at(1, 0), at(1, 1)],
  ];
}

/**
 * xᵀ·A·y.
 *
 * @param {Complex} x
 * @param {Matrix} a
 * @param {Complex} y
 */
const between = (x, [first, second], y) => x[0] * inner(first, y) + x[1] * inner(second, y);

/**
 * @param {import("./rope-place.js").RopePlace} place
 * @param {number} pair
 * @param {Rotary} rotary
 * @returns {PairForms}
 */
function formsOf({ q: all, k: others, m, n, frequencies }, pair, rotary) {
  const { inv_freq: frequency, scaling } = frequencies;
  const theta = frequency[pair];
  const half = frequency.length;
  /** @type {(vector: ArrayLike<number>) => Complex} */
  const pairIn = (vector) => [vector[pair], vector[pair + half]];
  const [q, k] = [pairIn(all), pairIn(others)];
  /** @type {(x: Complex, position: number) => Complex} */
  const f = ([a, b], position) => times([a * scaling, b * scaling], turn(position * theta));
  const [turnedQ, turnedK] = [f(q, m), f(k, n)];
  const square = scaling * scaling;
  const next = f(q, m + 1);
  return {
    theta,
    scaling,
    channels: channelsOf(rotary, pair),
    q,
    k,
    turnedQ,
    turnedK,
    term: inner(turnedQ, turnedK),
    shifted: inner(f(q, m + SHIFT), f(k, n + SHIFT)),
    byDistance: square * between(q, rotationBy((n - m) * theta), k),
    wrongSign: square * between(q, rotationBy((m - n) * theta), k),
    both: transposedTimes(rotationBy(m * theta), rotationBy(n * theta)),
    start: f(q, 0),
    step: angleBetween(turnedQ, next),
  };
}

/**
 * By which angle the second is further, 0 … 2π; 0 for a vector of length 0.
 *
 * @param {Complex} from
 * @param {Complex} to
 */
function angleBetween(from, [a, b]) {
  const [x, y] = times([a, b], [from[0], -from[1]]);
  const angle = Math.atan2(y, x);
  return angle < 0 ? angle + 2 * Math.PI : angle;
}

/**
 * The averaged bound, (2/d) Σ_j |S_j| with S_j = Σ_(i<j) e^(iΔθ_i), at distances 0 … count − 1.
 *
 * @type {(frequencies: ArrayLike<number> & object, count: number) => Float64Array}
 */
export const decayBound = onceFor((frequencies, count) => {
  const half = frequencies.length;
  const [cos, sin] = [new Float64Array(half).fill(1), new Float64Array(half)];
  const [turnCos, turnSin] = [Math.cos, Math.sin].map((of) => Float64Array.from(frequencies, of));
  return Float64Array.from({ length: count }, () => {
    let [real, imaginary, total] = [0, 0, 0];
    for (let i = 0; i < half; i++) {
      real += cos[i];
      imaginary += sin[i];
      total += Math.hypot(real, imaginary);
      [cos[i], sin[i]] = [cos[i] * turnCos[i] - sin[i] * turnSin[i], sin[i] * turnCos[i] + cos[i] * turnSin[i]];
    }
    return total / half;
  });
});

/**
 * q·k at every distance; worked out once for each cell.
 *
 * @type {(
 *   held: import("../decode.js").Layer,
 *   name: string,
 *   place: import("./rope-place.js").RopePlace,
 *   count: number,
 * ) => Float64Array}
 */
const curveOf = onceFor((_held, _name, place, count) => farOf(place, place.frequencies, count));

/**
 * What the bound is multiplied by for this q and k: d/2 times the largest |h_(i+1) − h_i|, h_i = q_i·k_i* and 0
 * after the last.
 *
 * @param {import("./rope-place.js").RopePlace} place
 */
function boundFactor({ q, k, frequencies: { inv_freq: frequency, scaling } }) {
  const half = frequency.length;
  const products = Array.from({ length: half + 1 }, (_, i) =>
    i < half ? times([q[i], q[i + half]], [k[i], -k[i + half]]) : /** @type {Complex} */ ([0, 0]),
  );
  const apart = products.slice(1).map(([a, b], i) => Math.hypot(a - products[i][0], b - products[i][1]));
  return half * scaling * scaling * apart.reduce((a, b) => Math.max(a, b), 0);
}

/**
 * A line for each pair: q and k before and after, and the share of q·k both ways.
 *
 * @param {PairForms[]} all
 * @returns {import("./reading.js").Table}
 */
function pairsTable(all) {
  /** @type {(name: "q" | "k" | "turnedQ" | "turnedK", column: string) => Record<string, number[]>} */
  const parts = (name, column) => ({
    [`${column}_real`]: all.map((forms) => forms[name][0]),
    [`${column}_imaginary`]: all.map((forms) => forms[name][1]),
  });
  return {
    keys: { pair: all.map((_, pair) => pair) },
    columns: {
      theta: all.map(({ theta }) => theta),
      ...parts("q", "q"),
      ...parts("k", "k"),
      ...parts("turnedQ", "q_turned"),
      ...parts("turnedK", "k_turned"),
      term: all.map(({ term }) => term),
      term_by_distance: all.map(({ byDistance }) => byDistance),
      term_wrong_sign: all.map(({ wrongSign }) => wrongSign),
    },
  };
}

/**
 * RoPE's derivation on one pair.
 *
 * @typedef {import("./reading.js").Reading<DerivationSelection> & {
 *   forms: PairForms;
 *   bound: Float64Array;
 *   curve: Float64Array;
 *   limit: number;
 *   place: import("./rope-place.js").RopePlace;
 * }} DerivationReading
 *   `bound`: averaged, `curve`: q·k, both by distance; `limit`: the bound of the rotated part of q·k itself at the
 *   chosen distance
 * @type {import("./reading.js").Reader<DerivationReading>}
 */
export const ropeDerivation = {
  layer: true,
  read({ trace, held }, selection) {
    const { layer, head, query, key, count } = selection;
    const rotary = /** @type {Rotary} */ (trace.model.parts.rotary);
    const place = placeOf(held, { trace, head, query, key });
    const { inv_freq: frequency } = place.frequencies;
    const pair = Math.min(selection.pair, frequency.length - 1);
    const forms = formsOf(place, pair, rotary);
    const bound = decayBound(frequency, count);
    const distance = Math.max(0, Math.min(count - 1, selection.distance));
    const curve = curveOf(held, `${head} ${query} ${key} ${count}`, place, count);
    const limit = boundFactor(place) * bound[distance];
    return {
      selection: { ...selection, pair, distance },
      forms,
      bound,
      curve,
      limit,
      place,
      at: `layer ${layer} head ${head} query ${query} key ${key} pair ${pair} distance ${distance}`,
      digits: 7,
      values: {
        theta: forms.theta,
        wavelength: wavelength(forms.theta),
        length_before: size(forms.q) * forms.scaling,
        length_after: size(forms.turnedQ),
        term: forms.term,
        shifted: forms.shifted,
        by_distance: forms.byDistance,
        wrong_sign: forms.wrongSign,
        step: forms.step,
        bound: bound[distance],
        limit,
        far: curve[distance],
      },
      rows: {
        pairs: () => pairsTable(Array.from(frequency, (_, i) => formsOf(place, i, rotary))),
        distances: () => ({ keys: { distance: [...curve.keys()] }, columns: { averaged_bound: bound, qk: curve } }),
      },
    };
  },
};
