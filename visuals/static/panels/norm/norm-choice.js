// Which of the norms is looked at: "attn", "cross" or "ffn" of the selected layer, or "final". One choice for all
// panels.

import { segmented } from "../../controls.js";
import { visible } from "../../draw.js";
import { layerNorms } from "../../parts.js";
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

/** @type {("attn" | "cross" | "ffn" | "final")[]} */
export const NORMS = ["attn", "cross", "ffn", "final"];

/**
 * The norms that a network has.
 *
 * @returns {("attn" | "cross" | "ffn" | "final")[]}
 */
const normsOf = (model) => [...layerNorms(model), "final"];

/** @returns {"attn" | "cross" | "ffn" | "final"} */
export function chosenNorm({ settings, state }) {
  const { which } = settings.get("norm");
  return normsOf(state.trace.model).includes(which) ? which : "attn";
}

/** What the panels' readers are asked about: the norm that is chosen, at a layer and a token. */
export const normAndPlace = (glass, { layer, query }) => ({ norm: chosenNorm(glass), layer, query });

/** How titles name that. */
export const placeParams = ({ layer, query }, { tokens: { pieces } }) => ({
  layer,
  token: query,
  piece: visible(pieces[query]),
});

/**
 * The channel that was clicked, where there is one and a vector of this width has it; else null.
 *
 * @returns {number | null}
 */
export const chosenChannel = (glass, width) => keptChannel(glass.settings.get("norm"), width);

/**
 * The buttons of that choice.
 *
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
    const there = normsOf(glass.state.trace.model);
    NORMS.forEach((norm, i) => {
      /** @type {HTMLElement} */ (element.children[i]).hidden = !there.includes(norm);
    });
    mark(chosenNorm(glass));
  };
  return { element, mark: show };
}

/** Changes settings of the RMSNorm panels and keeps the others; every panel is drawn anew. */
export function setNorm(glass, change) {
  const { which, ...others } = { ...glass.settings.get("norm"), ...change };
  glass.settings.set("norm", { ...others, which: which === NORMS[0] ? "" : which });
}
