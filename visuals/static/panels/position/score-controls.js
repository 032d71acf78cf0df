// The slider of the distance and the reach of the chart over distance: one setting for every run.

import { adjust, choice, FARTHEST, slider } from "./place.js";

const KIND = "rope-score";
export const SPANS = ["context", "run"]; // how far the chart over distance reaches

/** Distances that can be set, and one more than the farthest. @returns {number} */
export const limitOf = ({ model, T }) => Math.min(FARTHEST, Math.max(model.max_context, T));

/**
 * @returns {{ one: object, spans: object, show: (set: { limit: number, distance: number }) => void }} the slider and the
 * choice; `show`: what they are set to
 */
export function createScoreControls(glass) {
  const one = slider(KIND, "one", (value) => adjust(glass, { distance: value }));
  const spans = choice(SPANS, (name) => `${KIND}.span_${name}`, `${KIND}.span`, (name) => adjust(glass, { span: name === SPANS[0] ? "" : name }));
  function show({ limit, distance }) {
    one.input.max = String(limit - 1);
    one.input.value = String(distance);
    one.output.textContent = String(distance);
    spans.mark(glass.settings.get("rope").span === SPANS[1] ? SPANS[1] : SPANS[0]);
  }
  return { one, spans, show };
}
