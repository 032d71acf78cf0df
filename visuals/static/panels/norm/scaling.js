// The sliders that scale and shift a vector before its norm, a·x + b: one setting, kept in the link, for every run.

import { h, shown } from "../../dom.js";
import { setNorm } from "./norm-choice.js";
import { normButtons } from "./buttons.js";

const KIND = "norm-scale";
export const DECADES = 4; // powers of ten of a each way
const MOST = 3; // shifts reach so many times the RMS each way
const FIRST = { scale: -2, shift: 0.5 }; // where the sliders stand at first: log10 of a, and b as a multiple of the RMS

const between = (value, most) => Math.max(-most, Math.min(most, Number(value) || 0));

/**
 * What the sliders are set to: a = ±10^exponent, and b = share · RMS(x). @param {number} rms
 * @param {number|null} pointed the exponent under the pointer
 */
export function settingsOf({ settings }, rms, pointed = null) {
  const { scale = FIRST.scale, shift = FIRST.shift, flip } = settings.get("norm");
  const [exponent, share, flipped] = [pointed ?? between(scale, DECADES), between(shift, MOST), Boolean(flip)];
  return { exponent, share, flipped, a: (flipped ? -1 : 1) * 10 ** exponent, b: share * rms };
}

function slider(name, range, act) {
  const input = h("input", { type: "range", ...range, "data-text-label": `${KIND}.${name}` });
  const output = h("output");
  input.addEventListener("input", act);
  const box = h("label.norm-slider", null, h("span", { "data-text": `${KIND}.${name}` }), output, input);
  return { input, output, box };
}

/**
 * The choice of norm, the two sliders, the sign of a, and the way back to a = 1, b = 0.
 * @returns {{ elements: HTMLElement[], mark: () => void, show: (set: object, shift: string) => void }} `mark`: the chosen
 * norm; `show`: what settingsOf gave, and what the shift is in words
 */
export function createScaling(glass) {
  const norms = normButtons(glass);
  const set = (change) => setNorm(glass, change);
  const scale = slider("scale", { min: -DECADES, max: DECADES, step: 0.05 }, () => set({ scale: scale.input.value }));
  const shift = slider("shift", { min: -MOST, max: MOST, step: 0.05 }, () => set({ shift: shift.input.value }));
  const flip = h("input", { type: "checkbox" });
  flip.addEventListener("change", () => set({ flip: flip.checked ? 1 : "" }));
  const reset = h("button.norm-tab", { type: "button", "data-text": `${KIND}.reset` });
  reset.addEventListener("click", () => set({ scale: 0, shift: 0, flip: "" }));
  const check = h("label.gp-check", null, flip, h("span", { "data-text": `${KIND}.flip` }));
  const elements = [h("div.norm-bar", null, norms.box, check, reset), h("div.norm-sliders", null, scale.box, shift.box)];
  function show({ exponent, share, flipped, a }, words) {
    [scale.input.value, shift.input.value, flip.checked] = [exponent, share, flipped];
    scale.output.textContent = `a = ${shown(a, 4)}`;
    shift.output.textContent = words;
  }
  return { elements, mark: norms.mark, show };
}
