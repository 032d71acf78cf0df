// What the panels on RoPE share: q and k of the selected head, query and key, their frequencies, and sliders.

import { kvHead, vectorOf } from "../../compute.js";
import { h, signed } from "../../dom.js";
import { visible } from "../../draw.js";
import { tickText } from "../../plot.js";

/** Distances that are drawn at most; beyond, there are more of them than pixels by far. */
export const FARTHEST = 8192;

/** @returns {{ q, k: ArrayLike<number>, m: number, n: number, kv: number, width: number, frequencies: object }} before RoPE */
export function placeOf(layer, { trace, head, query, key }) {
  const { model } = trace;
  const kv = kvHead(model, head);
  const frequencies = { inv_freq: model.inv_freq.data, scaling: model.attention_scaling };
  return {
    q: vectorOf(layer.q, head, query),
    k: vectorOf(layer.k, kv, key),
    m: query,
    n: key,
    kv,
    width: model.head_dim,
    frequencies,
  };
}

/** How the selection is named in titles. */
export function namesOf({ trace, layer, head, query, key }) {
  const piece = (t) => visible(trace.tokens.pieces[t]);
  return { layer, head, query: piece(query), key: piece(key), m: query, n: key };
}

/** A range with its name and value. `act(value)` is called while it is moved. */
export function slider(kind, name, act) {
  const input = h("input", { type: "range", min: 0, max: 1, step: 1, "data-text-label": `${kind}.${name}` });
  const output = h("output");
  input.addEventListener("input", () => act(Number(input.value)));
  return {
    input,
    output,
    box: h("label.position-slider", null, h("span", { "data-text": `${kind}.${name}` }), output, input),
  };
}

/** Buttons of which one is pressed. @param {string[]} values @param {(value: string) => string} key of the text; null: the value itself */
export function choice(values, key, label, act) {
  const buttons = values.map((value) => {
    const button = key
      ? h("button.position-tab", { type: "button", "data-text": key(value) })
      : h("button.position-tab", { type: "button" }, `× ${value}`);
    button.addEventListener("click", () => act(value));
    return button;
  });
  const mark = (chosen) =>
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(String(values[i]) === String(chosen))));
  return { box: h("div.position-tabs", { role: "group", "data-text-label": label }, ...buttons), mark };
}

/** A difference that may be tiny: with its sign, as a power of ten where it is below 0.001. */
export function small(value) {
  if (value === 0) return "0";
  if (Math.abs(value) >= 1e-3) return signed(value, 3);
  return `${value > 0 ? "+" : ""}${tickText(Number(value.toPrecision(3)))}`;
}

/** Settings of the chapter's panels, kept in the link. */
export function adjust(glass, change) {
  glass.settings.set("rope", { ...glass.settings.get("rope"), ...change });
  glass.repaint();
}

/** A whole number from the settings within bounds, or what stands for none. */
export function whole(value, low, high, other) {
  const number = Math.round(Number(value));
  return value === undefined || !Number.isFinite(number) ? other : Math.max(low, Math.min(high, number));
}
