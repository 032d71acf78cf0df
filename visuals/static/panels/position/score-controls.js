// What the score panel is set to: by how much both positions are moved, their distance, and how far its chart reaches.

import { segmented, slider } from "../../controls.js";
import { h } from "../../dom.js";
import { shownIn } from "../../run-for.js";
import { adjust, limitOf, whole } from "./place.js";

/** @typedef {import("../../types.d.ts").Glass} Glass */

const SPANS = ["context", "run"]; // how far the chart over distance reaches

/**
 * What the panel is set to: distances below `limit`, the one between query and key, and how many of them its chart
 * has.
 *
 * @param {Glass} glass
 */
export function spanOf(glass) {
  const { trace, query, key } = shownIn(glass);
  const { distance, span } = glass.settings.get("rope");
  const limit = limitOf(trace);
  return {
    limit,
    distance: whole(distance, 0, limit - 1, query - key),
    count: span === SPANS[1] ? Math.max(2, trace.T) : limit,
  };
}

/**
 * The slider of the distance and the reach of the chart over it: one setting for every run.
 *
 * @param {Glass} glass
 * @returns {{ one: HTMLElement; spans: HTMLElement; show: (set: { limit: number; distance: number }) => void }}
 */
export function createScoreControls(glass) {
  const one = slider("gp-slider", "rope-score.one", { min: 0, step: 1 }, (value) => adjust(glass, { distance: value }));
  const spans = segmented(SPANS, {
    label: "rope-score.span",
    text: (name) => `rope-score.span_${name}`,
    look: "gp-tab",
    choose: (name) => adjust(glass, { span: name === SPANS[0] ? "" : name }),
  });
  /** @param {{ limit: number; distance: number }} set */
  function show({ limit, distance }) {
    one.show(distance, String(distance), { max: limit - 1 });
    spans.mark(glass.settings.get("rope").span === SPANS[1] ? SPANS[1] : SPANS[0]);
  }
  return { one: one.element, spans: spans.element, show };
}

/**
 * The sliders: what both positions are moved by, the distance, and back to the run's own.
 *
 * @param {Glass} glass
 */
export function createSliders(glass) {
  const both = slider("gp-slider", "rope-score.both", { min: 0, step: 1 }, (value) => adjust(glass, { both: value }));
  const { one, spans, show } = createScoreControls(glass);
  const reset = h("button.gp-tab", {
    "data-text": "rope-score.reset",
    click: () => adjust(glass, { both: 0, distance: "" }),
  });
  const element = h("div.position-sliders", { "data-part": "sliders" }, both.element, one, reset);
  return {
    element,
    spans,
    /** @param {{ limit: number; distance: number; shift: number }} set */
    show({ limit, distance, shift }) {
      both.show(shift, `+${shift}`, { max: limit - 1 });
      show({ limit, distance });
    },
  };
}
