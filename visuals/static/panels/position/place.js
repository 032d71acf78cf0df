// What the panels on RoPE share: q and k of the selected head, query and key, their frequencies, and sliders.

import { kvHead, vectorOf } from "../../compute.js";
import { signed } from "../../dom.js";
import { visible } from "../../draw.js";
import { tickText } from "../../plot.js";

/** Distances that are drawn at most; beyond, there are more of them than pixels by far. */
export const FARTHEST = 8192;

/** @returns {{ q, k: ArrayLike<number>, m: number, n: number, kv: number, width: number, frequencies: object }} before RoPE */
export function placeOf(layer, { trace, head, query, key }) {
  const { model } = trace;
  const kv = kvHead(model, head);
  const frequencies = { inv_freq: model.parts.rotary.inv_freq.data, scaling: model.parts.rotary.attention_scaling };
  return { q: vectorOf(layer.q, head, query), k: vectorOf(layer.k, kv, key), m: query, n: key, kv, width: model.head_dim, frequencies };
}

/** How the selection is named in titles. */
export function namesOf({ trace, layer, head, query, key }) {
  const piece = (t) => visible(trace.tokens.pieces[t]);
  return { layer, head, query: piece(query), key: piece(key), m: query, n: key };
}

/** A difference that may be tiny: with its sign, as a power of ten where it is below 0.001. */
export function small(value) {
  if (value === 0) return "0";
  if (Math.abs(value) >= 1e-3) return signed(value, 3);
  return `${value > 0 ? "+" : ""}${tickText(Number(value.toPrecision(3)))}`;
}

/** Settings of the chapter's panels, kept in the link. */
export const adjust = ({ settings }, change) => settings.set("rope", { ...settings.get("rope"), ...change });

/** A whole number from the settings within bounds, or what stands for none. */
export function whole(value, low, high, other) {
  const number = Math.round(Number(value));
  return value === undefined || !Number.isFinite(number) ? other : Math.max(low, Math.min(high, number));
}
