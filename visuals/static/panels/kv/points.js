// A chart's figure with its points: heights and what is said of each, from the exact bytes that the server counted.

import { exactBytes } from "./format.js";

/**
 * The traces as plotly takes them. customdata of a point: model, tokens, exact bytes as text, and with separators.
 * @param {{ data: object[], layout: object, unit: number }} figure of visuals/kv_charts.py
 */
export function drawable({ data, layout, unit }) {
  const traces = data.map(({ models, tokens, bytes, ...looks }) => ({
    ...looks,
    y: bytes.map((count) => Number(count) / unit),
    customdata: bytes.map((count, i) => [models[i], tokens[i], count, exactBytes(count)]),
  }));
  return { data: traces, layout };
}
