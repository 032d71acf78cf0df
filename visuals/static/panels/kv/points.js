// A chart's figure with its points: heights and what is said of each, from the exact bytes that the server counted; and
// its legend. Plotly's own measures its words anew whenever the chart is drawn, a quarter of what a slider's step
// takes; this one is made when a name changes.

import { dressed } from "../../chart.js";
import { h, svg } from "../../dom.js";
import { ink } from "../../draw.js";
import { exactBytes } from "./format.js";

/**
 * @typedef {import("../../decoded.d.ts").Calculation<"kv_chart">["figure"]} Figure
 *
 * @typedef {Figure["data"][number]} Trace
 *
 * @typedef {[model: string, tokens: number, bytes: string, separated: string, context?: number | null]} Said of a
 *   point
 *
 * @typedef {Omit<Trace, "models" | "tokens" | "bytes" | "contexts"> & { y: number[]; customdata: Said[] }} Drawn
 *
 * @typedef {Pick<Trace, "name" | "line" | "marker">} Look
 */

/**
 * The traces as plotly takes them. customdata of a point: model, tokens, exact bytes as text, and with separators;
 * where the trace has `contexts`, also the model's own context if the point is beyond it, else null.
 *
 * @param {Figure} figure of visuals/kv_charts.py
 * @returns {{ data: Drawn[]; layout: Figure["layout"] }}
 */
export function drawable({ data, layout, unit }) {
  const traces = data.map(({ models, tokens, bytes, contexts, ...looks }) => ({
    ...looks,
    y: bytes.map((count) => Number(count) / unit),
    customdata: bytes.map((count, i) => {
      /** @type {[string, number, string, string]} */
      const said = [models[i], tokens[i], count, exactBytes(count)];
      return /** @type {Said} */ (contexts ? [...said, contexts[i]] : said);
    }),
  }));
  const { yaxis } = layout;
  const isLog = typeof yaxis === "object" && yaxis !== null && "type" in yaxis && yaxis.type === "log";
  return { data: traces, layout: { ...layout, yaxis: isLog ? { ...yaxis, range: decades(traces) } : yaxis } };
}

/**
 * Whole powers of ten around all heights, as powers; undefined where nothing has a height. While a slider moves,
 * the axis so stands still and the lines move; and plotly, which measures the words of an axis that changes, has
 * nothing to measure.
 *
 * @param {Drawn[]} traces
 */
function decades(traces) {
  const heights = traces.flatMap(({ y }) => y).filter((height) => height > 0);
  if (!heights.length) return undefined;
  const lowest = Math.floor(Math.log10(Math.min(...heights)));
  return [lowest, Math.max(lowest + 1, Math.ceil(Math.log10(Math.max(...heights))))];
}

/**
 * Models with a bar beyond their own context.
 *
 * @param {Drawn[]} data
 * @returns {[string, number][]} model and context
 */
export function beyondContext(data) {
  /** @type {Map<string, number>} */
  const found = new Map();
  for (const [model, , , , context] of data.flatMap(({ customdata }) => customdata))
    if (context) found.set(model, context);
  return [...found];
}

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
 * A piece of the line or of the ground that a trace is drawn with.
 *
 * @param {Look} look
 */
function sample({ line, marker }) {
  const picture = svg("svg", {
    width: WIDTH,
    height: HEIGHT,
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    "aria-hidden": "true",
  });
  if (line) {
    const { color, width, dash } = line;
    picture.append(
      svg("path", { d: `M0 7H${WIDTH}`, stroke: color, "stroke-width": width, "stroke-dasharray": DASHES[dash] }),
    );
  } else if (marker) {
    const { color, pattern } = marker;
    picture.append(svg("rect", { width: WIDTH, height: HEIGHT, fill: color }));
    if (pattern?.shape)
      picture.append(svg("path", { d: PATTERNS[pattern.shape], stroke: pattern.fgcolor, "stroke-width": 2 }));
  }
  return picture;
}

/**
 * One entry for each named trace, a stack's from its top.
 *
 * @param {Look[]} data plotly's traces
 * @param {import("../../types.d.ts").Glass} glass
 * @returns {HTMLElement[]}
 */
export function entriesOf(data, glass) {
  const named = data.filter(({ name }) => name);
  const looks = dressed(
    named.map(({ name, line, marker }) => ({ name, line, marker })),
    ink().colour,
    glass.text,
  );
  const entries = looks.map((trace) => h("span.gp-sample", null, sample(trace), h("span", null, trace.name ?? "")));
  return looks[0]?.marker ? entries.reverse() : entries;
}
