// The chart through depth: what every norm divides by, and the magnitudes of the run's largest channels.

import { fit, ink, write } from "../../draw.js";
import { axes, chartIn, dot, path, rule, spread, xAt, xOf, yOf } from "../../plot.js";
import { centres } from "../../parts.js";
import { indexOf, normAt, normCount, perLayer } from "../../readings/norm-places.js";

const [HIGH, LEFT, RIGHT, TOP, BELOW] = [300, 56, 140, 30, 46];
const [END, APART] = [26, 26]; // px from the end of a line to its name; from one shape of a line to the next
export const LINES = 3; // channels that are drawn
/**
 * What a channel's line looks like: its shape tells it from the others where colour and dash do not.
 *
 * @type {{ shape: Shape; dash: number[]; role: string }[]}
 */
export const LOOKS = [
  { shape: "disc", dash: [], role: "text" },
  { shape: "square", dash: [8, 4], role: "residual" },
  { shape: "triangle", dash: [3, 3], role: "accent" },
];

/**
 * @typedef {import("../../types.d.ts").Model} Model
 *
 * @typedef {import("../../readings/norm-places.js").NormName} NormName
 *
 * @typedef {import("../../decoded.d.ts").Detail<"norm_depth">} Depth
 *
 * @typedef {[number, number]} Point
 *
 * @typedef {"disc" | "square" | "triangle"} Shape
 *
 * @typedef {object} Line
 * @property {Point[]} points
 * @property {string} name
 * @property {number[]} dash
 * @property {string} role
 * @property {Shape} [shape] on the line, in some places
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
 * @template {{ y: number }} Label
 * @param {Label[]} labels
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
  const lines = linesOf(model, token, divisors, depth, text);
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
  for (const line of lines) drawLine(context, chart, line);
  const labels = lines.map((line) => ({
    ...line,
    y: yOf(chart, Math.max(line.points[line.points.length - 1][1], chart.y.low)),
  }));
  for (const label of apart(labels)) nameLine(context, LEFT + chart.width + END, label);
  dot(context, chart, at, divisors[at], ink().colour("norm"), 6);
}

/**
 * The lines: the channels that are largest, the median of all, and what every norm divides by.
 *
 * @param {Model} model
 * @param {number} token
 * @param {ArrayLike<number>} divisors
 * @param {Depth | null} depth
 * @param {import("../../types.d.ts").Say} text
 * @returns {Line[]}
 */
function linesOf(model, token, divisors, depth, text) {
  const per = perLayer(model);
  /** @type {Line} */
  const norm = {
    points: Array.from(divisors, (value, i) => /** @type {Point} */ ([i, value])),
    name: centres(model) ? "σ" : "RMS",
    dash: [],
    role: "norm",
  };
  if (!depth) return [norm];
  const channels = depth.channels.slice(0, LINES).map((channel, i) => ({
    points: channelPoints(depth, token, i, per),
    name: text("line", { channel }),
    ...LOOKS[i],
  }));
  const median = { points: medianPoints(depth, token, per), name: text("median"), dash: [1, 4], role: "muted" };
  return [...channels, median, norm];
}

/** @type {Record<Shape, (context: CanvasRenderingContext2D, x: number, y: number) => void>} */
const SHAPES = {
  disc: (context, x, y) => context.arc(x, y, 4, 0, 2 * Math.PI),
  square: (context, x, y) => context.rect(x - 3.5, y - 3.5, 7, 7),
  triangle(context, x, y) {
    context.moveTo(x, y - 5);
    context.lineTo(x + 5, y + 4);
    context.lineTo(x - 5, y + 4);
  },
};

/** @type {(context: CanvasRenderingContext2D, line: Line, x: number, y: number) => void} */
function drawShape(context, { shape, role }, x, y) {
  if (!shape) return;
  context.fillStyle = ink().colour(role);
  context.beginPath();
  SHAPES[shape](context, x, y);
  context.fill();
}

/** @type {(line: Line) => { colour: string; dash: number[]; width: number }} */
const strokeOf = ({ role, dash }) => ({ colour: ink().colour(role), dash, width: role === "norm" ? 3 : 1.5 });

/**
 * @param {CanvasRenderingContext2D} context
 * @param {import("../../plot.js").Chart} chart
 * @param {Line} line
 */
function drawLine(context, chart, line) {
  const points = line.points.filter(([, value]) => value > 0);
  path(context, chart, points, strokeOf(line));
  let last = -Infinity;
  for (const [at, value] of points) {
    const x = xOf(chart, at);
    if (x - last < APART) continue;
    drawShape(context, line, x, yOf(chart, value));
    last = x;
  }
}

/**
 * A line's name with its shape, apart from the points of the chart.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {number} left
 * @param {Line & { y: number }} line
 */
function nameLine(context, left, line) {
  const { colour } = strokeOf(line);
  drawShape(context, line, left + 5, line.y);
  write(context, line.name, left + 14, line.y, { base: "middle", colour, most: RIGHT - END - 16 });
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
