// The slider of the distance and the reach of the chart over distance: one setting for every run.

import { segmented, slider } from "../../controls.js";
import { adjust, FARTHEST } from "./place.js";

const KIND = "rope-score";
export const SPANS = ["context", "run"]; // how far the chart over distance reaches

/** Distances that can be set, and one more than the farthest. @returns {number} */
export const limitOf = ({ model, T }) => Math.min(FARTHEST, Math.max(model.max_context, T));

/**
 * @returns {{ one: HTMLElement, spans: HTMLElement, show: (set: { limit: number, distance: number }) => void }} the slider
 * and the choice; `show`: what they are set to
 */
export function createScoreControls(glass) {
  const one = slider("gp-slider", `${KIND}.one`, { min: 0, step: 1 }, (value) => adjust(glass, { distance: value }));
  const spans = segmented(SPANS, {
    label: `${KIND}.span`,
    text: (name) => `${KIND}.span_${name}`,
    look: "gp-tab",
    group: "div.gp-tabs",
    choose: (name) => adjust(glass, { span: name === SPANS[0] ? "" : name }),
  });
  function show({ limit, distance }) {
    one.show(distance, String(distance), { max: limit - 1 });
    spans.mark(glass.settings.get("rope").span === SPANS[1] ? SPANS[1] : SPANS[0]);
  }
  return { one: one.element, spans: spans.element, show };
}
