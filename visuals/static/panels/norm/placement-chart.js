// The stream through depth under several placements: how long it is, and how much of its beginning is left.

import { fit, ink, write } from "../../draw.js";
import { axes, chartIn, path, rule, spread, xAt, yOf } from "../../plot.js";
import { apart } from "./depth.js";

/**
 * @typedef {import("../../readings/norm-placement.js").PlacementReading} PlacementReading
 *
 * @typedef {{ name: string; values: ArrayLike<number>; role: string; dash: number[]; width: number }} Line
 */

const [HIGH, LEFT, RIGHT, TOP, BELOW] = [280, 56, 122, 30, 46];
const FLOOR = 1e-12; // what is less is drawn no lower
/** How each placement is drawn: what is not normalised in the stream's hue. */
const LOOKS = {
  pre: { role: "residual", dash: [], width: 3 },
  sandwich: { role: "residual", dash: [7, 4], width: 2 },
  post: { role: "norm", dash: [], width: 3 },
  deep: { role: "norm", dash: [7, 4], width: 2 },
  branch: { role: "output", dash: [2, 3], width: 2 },
};

/** @type {(steps: number, width: number, low: number, high: number) => import("../../plot.js").Chart} */
const chartOf = (steps, width, low, high) =>
  chartIn([width, HIGH], [LEFT, RIGHT, TOP, BELOW], { low: 0, high: steps }, { low, high, log: true });

/**
 * The placements that differ in a chart, those that do not under one name.
 *
 * @param {PlacementReading} reading
 * @param {"lengths" | "kept"} what
 * @param {(name: string) => string} text
 * @returns {Line[]}
 */
function linesOf({ chains }, what, text) {
  const names = /** @type {(keyof typeof LOOKS)[]} */ (
    what === "lengths" ? ["pre", "sandwich", "post"] : ["pre", "post", "deep", "branch"]
  );
  return names.map((name) => ({ name: text(`line_${what}_${name}`), values: chains[name][what], ...LOOKS[name] }));
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {PlacementReading} reading
 * @param {{ what: "lengths" | "kept"; per: number; layer: number; text: (name: string) => string }} how `per`:
 *   branches of a layer
 */
export function drawPlacement(canvas, width, reading, { what, per, layer, text }) {
  const context = fit(canvas, width, HIGH);
  const lines = linesOf(reading, what, text);
  const every = lines.flatMap(({ values }) => Array.from(values)).filter((value) => value > FLOOR);
  const steps = reading.answer.layers.length;
  const chart = chartOf(steps, width, Math.min(...every) / 1.3, Math.max(...every) * 1.3);
  const xTicks = spread(steps / per + 1, Math.max(3, chart.width / 50)).map((at) => per * at);
  axes(context, chart, {
    xTicks,
    xText: (v) => String(v / per),
    xName: text("depth_axis"),
    yName: text(`scale_${what}`),
  });
  const { colour } = ink();
  rule(context, chart, { x: per * (layer + 1), colour: colour("line"), width: 2 });
  for (const { values, dash, role, width: thick } of lines) {
    const points = Array.from(values, (value, i) => /** @type {[number, number]} */ ([i, Math.max(value, FLOOR / 10)]));
    path(context, chart, points, { colour: colour(role), dash, width: thick });
  }
  const labels = lines.flatMap(({ values, name, role }) => {
    const y = yOf(chart, Math.max(values[values.length - 1], chart.y.low));
    return name.split("\n").map((line) => ({ y, name: line, role })); // `apart` keeps a name's lines in order
  });
  for (const { y, name, role } of apart(labels))
    write(context, name, LEFT + chart.width + 8, y, { base: "middle", colour: colour(role), most: RIGHT - 8 });
}

/** @type {(width: number, steps: number, per: number, x: number) => number} the layer at a point of the chart */
export const layerAt = (width, steps, per, x) =>
  Math.max(0, Math.min(steps / per - 1, Math.ceil(xAt(chartOf(steps, width, 1, 10), x) / per) - 1));
