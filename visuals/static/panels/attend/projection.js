// What makes a head's q, k or v: the normed vector times a row of W_Q, W_K or W_V, one product a channel of the stream.

import { onceFor, strongest } from "../../arrays.js";
import { kvHead, vectorOf } from "../../compute.js";
import { pairsOf } from "../../rotation.js";
import { keptChannel } from "../../settings.js";
import { inputOf, inputRequest } from "../../readings/norm-input.js";
import { channelsOf } from "../../readings/norm.js";

export const VECTORS = ["q", "k", "v"];
/** Up to this many bytes, a head's rows are fetched for all of its channels, so that hovering finds them. */
const ALL_BYTES = 400_000;

/**
 * @typedef {import("../../decoded.d.ts").NumArray} NumArray
 *
 * @typedef {{ vector: "q" | "k" | "v"; layer: number; head: number; of: number; token: number }} Place `head`: the
 *   query head; `of`: the head that makes the vector, which for k and v is the K/V head; `token`: the query's for
 *   q, the key's for k and v, where the score and the weighted sum take them
 *
 * @typedef {import("../../decoded.d.ts").Detail<"projection">} Weights
 *
 * @typedef {{
 *   place: Place;
 *   x: ArrayLike<number>;
 *   normed: ArrayLike<number>;
 *   stream: import("../../readings/norm-input.js").NormInput;
 *   made: ArrayLike<number>;
 *   weights: Weights;
 * }} Found
 *   `made`: the vector as the run has it, before RoPE; `stream`: x with what its norm makes of it
 */

/** @returns {"q" | "k" | "v"} which is looked at */
export function chosenVector(glass) {
  const { vector } = glass.settings.get("qkv");
  return VECTORS.includes(vector) ? vector : "q";
}

/**
 * The channel that was clicked, else null.
 *
 * @returns {number | null}
 */
export const clickedChannel = (glass, width) => keptChannel(glass.settings.get("qkv"), width);

/**
 * Changes settings of the panel and keeps the others.
 *
 * @param {{ vector?: string; channel?: number | "" }} change
 */
export function setVector(glass, change) {
  const { vector, ...others } = { ...glass.settings.get("qkv"), ...change };
  glass.settings.set("qkv", { ...others, vector: vector === VECTORS[0] ? "" : vector });
}

/** @returns {Place} */
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
 * @returns {number[]}
 */
export function sharers({ n_heads, n_kv_heads }, kv) {
  const size = n_heads / n_kv_heads;
  return Array.from({ length: size }, (_, i) => kv * size + i);
}

export const fitsWhole = ({ head_dim, d_model }) => head_dim * d_model * 4 <= ALL_BYTES;

/**
 * The vector as a run has it; null until it is here.
 *
 * @param {object | undefined} held the layer
 * @param {import("../../decoded.d.ts").Detail<"values"> | null} values
 */
export function madeAt(held, values, { vector, of, token }) {
  const array = vector === "v" ? values?.v : held?.[vector];
  return array ? vectorOf(array, of, token) : null;
}

/** The channel that is spoken of: the one that was clicked, else the largest. */
export const channelOf = (glass, made) => clickedChannel(glass, made.length) ?? strongest(made, 1)[0];

/** What is asked of the server: name → question, of a run in which the vector is `made`. */
export const questions = (trace, place, channel) => ({
  stream: ["norm_vectors", inputRequest(trace, { norm: "attn", layer: place.layer, query: place.token })],
  weights: [
    "projection",
    { layer: place.layer, vector: place.vector, head: place.of, channel: fitsWhole(trace.model) ? null : channel },
  ],
});

/**
 * What a vector is called where it is drawn: that it has a norm of its own, and that RoPE, which turns q and k,
 * comes after.
 */
export function madeName(model, { place: { vector }, weights }, text) {
  const [width, turned] = [model.head_dim, vector === "v" ? 0 : 2 * pairsOf(model)];
  const more = [...(weights.divisor ? ["normed"] : []), ...(turned ? [turned < width ? "part" : "before"] : [])];
  return [text("strip_made", { vector }), ...more.map((name) => text(`strip_made_${name}`, { turned, width }))].join(
    "",
  );
}

/**
 * What was found at a place, from the answers.
 *
 * @returns {Found}
 */
export function foundIn(trace, { stream, weights }, place, made) {
  const input = inputOf(stream, trace, place.token);
  return { place, x: input.x, normed: channelsOf(input).columns.normed, stream: input, made, weights };
}

/**
 * What is known at what is pointed at, else at what is locked: the same object while nothing has changed.
 *
 * @returns {() => Found | null} null until it has come
 */
export function createFinder(glass) {
  let [last, key] = [null, []];
  function at(selection) {
    const { trace } = glass.state;
    const place = placeOf(selection, trace.model, chosenVector(glass));
    const values = place.vector === "v" ? glass.detail("values", { layer: place.layer }) : null;
    const made = madeAt(trace.layers.get(place.layer), values, place);
    if (!made) return null;
    const asked = Object.entries(questions(trace, place, channelOf(glass, made)));
    const found = asked.map(([name, [what, params]]) => [name, glass.detail(what, params)]);
    const answers = /** @type {{ stream: object; weights: Weights }} */ (Object.fromEntries(found));
    if (!answers.stream || !answers.weights) return null;
    const now = [trace, answers.stream, answers.weights, ...Object.values(place)];
    if (now.some((value, i) => !Object.is(value, key[i]))) [last, key] = [foundIn(trace, answers, place, made), now];
    return last;
  }
  return () => at(glass.state) ?? at(glass.state.locked);
}

/**
 * @typedef {{
 *   row: ArrayLike<number>;
 *   terms: Float64Array;
 *   products: number;
 *   bias: number | null;
 *   sum: number;
 *   divisor: number | null;
 *   gamma: number | null;
 *   value: number;
 * }} Apart
 *   `products` is Σ terms, `sum` that with the bias, `value` what comes out: all in double precision
 */
/**
 * One channel taken apart: products n_i · W_ji, the bias, and their sum; where q and k have a norm of their own,
 * also what that divides by and multiplies with.
 *
 * @param {Found} found
 * @returns {Apart} the same object for the same channel
 */
export const takenApart = onceFor(({ normed, weights: { rows, bias, gamma, divisor }, place }, channel) => {
  const [count, width] = rows.shape;
  const at = count === 1 ? 0 : channel;
  const row = rows.data.subarray(at * width, (at + 1) * width);
  const terms = Float64Array.from(row, (w, i) => w * normed[i]);
  const products = terms.reduce((sum, term) => sum + term, 0);
  const added = bias ? bias.data[at] : null;
  const sum = products + (added ?? 0);
  const [under, factor] = divisor ? [divisor.data[place.token], gamma.data[at]] : [null, null];
  return {
    row,
    terms,
    products,
    bias: added,
    sum,
    divisor: under,
    gamma: factor,
    value: divisor ? (sum / under) * factor : sum,
  };
});

/** The largest products and what the others come to. */
export function largestOf({ terms, products }, count) {
  const first = strongest(terms, count);
  const part = first.reduce((sum, i) => sum + terms[i], 0);
  return { first, part, others: products - part, rest: terms.length - first.length };
}
