// The norms of a network in the order of the computation, and what a run's message says of each.

import { layerNorms } from "../parts.js";

/**
 * @typedef {"attn" | "cross" | "ffn" | "final"} NormName
 *
 * @typedef {{ layer: number | null; norm: "final" } | { layer: number; norm: "attn" | "cross" | "ffn" }} Norm the
 *   final norm belongs to no layer
 *
 * @typedef {import("../types.d.ts").Model} Model
 */

/** How many norms a layer has. @param {Model} model */
export const perLayer = (model) => layerNorms(model).length;

/** How many norms a network has. @param {Model} model */
export const normCount = (model) => perLayer(model) * model.n_layers + 1;

/**
 * The norms of layer 0, of layer 1, …, the final norm.
 *
 * @param {number} index
 * @param {Model} model
 * @returns {Norm}
 */
export function normAt(index, model) {
  const norms = layerNorms(model);
  return index === normCount(model) - 1
    ? { layer: null, norm: "final" }
    : { layer: Math.floor(index / norms.length), norm: norms[index % norms.length] };
}

/** @param {Model} model @returns {Norm[]} */
export const normsOf = (model) => Array.from({ length: normCount(model) }, (_, index) => normAt(index, model));

/**
 * The index that `normAt` takes.
 *
 * @param {Norm} norm
 * @param {Model} model
 * @returns {number}
 */
export const indexOf = ({ layer, norm }, model) =>
  norm === "final" ? normCount(model) - 1 : perLayer(model) * layer + layerNorms(model).indexOf(norm);

/**
 * Where in the run, as value lines begin.
 *
 * @param {{ layer: number | null; norm: NormName }} norm
 * @param {number} token
 */
export const placeName = ({ layer, norm }, token) =>
  norm === "final" ? `final token ${token}` : `layer ${layer} ${norm} token ${token}`;

/**
 * @param {"rms" | "mean"} what
 * @returns {(trace: import("../decode.js").Trace, norm: Norm, token: number) => number}
 */
const figureAt =
  (what) =>
  ({ [what]: figures, T }, { layer, norm }, token) => {
    const { data } = /** @type {import("../decoded.d.ts").NumArray} */ (figures[norm]); // of a norm that is there
    return data[norm === "final" ? token : layer * T + token];
  };

/** What the vector before a norm is divided by: its RMS, or its standard deviation. */
export const divisorAt = figureAt("rms");

/** What a LayerNorm subtracts from the vector before it: its mean. */
export const meanAt = figureAt("mean");
