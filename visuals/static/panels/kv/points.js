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
  return { data: traces, layout };
}

/** Models with a bar beyond their own context. @returns {[string, number][]} model and context */
export function beyondContext(data) {
  const points = data.flatMap(({ customdata }) => customdata.filter((point) => point[4]));
  return [...new Map(points.map(([model, , , , context]) => [model, context]))];
}
