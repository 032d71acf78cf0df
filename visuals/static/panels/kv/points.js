// A chart's figure with its points: heights and what is said of each, from the exact bytes that the server counted.

import { exactBytes } from "./format.js";

/**
 * The traces as plotly takes them. customdata of a point: model, tokens, exact bytes as text, and with separators;
 * where the trace has `contexts`, also the model's own context if the point is beyond it, else null.
 * @param {{ data: object[], layout: object, unit: number }} figure of visuals/kv_charts.py
 */
export function drawable({ data, layout, unit }) {
  const traces = data.map(({ models, tokens, bytes, contexts, ...looks }) => ({
    ...looks,
    y: bytes.map((count) => Number(count) / unit),
    customdata: bytes.map((count, i) => [models[i], tokens[i], count, exactBytes(count), ...(contexts ? [contexts[i]] : [])]),
  }));
  const yaxis = layout.yaxis?.type === "log" ? { ...layout.yaxis, range: decades(traces) } : layout.yaxis;
  return { data: traces, layout: { ...layout, yaxis } };
}

/**
 * Whole powers of ten around all heights, as powers; undefined where nothing has a height. While a slider moves, the axis
 * so stands still and the lines move; and plotly, which measures the words of an axis that changes, has nothing to measure.
 */
function decades(traces) {
  const heights = traces.flatMap(({ y }) => y).filter((height) => height > 0);
  if (!heights.length) return undefined;
  const lowest = Math.floor(Math.log10(Math.min(...heights)));
  return [lowest, Math.max(lowest + 1, Math.ceil(Math.log10(Math.max(...heights))))];
}

/** Models with a bar beyond their own context. @returns {[string, number][]} model and context */
export function beyondContext(data) {
  const points = data.flatMap(({ customdata }) => customdata.filter((point) => point[4]));
  return [...new Map(points.map(([model, , , , context]) => [model, context]))];
}
