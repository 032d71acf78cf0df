// RoPE's arithmetic: which channels make a pair, how far a pair is turned, and what each adds to a score. Pure: no DOM,
// no store.

import { onceFor } from "./arrays.js";

/**
 * @typedef {import("./decoded.d.ts").NumArray} NumArray
 *
 * @typedef {{ inv_freq: NumArray; attention_scaling: number; first: number; interleaved: boolean }} Rotary
 */

/**
 * Angle of a pair at a position, in radians; float32, as the model multiplies.
 *
 * @param {number} position
 * @param {number} frequency radians per token
 */
export const angle = (position, frequency) => Math.fround(position * frequency);

/**
 * Tokens until a pair has turned once.
 *
 * @param {number} frequency radians per token
 */
export const wavelength = (frequency) => (2 * Math.PI) / frequency;

/**
 * How many pairs RoPE turns in each head; 0 where nothing is rotated.
 *
 * @param {{ parts: { rotary: { inv_freq: { shape: number[] } } | null } }} model a run's, or as a message has it
 */
export const pairsOf = ({ parts: { rotary } }) => (rotary ? rotary.inv_freq.shape[0] : 0);

/**
 * The two channels of a head that make up a pair.
 *
 * @param {Rotary} rotary
 * @param {number} pair
 * @returns {[number, number]}
 */
export function channelsOf({ inv_freq, first, interleaved }, pair) {
  return interleaved ? [first + 2 * pair, first + 2 * pair + 1] : [first + pair, first + pair + inv_freq.data.length];
}

/**
 * The pair that a channel belongs to; null where the channel is not rotated.
 *
 * @param {Rotary | null} rotary
 * @param {number} channel
 * @returns {number | null}
 */
export function pairOf(rotary, channel) {
  if (!rotary) return null;
  const [pairs, at] = [rotary.inv_freq.data.length, channel - rotary.first];
  if (at < 0 || at >= 2 * pairs) return null;
  return rotary.interleaved ? at >> 1 : at % pairs;
}

/**
 * cos and sin of every pair at a position, times the attention scaling (1 unless YaRN).
 *
 * @type {(
 *   invFreq: NumArray["data"],
 *   position: number,
 *   scaling: number,
 * ) => { cos: Float64Array; sin: Float64Array }}
 */
const turn = onceFor((invFreq, position, scaling) => {
  const angles = Float64Array.from(invFreq, (frequency) => angle(position, frequency));
  return { cos: angles.map((a) => Math.cos(a) * scaling), sin: angles.map((a) => Math.sin(a) * scaling) };
});

/**
 * RoPE: pair i of the vector is turned by position·inv_freq[i]; channels outside the pairs stay as they are, as all
 * do where nothing is rotated.
 *
 * @param {ArrayLike<number>} vector head_dim values
 * @param {number} position
 * @param {Rotary | null} rotary
 * @returns {Float64Array} head_dim values
 */
export function rotate(vector, position, rotary) {
  const out = Float64Array.from(vector);
  if (!rotary) return out;
  const { cos, sin } = turn(rotary.inv_freq.data, position, rotary.attention_scaling);
  for (let i = 0; i < cos.length; i++) {
    const [a, b] = channelsOf(rotary, i);
    out[a] = vector[a] * cos[i] - vector[b] * sin[i];
    out[b] = vector[b] * cos[i] + vector[a] * sin[i];
  }
  return out;
}

/**
 * What `rotate` was given, from what it gave: turned back, and its lengths without the scaling.
 *
 * @param {ArrayLike<number>} vector head_dim values
 * @param {number} position
 * @param {Rotary} rotary
 * @returns {Float64Array}
 */
export function turnBack(vector, position, rotary) {
  const out = Float64Array.from(vector);
  const { cos, sin } = turn(rotary.inv_freq.data, position, rotary.attention_scaling);
  const square = rotary.attention_scaling ** 2;
  for (let i = 0; i < cos.length; i++) {
    const [a, b] = channelsOf(rotary, i);
    out[a] = (vector[a] * cos[i] + vector[b] * sin[i]) / square;
    out[b] = (vector[b] * cos[i] - vector[a] * sin[i]) / square;
  }
  return out;
}

/**
 * Each pair's share of q·k after RoPE.
 *
 * @param {ArrayLike<number>} qRotated head_dim values
 * @param {ArrayLike<number>} kRotated head_dim values
 * @param {Rotary} rotary
 * @returns {Float64Array}
 */
export function pairTerms(qRotated, kRotated, rotary) {
  return Float64Array.from(rotary.inv_freq.data, (_, i) => {
    const [a, b] = channelsOf(rotary, i);
    return qRotated[a] * kRotated[a] + qRotated[b] * kRotated[b];
  });
}

/**
 * What the channels that are not rotated add to q·k: with the pairs' shares, all of it.
 *
 * @param {ArrayLike<number>} q head_dim values
 * @param {ArrayLike<number>} k head_dim values
 * @param {Rotary} rotary
 */
export function unrotatedTerm(q, k, rotary) {
  let sum = 0;
  for (let i = 0; i < q.length; i++) if (pairOf(rotary, i) === null) sum += q[i] * k[i];
  return sum;
}
