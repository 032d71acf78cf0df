// The choice of method and factor, and the slider of the distance, of the panel on scaling: one setting for every run.

import { segmented, slider } from "../../controls.js";
import { h } from "../../dom.js";
import { adjust, FARTHEST, whole } from "./place.js";
import { METHODS } from "./scaling-table.js";

const KIND = "rope-scaling";
const FACTORS = [2, 4, 8, 16, 32];

/**
 * What the panel is set to. @param {object|undefined} answer rope_scalings of that factor, which all but the factor
 * depends on @param {number|null} pointed the distance under the pointer
 * @returns {{ factor: number, methods?: object[], method?: string, limit?: number, distance?: number }} `methods`: those
 * that are shown; distances are drawn below `limit`
 */
export function settingsOf({ state, settings }, answer, pointed = null) {
  const set = settings.get("rope");
  const factor = FACTORS.includes(Number(set.factor)) ? Number(set.factor) : 4;
  if (!answer) return { factor };
  const own = state.trace.model.rope_scaling !== null;
  const methods = answer.methods.filter(({ name }) => own || name !== "model");
  const method = METHODS.includes(set.method) && methods.some(({ name }) => name === set.method) ? set.method : METHODS[0];
  const limit = Math.min(FARTHEST, answer.original * factor);
  const distance = pointed ?? whole(set.reach, 0, limit - 1, Math.min(answer.original, limit - 1));
  return { factor, methods, method, limit, distance };
}

/** Keeps a method as the one that is looked at. */
export const chooseMethod = (glass, method) => adjust(glass, { method: method === METHODS[0] ? "" : method });

/** @returns {{ bar: HTMLElement, reach: HTMLElement, show: (set: object) => void }} `show`: what settingsOf gave */
export function createScalingControls(glass) {
  const pick = (values, name, how) => segmented(values, { label: `${KIND}.${name}`, look: "gp-tab", group: "div.gp-tabs", ...how });
  const methods = pick(METHODS, "method", { text: (name) => `${KIND}.${name}`, choose: (method) => chooseMethod(glass, method) });
  const factors = pick(FACTORS, "factor", { sign: (factor) => `× ${factor}`, choose: (factor) => adjust(glass, { factor: factor === 4 ? "" : factor }) });
  const reach = slider("gp-slider", `${KIND}.reach`, { min: 0, step: 1 }, (value) => adjust(glass, { reach: value }));
  function show({ methods: offered, method, factor, limit, distance }) {
    [...methods.element.children].forEach((button, i) => { button.hidden = !offered.some(({ name }) => name === METHODS[i]); }); // two dimensions have no NTK
    methods.mark(method);
    factors.mark(factor);
    reach.show(distance, String(distance), { max: limit - 1 });
  }
  return { bar: h("div.position-bar", null, methods.element, factors.element), reach: reach.element, show };
}
