// What the score panel is set to: by how much both positions are moved, their distance, and how far its chart reaches.

import { segmented, slider } from "../../controls.js";
import { h } from "../../dom.js";
import { shownIn } from "../../run-for.js";
import { adjust, limitOf, whole } from "./place.js";

/** @typedef {import("../../types.d.ts").Glass} Glass */

/** @typedef {"context" | "run"} Span how far a chart over distance reaches */

const SPANS = /** @type {Span[]} */ (["context", "run"]);

/**
 * How far the chart reaches: as set, else as far as the run; in a lesson, which is about far tokens, as the
 * context.
 *
 * @param {Glass} glass
 * @param {Span} [first] where nothing is set
 * @returns {Span}
 */
function spanName({ settings, state }, first = state.presenting ? "context" : "run") {
  const { span } = settings.get("rope");
  return SPANS.find((one) => one === span) ?? first;
}

/**
 * What the panel is set to: distances below `limit`, the one between query and key, and how many of them its chart
 * has.
 *
 * @param {Glass} glass
 * @param {Span} [first] how far the chart reaches where nothing is set
 */
export function spanOf(glass, first) {
  const { trace, query, key } = shownIn(glass);
  const { distance } = glass.settings.get("rope");
  const limit = limitOf(trace);
  return {
    limit,
    distance: whole(distance, 0, limit - 1, query - key),
    count: spanName(glass, first) === "run" ? Math.max(2, trace.T) : limit,
  };
}

/**
 * The slider of the distance, which reaches as far as the chart over it, and that chart's reach: one setting for
 * every run.
 *
 * @param {Glass} glass
 * @param {Span} [first] as `spanOf` has it
 * @returns {{ one: HTMLElement; spans: HTMLElement; show: (set: { count: number; distance: number }) => void }}
 */
export function createScoreControls(glass, first) {
  const one = slider("gp-slider", "rope-score.one", { min: 0, step: 1 }, (value) => adjust(glass, { distance: value }));
  const spans = segmented(SPANS, {
    label: "rope-score.span",
    text: (name) => `rope-score.span_${name}`,
    look: "gp-tab",
    choose: (span) => adjust(glass, { span }),
  });
  /** @param {{ count: number; distance: number }} set */
  function show({ count, distance }) {
    one.show(distance, String(distance), { max: Math.max(count - 1, distance) });
    spans.mark(spanName(glass, first));
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
    /** @param {{ limit: number; count: number; distance: number; shift: number }} set */
    show({ limit, count, distance, shift }) {
      both.show(shift, shift ? `+${shift}` : "0", { max: limit - 1 });
      show({ count, distance });
    },
  };
}
