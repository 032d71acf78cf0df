// What a panel needs of a network: a key of texts' section "absent" says what is missing, null that all is there. Pure.

import { pairsOf, scaledByRoot } from "./compute.js";

/** Heads that are turned whole, in half-split pairs. */
export const turnedWhole = (model) =>
  (!model.parts.rotary ? "rotary" : model.parts.rotary.interleaved || 2 * pairsOf(model) < model.head_dim ? "turned_whole" : null);

/** The norms of each layer, in the order of the computation: where attention and feed-forward read the same one, "attn" alone. @returns {("attn"|"ffn")[]} */
export const layerNorms = ({ parts: { norms } }) => ["attn", "ffn"].filter((norm) => norms[`${norm}_norm`]);

/** Whether the norms are LayerNorms, which subtract a mean and add β. */
export const centres = ({ parts }) => parts.norm_kind === "layer";

/** In which form panels speak of a network's norms (frame.js): LayerNorm, and one norm for attention and feed-forward both. @returns {string[]} */
export function normForms(model) {
  const one = layerNorms(model).length === 1;
  return centres(model) ? [...(one ? ["layer_one"] : []), "layer"] : one ? ["one"] : [];
}

/** In which form panels speak of a score (frame.js): with a bias by distance, or with another factor than 1/√head_dim. @returns {string[]} */
export const scoreForms = (model) => (model.parts.bias ? ["bias"] : scaledByRoot(model) ? [] : ["scaled"]);

/** Keys and values made of the stream itself. */
export const ownKeys = ({ parts: { latent } }) => (latent ? "own_keys" : null);
