// The vector that a norm reads, of the run: fetched for all tokens of a layer where that is small, else for one.

import { visible } from "../../draw.js";
import { chosenNorm } from "./norm-choice.js";
import { centred, meanOf, meanSquare } from "./norms.js";

/** Up to this many bytes, a layer's vectors are fetched for all tokens, so that hovering finds them. */
const ALL_BYTES = 400_000;

/**
 * @typedef {{ norm: "attn"|"ffn"|"final", layer: number, token: number, x: Float32Array, gamma: Float32Array,
 *             beta: Float32Array|null, eps: number, mean: number, meanSquare: number, rms: number }} Vector  x before the norm. A LayerNorm,
 * which alone has a beta, subtracts `mean`; an RMSNorm subtracts nothing, 0. meanSquare is of what is left, rms = √(meanSquare + eps)
 */

const known = new WeakMap();

function vectorOf(held, row, norm, layer, token, eps) {
  const name = `${norm} ${layer} ${token}`;
  if (!known.has(held)) known.set(held, new Map());
  const vectors = known.get(held);
  if (!vectors.has(name)) {
    const width = held.gamma.data.length;
    const x = held.before.data.subarray(row * width, (row + 1) * width);
    const [mean, square] = held.beta ? [meanOf(x), meanSquare(centred(x))] : [0, meanSquare(x)];
    const learned = { gamma: held.gamma.data, beta: held.beta && held.beta.data };
    vectors.set(name, { norm, layer, token, x, ...learned, eps, mean, meanSquare: square, rms: Math.sqrt(square + eps) });
  }
  return vectors.get(name);
}

/** The vector at a place of a run, from the answer to what `request` asks. @returns {Vector} */
export function readVector(held, trace, norm, layer, query) {
  return vectorOf(held, fitsWhole(trace) ? query : 0, norm, layer, query, trace.model.norm_eps);
}

const fitsWhole = ({ T, model }) => T * model.d_model * 4 <= ALL_BYTES;

/** What is asked of the server (app/chapters/norm.py) for that vector. */
export const request = (trace, norm, layer, query) => ({ layer: norm === "final" ? 0 : layer, norm, token: fitsWhole(trace) ? null : query });

/** The vector at what is pointed at, where it is here; else at what is locked; null until that has come. @returns {Vector|null} */
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
