// The sliders that scale and shift a vector before its norm, a·x + b: one setting, kept in the link, for every run.

import { checkbox, slider } from "../../controls.js";
import { h, shown } from "../../dom.js";
import { normButtons, setNorm } from "./norm-choice.js";

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

/** What b is a multiple of. @param {import("./vector.js").Vector} vector */
export const sizeName = ({ beta }) => (beta ? "σ(x)" : "RMS(x)");

/**
 * The choice of norm, the two sliders, the sign of a, and the way back to a = 1, b = 0.
 * @returns {{ elements: HTMLElement[], mark: () => void, show: (set: object, shift: string) => void }} `mark`: the chosen
 * norm; `show`: what settingsOf gave, and what the shift is in words
 */
export function createScaling(glass) {
  const norms = normButtons(glass);
  const set = (change) => setNorm(glass, change);
  const scale = slider("gp-slider", `${KIND}.scale`, { min: -DECADES, max: DECADES, step: 0.05 }, (value) => set({ scale: value }));
  const shift = slider("gp-slider", `${KIND}.shift`, { min: -MOST, max: MOST, step: 0.05 }, (value) => set({ shift: value }));
  const flip = checkbox(`${KIND}.flip`, (ticked) => set({ flip: ticked ? 1 : "" }));
  const reset = h("button.gp-tab", { "data-text": `${KIND}.reset`, click: () => set({ scale: 0, shift: 0, flip: "" }) });
  const elements = [h("div.norm-bar", null, norms.element, flip.element, reset), h("div.norm-sliders", null, scale.element, shift.element)];
  function show({ exponent, share, flipped, a }, words) {
    flip.box.checked = flipped;
    scale.show(exponent, `a = ${shown(a, 4)}`);
    shift.show(share, words);
  }
  return { elements, mark: norms.mark, show };
}
