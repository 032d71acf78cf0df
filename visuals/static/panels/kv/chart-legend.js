// The chart's legend. Plotly's own measures its words anew whenever the chart is drawn, a quarter of what a slider's
// step takes; this one is made when a name changes.

import { dressed } from "../../chart.js";
import { ink } from "../../draw.js";
import { html, nothing, svg } from "../../vendor/lit-html.js";

/** @typedef {Pick<import("../../readings/kv-chart.js").Trace, "name" | "line" | "marker">} Look */

const [WIDTH, HEIGHT] = [28, 14];
const DASHES = {
  solid: "none",
  dash: "7 4",
  dot: "2 3",
  dashdot: "7 3 2 3",
  longdash: "12 4",
  longdashdot: "11 3 2 3",
};
/** Plotly's patterns as strokes over the ground. */
const PATTERNS = { "": "", "/": "M0 14 14 0M7 14 21 0M14 14 28 0", x: "M0 14 14 0M14 14 28 0M0 0 14 14M14 0 28 14" };

/**
 * What a trace is drawn with: its line, or its ground with what is hatched over it.
 *
 * @param {Look} look
 */
function strokes({ line, marker }) {
  if (line) {
    const { color, width, dash } = line;
    const along = `M0 7H${WIDTH}`;
    return svg`<path d=${along} stroke=${color} stroke-width=${width} stroke-dasharray=${DASHES[dash]}></path>`;
  }
  if (!marker) return nothing;
  const { color, pattern } = marker;
  const hatched = pattern?.shape
    ? svg`<path d=${PATTERNS[pattern.shape]} stroke=${pattern.fgcolor} stroke-width="2"></path>`
    : nothing;
  return svg`<rect width=${WIDTH} height=${HEIGHT} fill=${color}></rect>${hatched}`;
}

/** @param {Look} look */
const entry = (look) =>
  html`<span class="gp-sample"
    ><svg width=${WIDTH} height=${HEIGHT} viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">${strokes(look)}</svg
    ><span .textContent=${look.name ?? ""}></span
  ></span>`;

/**
 * One entry for each named trace, a stack's from its top.
 *
 * @param {Look[]} data plotly's traces
 * @param {import("../../types.d.ts").Glass} glass
 */
export function legendView(data, glass) {
  const named = data.filter(({ name }) => name).map(({ name, line, marker }) => ({ name, line, marker }));
  const entries = dressed(named, ink().colour, glass.text).map(entry);
  return named[0]?.marker ? entries.reverse() : entries;
}
