// The vector that a norm reads, of the run: fetched for all tokens of a layer where that is small, else for one.

import { onceFor } from "../../arrays.js";
import { fraction, inBrackets, line, root, shown, strong, tinted } from "../../dom.js";
import { visible } from "../../draw.js";
import { chosenNorm } from "./norm-choice.js";
import { centred, meanOf, meanSquare } from "./norms.js";

/** Up to this many bytes, a layer's vectors are fetched for all tokens, so that hovering finds them. */
const ALL_BYTES = 400_000;

/**
 * @typedef {{
 *   norm: "attn" | "cross" | "ffn" | "final";
 *   layer: number;
 *   token: number;
 *   x: Float32Array;
 *   gamma: Float32Array;
 *   beta: Float32Array | null;
 *   eps: number;
 *   mean: number;
 *   meanSquare: number;
 *   rms: number;
 * }} Vector
 *   x before the norm. A LayerNorm, which alone has a beta, subtracts `mean`; an RMSNorm subtracts nothing, 0.
 *   meanSquare is of what is left, rms = √(meanSquare + eps)
 */

const vectorOf = onceFor((held, _name, trace, norm, layer, token) => {
  const [width, row, eps] = [held.gamma.data.length, fitsWhole(trace) ? token : 0, trace.model.norm_eps];
  const x = held.before.data.subarray(row * width, (row + 1) * width);
  const [mean, square] = held.beta ? [meanOf(x), meanSquare(centred(x))] : [0, meanSquare(x)];
  const learned = { gamma: held.gamma.data, beta: held.beta && held.beta.data };
  return { norm, layer, token, x, ...learned, eps, mean, meanSquare: square, rms: Math.sqrt(square + eps) };
});

/**
 * The vector at a place of a run, from the answer to what `request` asks.
 *
 * @returns {Vector}
 */
export const readVector = (held, trace, norm, layer, query) =>
  vectorOf(held, `${norm} ${layer} ${query}`, trace, norm, layer, query);

const fitsWhole = ({ T, model }) => T * model.d_model * 4 <= ALL_BYTES;

/** What is asked of the server (app/chapters/norm.py) for that vector. */
export const request = (trace, norm, layer, query) => ({
  layer: norm === "final" ? 0 : layer,
  norm,
  token: fitsWhole(trace) ? null : query,
});

/**
 * The vector at what is pointed at, where it is here; else at what is locked; null until that has come.
 *
 * @returns {Vector | null}
 */
export function vectorAt(glass) {
  const { trace, locked } = glass.state;
  const norm = chosenNorm(glass);
  for (const { layer, query } of [glass.state, locked]) {
    const held = glass.detail("norm_vectors", request(trace, norm, layer, query));
    if (held) return readVector(held, trace, norm, layer, query);
  }
  return null;
}

/** How a vector is named: parameters of the texts read_attn, read_ffn and read_final. */
export const nameOf = ({ layer, token }, { trace }) => ({ layer, token, piece: visible(trace.tokens.pieces[token]) });

/**
 * x after the norm's division, of one channel, and after its γ and β.
 *
 * @param {Pick<Vector, "gamma" | "beta" | "mean" | "rms"> & { x: Object<number, number> }} vector
 * @param {number} channel
 */
export function normedAt({ x, gamma, beta, mean, rms }, channel) {
  const after = (x[channel] - mean) / rms;
  return { after, product: after * gamma[channel] + (beta ? beta[channel] : 0) };
}

/**
 * The norm step by step: a LayerNorm's mean, the variance about it and β, which an RMSNorm has not.
 *
 * @param {Vector} vector
 * @param {number} channel
 * @param {Function} text
 */
export function arithmetic(vector, channel, text) {
  const { x, gamma, beta, eps, mean, meanSquare, rms } = vector;
  const { after, product } = normedAt(vector, channel);
  const [count, square] = [String(x.length), beta ? "(x − μ)²" : "x²"];
  const sign = (step) => "①②③④⑤"[beta ? step + 1 : step];
  const name = () => tinted("norm", beta ? "σ(x)" : "RMS(x)");
  const over = (by) => fraction(beta ? "x − μ" : "x", by);
  const average = (value) => [fraction(shown(value * x.length, 6), count), " = ", strong(value)];
  const numbers = root(`${shown(meanSquare, 6)} + ${shown(eps, 1)}`);
  const value = `${shown(x[channel], 5)}${beta ? ` − ${inBrackets(mean)}` : ""}`;
  const divided = fraction(value, shown(rms, 5));
  const added = beta ? ` + ${inBrackets(beta[channel])}` : "";
  const learned = `${shown(after, 5)} × ${inBrackets(gamma[channel])}${added}`;
  return [
    ...(beta ? [line`① μ = mean(x) = Σx / ${count} = ${average(mean)}`] : []),
    line`${sign(0)} mean(${square}) = Σ${square} / ${count} = ${average(meanSquare)}`,
    line`${sign(1)} ${name()} = ${root(`mean(${square}) + ε`)} = ${numbers} = ${strong(rms)}`,
    line`${sign(2)} ${text("at", { channel })}   ${over(name())} = ${divided} = ${strong(after)}`,
    line`${sign(3)} ${over(name())} · γ${beta ? " + β" : ""} = ${learned} = ${strong(product)}`,
  ];
}
