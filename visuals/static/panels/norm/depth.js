// The chart through depth: what every norm divides by, and the magnitudes of the run's largest channels.

import { fit, ink, write } from "../../draw.js";
import { axes, chartIn, dot, path, rule, spread, xAt, yOf } from "../../plot.js";
import { centres } from "../../parts.js";
import { indexOf, normAt, normCount, perLayer } from "../../readings/norm-places.js";

const [HIGH, LEFT, RIGHT, TOP, BELOW] = [300, 56, 100, 30, 46];
export const LINES = 3; // channels that are drawn
const DASHES = [[], [7, 4], [2, 3]];

/**
 * @typedef {import("../../types.d.ts").Model} Model
 *
 * @typedef {import("../../readings/norm-places.js").NormName} NormName
 *
 * @typedef {import("../../decoded.d.ts").Detail<"norm_depth">} Depth
 *
 * @typedef {[number, number]} Point
 */

/**
 * A channel's magnitude before each layer and after the last, as points of the chart: at every attention norm and
 * the final one.
 *
 * @param {Depth} depth
 * @param {number} token
 * @param {number} index of the channel in `depth`
 * @param {number} per norms of a layer
 * @returns {Point[]}
 */
function channelPoints({ values }, token, index, per) {
  const [levels, tokens, count] = values.shape;
  return Array.from({ length: levels }, (_, i) => [
    per * i,
    Math.abs(values.data[(i * tokens + token) * count + index]),
  ]);
}

/**
 * @param {Depth} depth
 * @param {number} token
 * @param {number} per norms of a layer
 * @returns {Point[]}
 */
const medianPoints = ({ median }, token, per) =>
  Array.from({ length: median.shape[0] }, (_, i) => [per * i, median.data[i * median.shape[1] + token]]);

/**
 * Labels at the lines' right ends, moved apart where they would overlap.
 *
 * @param {{ y: number; name: string; role: string }[]} labels
 */
export function apart(labels, step = 18) {
  labels.sort((a, b) => a.y - b.y);
  labels.forEach((label, i) => {
    if (i) label.y = Math.max(label.y, labels[i - 1].y + step);
  });
  return labels;
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {Model} model
 * @param {{ query: number; layer: number; norm: NormName }} selected
 * @param {ArrayLike<number>} divisors what every norm divides by
 * @param {Depth | null} depth the answer to norm_depth, if it has come
 * @param {import("../../types.d.ts").Say} text
 */
export function drawDepth(canvas, width, model, selected, divisors, depth, text) {
  const context = fit(canvas, width, HIGH);
  const per = perLayer(model);
  const token = selected.query;
  /** @type {{ points: Point[]; name: string; dash: number[]; role: string }[]} */
  const lines = [];
  depth?.channels.slice(0, LINES).forEach((channel, i) => {
    const points = channelPoints(depth, token, i, per);
    lines.push({ points, name: text("line", { channel }), dash: DASHES[i], role: "residual" });
  });
  if (depth)
    lines.push({ points: medianPoints(depth, token, per), name: text("median"), dash: [1, 4], role: "residual" });
  lines.push({
    points: Array.from(divisors, (value, i) => /** @type {Point} */ ([i, value])),
    name: centres(model) ? "σ" : "RMS",
    dash: [],
    role: "norm",
  });
  const every = lines.flatMap(({ points }) => points.map(([, value]) => value)).filter((value) => value > 0);
  const chart = chartOf(width, normCount(model) - 1, Math.min(...every) / 1.2, Math.max(...every) * 1.2);
  const xTicks = spread(model.n_layers, Math.max(3, chart.width / 60)).map((layer) => per * layer);
  axes(context, chart, {
    xTicks,
    xText: (v) => String(v / per),
    xName: text("depth_axis"),
    yName: text("depth_scale"),
  });
  const at = indexOf(selected, model);
  rule(context, chart, { x: at, colour: ink().colour("line"), width: 2 });
  for (const { points, dash, role } of lines) {
    path(
      context,
      chart,
      points.filter(([, value]) => value > 0),
      { colour: ink().colour(role), dash, width: role === "norm" ? 3 : 1.5 },
    );
  }
  const labels = lines.map(({ points, name, role }) => ({
    y: yOf(chart, Math.max(points[points.length - 1][1], chart.y.low)),
    name,
    role,
  }));
  for (const { y, name, role } of apart(labels)) {
    write(context, name, LEFT + chart.width + 8, y, { base: "middle", colour: ink().colour(role), most: RIGHT - 8 });
  }
  dot(context, chart, at, divisors[at], ink().colour("norm"), 6);
}

/**
 * @param {number} width
 * @param {number} last the index of the last norm
 * @param {number} low
 * @param {number} high
 */
const chartOf = (width, last, low, high) =>
  chartIn([width, HIGH], [LEFT, RIGHT, TOP, BELOW], { low: 0, high: last }, { low, high, log: true });

/**
 * The norm nearest to a point of the chart.
 *
 * @param {number} width
 * @param {Model} model
 * @param {number} x
 * @returns {{ layer: number; norm: NormName }} the final norm with the last layer
 */
export function findDepth(width, model, x) {
  const last = normCount(model) - 1;
  const { layer, norm } = normAt(Math.max(0, Math.min(last, Math.round(xAt(chartOf(width, last, 1, 10), x)))), model);
  return { layer: layer ?? model.n_layers - 1, norm };
}
