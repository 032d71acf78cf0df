// What makes a head's q, k or v: the normed vector times a row of W_Q, W_K or W_V, one product a channel of the stream.

import { onceFor, strongest } from "../arrays.js";
import { kvHead, vectorOf } from "../compute.js";
import { inputOf, inputRequest } from "./norm-input.js";
import { channelsOf } from "./norm.js";

/** Up to this many bytes, a head's rows are fetched for all of its channels, so that hovering finds them. */
const ALL_BYTES = 400_000;
const LISTED = 8; // products that are told apart from all others

/**
 * @typedef {import("../decoded.d.ts").NumArray} NumArray
 *
 * @typedef {"q" | "k" | "v"} VectorName
 *
 * @typedef {{ vector: VectorName; layer: number; head: number; of: number; token: number }} Place `head`: the query
 *   head; `of`: the head that makes the vector, which for k and v is the K/V head; `token`: the query's for q, the
 *   key's for k and v, where the score and the weighted sum take them
 *
 * @typedef {import("../decoded.d.ts").Detail<"projection">} Weights
 *
 * @typedef {import("../types.d.ts").Model} Model
 *
 * @typedef {{ layer: number; head: number; query: number; key: number }} Cell
 *
 * @typedef {{ normed: ArrayLike<number>; weights: Weights; token: number }} Factors what the products are of
 */

/**
 * @param {Cell} cell
 * @param {Model} model
 * @param {VectorName} vector
 * @returns {Place}
 */
export const placeOf = ({ layer, head, query, key }, model, vector) => ({
  vector,
  layer,
  head,
  of: vector === "q" ? head : kvHead(model, head),
  token: vector === "q" ? query : key,
});

/**
 * The query heads that read what a K/V head makes.
 *
 * @param {Pick<Model, "n_heads" | "n_kv_heads">} model
 * @param {number} kv
 * @returns {number[]}
 */
export function sharers({ n_heads, n_kv_heads }, kv) {
  const size = n_heads / n_kv_heads;
  return Array.from({ length: size }, (_, i) => kv * size + i);
}

/** @param {Model} model */
export const fitsWhole = ({ head_dim, d_model }) => head_dim * d_model * 4 <= ALL_BYTES;

/**
 * The vector as a run has it, before RoPE; null until it is here.
 *
 * @param {import("../decode.js").Layer | undefined} held the layer
 * @param {{ v: NumArray } | null} values the detail "values"
 * @param {Place} place
 */
function madeAt(held, values, { vector, of, token }) {
  const array = vector === "v" ? values?.v : held?.[vector];
  return array ? vectorOf(array, of, token) : null;
}

/** The channel that is kept, else the largest. @param {ArrayLike<number>} made @param {number | null} kept */
export const channelOf = (made, kept) => kept ?? strongest(made, 1)[0];

/**
 * The same object for the same input and weights, so that what is worked out of it stays.
 *
 * @type {(stream: import("./norm-input.js").NormInput, weights: Weights, token: number) => Factors}
 */
const factorsOf = onceFor((stream, weights, token) => ({ normed: channelsOf(stream).columns.normed, weights, token }));

/**
 * @typedef {object} Apart
 * @property {ArrayLike<number>} row of the matrix
 * @property {Float64Array} terms
 * @property {number} products Σ terms
 * @property {number | null} bias
 * @property {number} sum that with the bias
 * @property {number | null} divisor of the network's own norm on q and k
 * @property {number | null} gamma
 * @property {number} value what comes out; all in double precision
 */
/**
 * One channel taken apart: products n_i · W_ji, the bias, and their sum; where q and k have a norm of their own,
 * also what that divides by and multiplies with.
 *
 * @type {(factors: Factors, channel: number) => Apart} the same object for the same channel
 */
export const takenApart = onceFor(({ normed, weights: { rows, bias, gamma, divisor }, token }, channel) => {
  const [count, width] = rows.shape;
  const at = count === 1 ? 0 : channel;
  const row = rows.data.subarray(at * width, (at + 1) * width);
  const terms = Float64Array.from(row, (w, i) => w * normed[i]);
  const products = terms.reduce((sum, term) => sum + term, 0);
  const added = bias ? bias.data[at] : null;
  const sum = products + (added ?? 0);
  const [under, factor] = divisor && gamma ? [divisor.data[token], gamma.data[at]] : [null, null];
  return {
    row,
    terms,
    products,
    bias: added,
    sum,
    divisor: under,
    gamma: factor,
    value: under === null ? sum : (sum / under) * factor,
  };
});

/**
 * The largest products and what the others come to.
 *
 * @typedef {{ first: number[]; part: number; others: number; rest: number }} Listed `part`: what the first sum to;
 *   `rest`: how many others there are
 * @type {(apart: Apart, count: number) => Listed}
 */
export const largestOf = onceFor(({ terms, products }, count) => {
  const first = strongest(terms, count);
  const part = first.reduce((sum, i) => sum + terms[i], 0);
  return { first, part, others: products - part, rest: terms.length - first.length };
});

/** @param {Pick<ProjectionReading, "stream" | "normed" | "apart">} reading */
const productsOf = ({ stream: { x }, normed, apart }) => ({
  keys: { input: Array.from(x, (_, i) => i) },
  columns: { x, normed, weight: apart.row, product: apart.terms },
});

/**
 * All that the channel is the sum of: its products, and the bias where there is one.
 *
 * @param {Pick<ProjectionReading, "stream" | "normed" | "apart" | "place" | "selection">} reading
 */
function sumOf(reading) {
  const { keys, columns } = productsOf(reading);
  const { layer, vector, of, token } = reading.place;
  const { bias } = reading.apart;
  /** @type {<Value, Last>(values: ArrayLike<Value>, last: Last) => (Value | Last)[]} */
  const and = (values, last) => [...Array.from(values), ...(bias === null ? [] : [last])];
  const inputs = and(keys.input, "bias");
  /**
   * @template Value
   * @param {Value} value
   */
  const each = (value) => inputs.map(() => value);
  return {
    keys: {
      layer: each(layer),
      vector: each(vector),
      head: each(of),
      token: each(token),
      channel: each(reading.selection.row),
      input: inputs,
    },
    columns: {
      x: and(columns.x, NaN),
      normed: and(columns.normed, NaN),
      weight: and(columns.weight, NaN),
      product: and(columns.product, bias ?? NaN),
    },
  };
}

/**
 * The vector that a head makes at a token, and one of its channels taken apart.
 *
 * @typedef {object} ProjectionSelection
 * @property {VectorName} vector
 * @property {number} layer
 * @property {number} head
 * @property {number} query
 * @property {number} key
 * @property {number | null} row the channel that is taken apart; null: the largest
 * @property {number | null} channel the one that is spoken of; null: `row`, which follows it where all rows are
 *   here
 * @property {number | null} input the product that is spoken of; null: none
 *
 * @typedef {ProjectionSelection & { row: number; channel: number }} Taken what a reading is of
 *
 * @typedef {import("./reading.js").Reading<Taken> & {
 *   place: Place;
 *   made: ArrayLike<number>;
 *   stream: import("./norm-input.js").NormInput;
 *   normed: ArrayLike<number>;
 *   weights: Weights;
 *   apart: Apart;
 *   listed: Listed;
 * }} ProjectionReading
 *   `made`: the vector as the run has it, before RoPE; `stream`: x with what its norm makes of it
 */

/**
 * @param {import("../decode.js").Trace} trace
 * @param {ProjectionSelection} selection
 * @param {(...asked: import("./reading.js").Question) => { v: NumArray } | null} answered
 * @returns {import("./reading.js").Questions}
 */
function needs(trace, selection, answered) {
  const { vector, layer, row } = selection;
  const place = placeOf(selection, trace.model, vector);
  const { of, token } = place;
  const values = /** @type {import("./reading.js").Question} */ (["values", { layer }]);
  const made = madeAt(trace.layers.get(layer), vector === "v" ? answered(...values) : null, place);
  const whole = fitsWhole(trace.model);
  const channel = whole || !made ? null : channelOf(made, row);
  return {
    ...(vector === "v" ? { values } : {}),
    stream: ["norm_vectors", inputRequest(trace, { norm: "attn", layer, query: token })],
    ...(whole || made ? { weights: ["projection", { layer, vector, head: of, channel }] } : {}),
  };
}

/**
 * The numbers of one channel, and of one product of it where one is spoken of.
 *
 * @param {number} value in the run
 * @param {Apart} apart
 * @param {Listed} listed
 * @param {number | null} input
 * @returns {Record<string, number>}
 */
const valuesOf = (value, { value: sum, products, bias, terms }, { part, others }, input) => ({
  value,
  sum,
  products,
  listed: part,
  others,
  ...(bias === null ? {} : { bias }),
  ...(input === null ? {} : { product: terms[input] }),
});

/** @type {import("./reading.js").Reader<ProjectionReading, ProjectionSelection>} */
export const projectionReader = {
  layer: true,
  needs,
  read({ trace, held, details }, selection) {
    const place = placeOf(selection, trace.model, selection.vector);
    const made = /** @type {NumArray["data"]} */ (madeAt(held, details.values, place)); // `needs` has it
    const pointed = selection.channel !== null && selection.channel < made.length ? selection.channel : null;
    const kept = channelOf(made, selection.row);
    const row = fitsWhole(trace.model) ? (pointed ?? kept) : kept;
    const [channel, input] = [pointed ?? row, selection.input];
    const stream = inputOf(details.stream, trace, place.token);
    const factors = factorsOf(stream, details.weights, place.token);
    const apart = takenApart(factors, row);
    const listed = largestOf(apart, LISTED);
    const found = { place, made, stream, ...factors, apart, listed, selection: { ...selection, row, channel } };
    const { layer, head, vector, of, token } = place;
    const at = `layer ${layer} head ${head} ${vector} of ${of} token ${token} channel ${channel}`;
    return {
      ...found,
      at: input === null ? at : `${at} input ${input}`,
      values: valuesOf(made[channel], apart, listed, input),
      rows: {
        sum: () => sumOf(found),
        products: () => productsOf(found),
        made: () => ({ keys: { channel: [...Array.from(made).keys()] }, columns: { made } }),
      },
    };
  },
};
