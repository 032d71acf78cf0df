// q and k of the selected head, query and key before RoPE, and how their product changes with the distance. Pure: no
// DOM, no store.

import { kvHead, vectorOf } from "../compute.js";
import { channelsOf, pairsOf, turnBack, unrotatedTerm, wavelength } from "../rotation.js";
import { overDistance } from "./turning.js";

/**
 * @typedef {import("../compute.js").Heads} Heads
 *
 * @typedef {import("../compute.js").Model} Model
 *
 * @typedef {import("../rotation.js").Rotary} Rotary
 *
 * @typedef {object} RopePlace
 * @property {Float64Array} q before RoPE, of the channels that it turns, pairs (i, i + pairs)
 * @property {Float64Array} k
 * @property {number} rest what the other channels add to q·k
 * @property {number} m the query's position
 * @property {number} n the key's
 * @property {number} kv
 * @property {import("../decode.js").Model} model
 * @property {{ inv_freq: import("../decoded.d.ts").NumArray["data"]; scaling: number }} frequencies
 */

/** Distances that are drawn at most; beyond, there are more of them than pixels by far. */
export const FARTHEST = 8192;
/** Tokens in which a fast pair is once around, at most. */
export const FAST = 64;

/**
 * A head's q or k at a position before RoPE, whole: where a run has k after it alone, turned back.
 *
 * @param {Heads} layer
 * @param {Pick<Model, "parts">} model
 * @param {"q" | "k"} name
 * @param {number} head
 * @param {number} position
 * @returns {ArrayLike<number>}
 */
export function beforeRope(layer, { parts: { rotary } }, name, head, position) {
  const given = layer[name];
  if (given) return vectorOf(given, head, position);
  const { kRot } = /** @type {{ kRot: import("../decoded.d.ts").NumArray }} */ (layer); // of k and kRot one is there
  return turnBack(vectorOf(kRot, head, position), position, /** @type {Rotary} */ (rotary));
}

/**
 * The channels of a head that RoPE turns, the firsts of all pairs and then the seconds, whatever their order in the
 * head.
 *
 * @param {ArrayLike<number>} vector
 * @param {Rotary} rotary
 * @returns {Float64Array}
 */
export function turnable(vector, rotary) {
  const pairs = rotary.inv_freq.data.length;
  return Float64Array.from({ length: 2 * pairs }, (_, i) => vector[channelsOf(rotary, i % pairs)[i < pairs ? 0 : 1]]);
}

/**
 * @param {Heads} layer
 * @param {{ trace: import("../decode.js").Trace; head: number; query: number; key: number }} place of a network
 *   that turns its heads
 * @returns {RopePlace}
 */
export function placeOf(layer, { trace: { model }, head, query, key }) {
  const kv = kvHead(model, head);
  const rotary = /** @type {Rotary} */ (model.parts.rotary);
  const frequencies = { inv_freq: rotary.inv_freq.data, scaling: rotary.attention_scaling };
  const [q, k] = [beforeRope(layer, model, "q", head, query), beforeRope(layer, model, "k", kv, key)];
  return {
    q: turnable(q, rotary),
    k: turnable(k, rotary),
    rest: unrotatedTerm(q, k, rotary),
    m: query,
    n: key,
    kv,
    model,
    frequencies,
  };
}

/**
 * Whether a head has channels that RoPE leaves as they are.
 *
 * @param {import("../decode.js").Model} model
 */
export const turnsPart = (model) => 2 * pairsOf(model) < model.head_dim;

/**
 * q·k at distances 0 … count - 1, with what the channels add that are not turned.
 *
 * @param {Pick<RopePlace, "q" | "k" | "rest">} place
 * @param {import("./turning.js").Frequencies} frequencies
 * @param {number} count
 * @returns {Float64Array}
 */
export function farOf({ q, k, rest }, frequencies, count) {
  const far = overDistance(q, k, frequencies, count);
  return rest ? far.map((value) => value + rest) : far;
}

/**
 * `farOf` in two: what the fast pairs add, which are once around in a few tokens, and what all others add.
 *
 * @param {Pick<RopePlace, "q" | "k" | "rest">} place
 * @param {import("./turning.js").Frequencies} frequencies
 * @param {number} count
 * @returns {{ pairs: number; fast: Float64Array; slow: Float64Array }} `pairs`: how many are fast
 */
export function fastAndSlow({ q, k, rest }, frequencies, count) {
  const all = frequencies.inv_freq.length;
  const isFast = (/** @type {number} */ i) => wavelength(frequencies.inv_freq[i]) <= FAST;
  const pairs = Array.from({ length: all }, (_, i) => isFast(i)).filter(Boolean).length;
  const fastQ = Float64Array.from(q, (value, i) => (isFast(i % all) ? value : 0));
  const fast = overDistance(fastQ, k, frequencies, count);
  return { pairs, fast, slow: farOf({ q, k, rest }, frequencies, count).map((value, i) => value - fast[i]) };
}
