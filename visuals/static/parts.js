// What a panel needs of a network: a key of texts' section "absent" says what is missing, null that all is there. Pure.

import { pairsOf } from "./compute.js";

/** Heads that are turned whole, in half-split pairs. */
export const turnedWhole = (model) =>
  (!model.parts.rotary ? "rotary" : model.parts.rotary.interleaved || 2 * pairsOf(model) < model.head_dim ? "turned_whole" : null);

/** RMSNorm before attention and before the feed-forward. */
export const rmsNorms = ({ parts: { norm_kind: kind, norms } }) => (kind !== "rms" || !norms.ffn_norm ? "rmsnorm" : null);

/** One SwiGLU a layer. */
export function swiglus({ parts: { ffn } }, layer) {
  const { gated, activation, experts } = ffn[layer];
  return experts ? "one_ffn" : gated && activation === "silu" ? null : "swiglu";
}

/** Keys and values made of the stream itself. */
export const ownKeys = ({ parts: { latent } }) => (latent ? "own_keys" : null);
