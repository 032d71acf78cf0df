// A chart's figure with its points: heights and what is said of each, from the exact bytes that the server counted.

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
 * The figure with heights from 0 to its largest, which is told, so that its axes are the same whether its points
 * are drawn or are to be guessed, and `covered` leaves them out.
 *
 * @param {ReturnType<typeof drawable>} figure
 * @param {boolean} covered
 */
export function inLesson({ data, layout }, covered) {
  const { yaxis } = layout;
  const range = [0, 1.1 * Math.max(...data.flatMap(({ y }) => y))];
  const isOpen = typeof yaxis === "object" && yaxis !== null && !("range" in yaxis);
  const shown = covered ? data.map((trace) => ({ ...trace, x: [], y: [], customdata: [] })) : data;
  return { data: shown, layout: { ...layout, yaxis: isOpen ? { ...yaxis, range } : yaxis } };
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
