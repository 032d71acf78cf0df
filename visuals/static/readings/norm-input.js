// The vector that a norm reads, as the server sends it: for all tokens of a layer where that is small, else for one.

import { onceFor } from "../arrays.js";
import { centred, meanOf, meanSquare } from "./norms.js";

/** Up to this many bytes, a layer's vectors are fetched for all tokens, so that hovering finds them. */
const ALL_BYTES = 400_000;

/**
 * @typedef {import("../decoded.d.ts").NumArray} NumArray
 *
 * @typedef {import("../decode.js").Trace} Trace
 *
 * @typedef {import("../decoded.d.ts").Detail<"norm_vectors">} NormVectors
 *
 * @typedef {{ norm: import("./norm-places.js").NormName; layer: number; query: number }} InputPlace
 *
 * @typedef {object} NormInput
 * @property {NumArray["data"]} x before the norm
 * @property {NumArray["data"]} gamma
 * @property {NumArray["data"] | null} beta of a LayerNorm
 * @property {number} eps
 * @property {number} mean what a LayerNorm subtracts; an RMSNorm subtracts nothing, 0
 * @property {number} meanSquare of what is left
 * @property {number} divisor √(meanSquare + eps): RMS(x), or σ(x)
 */

/** @param {Trace} trace */
const fitsWhole = ({ T, model }) => T * model.d_model * 4 <= ALL_BYTES;

/**
 * What is asked of the server (app/chapters/norm.py) for the input of a norm.
 *
 * @param {Trace} trace
 * @param {InputPlace} place
 */
export const inputRequest = (trace, { norm, layer, query }) => ({
  layer: norm === "final" ? 0 : layer,
  norm,
  token: fitsWhole(trace) ? null : query,
});

/** @type {(held: NormVectors, token: number, row: number, eps: number) => NormInput} */
const made = onceFor((held, token, row, eps) => {
  const width = held.gamma.data.length;
  const x = held.before.data.subarray(row * width, (row + 1) * width);
  const mean = held.beta ? meanOf(x) : 0;
  const square = meanSquare(held.beta ? centred(x) : x);
  const learned = { gamma: held.gamma.data, beta: held.beta && held.beta.data };
  return { x, ...learned, eps, mean, meanSquare: square, divisor: Math.sqrt(square + eps) };
});

/**
 * A token's input, from the answer to `inputRequest`.
 *
 * @param {NormVectors} held
 * @param {Trace} trace
 * @param {number} token
 * @returns {NormInput}
 */
export const inputOf = (held, trace, token) => made(held, token, fitsWhole(trace) ? token : 0, trace.model.norm_eps);

/**
 * One channel after the norm's division, and after its γ and β.
 *
 * @param {Pick<NormInput, "gamma" | "beta" | "mean" | "divisor"> & { x: Object<number, number> }} input
 * @param {number} channel
 */
export function normedAt({ x, gamma, beta, mean, divisor }, channel) {
  const divided = (x[channel] - mean) / divisor;
  return { divided, normed: divided * gamma[channel] + (beta ? beta[channel] : 0) };
}
