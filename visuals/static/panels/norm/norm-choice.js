// Which of the norms is looked at: "attn", "cross" or "ffn" of the selected layer, or "final". One choice for all
// panels.

import { labelsOf } from "../../characters.js";
import { segmented } from "../../controls.js";
import { visible } from "../../draw.js";
import { layerNorms } from "../../parts.js";
import { shownIn } from "../../run-for.js";
import { keptChannel } from "../../settings.js";

/** What a layer's norms read, divide by and give, of model/trace.py's SHAPES. */
export const TENSORS = [
  "resid_in",
  "attn_norm_mean",
  "attn_norm_rms",
  "attn_normed",
  "resid_mid",
  "ffn_norm_mean",
  "ffn_norm_rms",
  "ffn_normed",
];

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../readings/norm-places.js").NormName} NormName
 *
 * @typedef {{ layer: number; query: number }} Place
 */

/** @type {NormName[]} */
export const NORMS = ["attn", "cross", "ffn", "final"];

/**
 * The norms that a network has.
 *
 * @param {import("../../types.d.ts").Model} model
 * @returns {NormName[]}
 */
const normsOf = (model) => [...layerNorms(model), "final"];

/**
 * @param {Glass} glass
 * @returns {NormName}
 */
export function chosenNorm(glass) {
  const { which } = glass.settings.get("norm");
  return normsOf(shownIn(glass).trace.model).find((norm) => norm === which) ?? "attn";
}

/**
 * What the panels' readers are asked about: the norm that is chosen, at a layer and a token.
 *
 * @param {Glass} glass
 * @param {Place} place
 */
export const normAndPlace = (glass, { layer, query }) => ({ norm: chosenNorm(glass), layer, query });

/**
 * How titles name that.
 *
 * @param {Place} place
 * @param {import("../../decode.js").Trace} trace
 */
export const placeParams = ({ layer, query }, { tokens: { pieces } }) => ({
  layer,
  token: query,
  piece: visible(labelsOf(pieces)[query]),
});

/**
 * The channel that was clicked, where there is one and a vector of this width has it; else null.
 *
 * @param {Glass} glass
 * @param {number} width
 * @returns {number | null}
 */
export const chosenChannel = (glass, width) => keptChannel(glass.settings.get("norm"), width);

/**
 * The buttons of that choice.
 *
 * @param {Glass} glass
 * @returns {{ element: HTMLElement; mark: () => void }}
 */
export function normButtons(glass) {
  const { element, mark } = segmented(NORMS, {
    label: "norm-vector.which",
    text: (norm) => `norm-vector.${norm}`,
    look: "gp-tab",
    choose: (norm) => setNorm(glass, { which: norm }),
  });
  const show = () => {
    const there = normsOf(shownIn(glass).trace.model);
    NORMS.forEach((norm, i) => {
      /** @type {HTMLElement} */ (element.children[i]).hidden = !there.includes(norm);
    });
    mark(chosenNorm(glass));
  };
  return { element, mark: show };
}

/**
 * Changes settings of the RMSNorm panels and keeps the others; every panel is drawn anew.
 *
 * @param {Glass} glass
 * @param {Record<string, string | number>} change
 */
export function setNorm(glass, change) {
  const { which, ...others } = { ...glass.settings.get("norm"), ...change };
  glass.settings.set("norm", { ...others, which: which === NORMS[0] ? "" : which });
}
