// Biases by distance as a chart: a curve for each head; learned ones in steps, under the buckets that they are of.

import { biasAt, bucketAt, spanSeen } from "../../compute.js";
import { fit, ink, textWidth, write } from "../../draw.js";
import { axes, chartIn, dot, path, roomy, rule, wholeTicks, xAt, xOf, yOf } from "../../plot.js";
import { distancesOf } from "../../readings/distance-bias.js";

const [HIGH, LEFT, RIGHT, TOP, BELOW] = [320, 62, 84, 30, 46];
const BUCKETS = 20; // px for their numbers, over the chart
const NEAR = 14; // pixels within which a curve is taken for the one that is pointed at

/**
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../types.d.ts").Shown} State
 *
 * @typedef {import("../../types.d.ts").Model} Model
 *
 * @typedef {import("../../plot.js").Chart} Chart
 */

/**
 * The biases of a network that has some.
 *
 * @param {Model} model
 */
const biasesOf = ({ parts: { bias } }) => /** @type {import("../../decoded.d.ts").NumArray} */ (bias);

/**
 * A head's bias at every distance of the run.
 *
 * @param {Model} model
 * @param {number} head
 * @returns {[number, number][]} distance and bias; of learned ones a step for each bucket
 */
function curveOf(model, head) {
  const steps = model.parts.buckets ? [-0.5, 0.5] : [0];
  /** @type {(distance: number, by: number) => [number, number]} */
  const point = (distance, by) => [distance + by, biasAt(model, head, distance)];
  return distancesOf(model).flatMap((distance) => steps.map((by) => point(distance, by)));
}

/**
 * @param {Model} model
 * @returns {{ bucket: number | null; from: number; to: number }[]} the buckets by the distances that share one, the
 *   least first
 */
function bucketRuns(model) {
  /** @type {ReturnType<typeof bucketRuns>} */
  const found = [];
  for (const distance of distancesOf(model)) {
    const bucket = bucketAt(model, distance);
    const last = found.at(-1);
    if (last?.bucket === bucket) last.to = distance;
    else found.push({ bucket, from: distance, to: distance });
  }
  return found;
}

/**
 * Scales for every distance of the run and every head's bias.
 *
 * @param {number} width
 * @param {Model} model
 */
function chartOf(width, model) {
  const { bias_after: after, buckets } = model.parts;
  const values = [...biasesOf(model).data, ...(after?.data ?? [])];
  const [low, high] = [values.reduce((a, b) => Math.min(a, b), 0), values.reduce((a, b) => Math.max(a, b), 0)];
  const distances = distancesOf(model);
  const x = buckets
    ? { low: distances[0] - 0.5, high: Math.max(1, distances[distances.length - 1]) + 0.5 }
    : { low: 0, high: Math.max(1, distances[distances.length - 1]) };
  return chartIn([width, HIGH], [LEFT, RIGHT, TOP + (buckets ? BUCKETS : 0), BELOW], x, roomy(low, high, 0.05));
}

/**
 * Where one bucket ends and the next begins, with the number of each that has room for it.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Chart} chart
 * @param {Model} model
 * @param {number} chosen
 */
function drawBuckets(context, chart, model, chosen) {
  const { colour } = ink();
  for (const { bucket, from, to } of bucketRuns(model)) {
    const [left, right] = [xOf(chart, from - 0.5), xOf(chart, to + 0.5)];
    if (from > chart.x.low + 0.5) rule(context, chart, { x: from - 0.5, colour: colour("grid") });
    if (bucket === chosen) {
      context.fillStyle = colour("raised");
      context.fillRect(left, chart.top - BUCKETS, right - left, BUCKETS);
    }
    if (textWidth(context, String(bucket)) > right - left) continue;
    write(context, String(bucket), (left + right) / 2, chart.top - 6, {
      align: "center",
      weight: bucket === chosen ? 700 : 400,
      colour: colour(bucket === chosen ? "accent" : "muted"),
    });
  }
}

/**
 * The chart's axes, the line of no bias, and the buckets where there are any.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Chart} chart
 * @param {Model} model
 * @param {{ bucket: number | null; width: number }} found
 * @param {Say} text of the panel
 */
function drawFrame(context, chart, model, { bucket, width }, text) {
  const { colour } = ink();
  axes(context, chart, {
    xTicks: wholeTicks(chart),
    xName: text("distance_axis"),
    ...(bucket === null && { yName: text("bias_axis") }),
  });
  if (bucket !== null) {
    write(context, text("bucket_axis"), 0, 16, { colour: colour("muted"), most: width });
    drawBuckets(context, chart, model, bucket);
  }
  rule(context, chart, { y: 0, colour: colour("muted") });
}

/**
 * Every head's curve, the chosen one's over the others, and how far keys lie from the query at most.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Chart} chart
 * @param {State} state
 * @param {Say} text of the panel
 */
function drawCurves(context, chart, { trace: { model, T }, head, query }, text) {
  const { colour } = ink();
  for (let other = 0; other < model.n_heads; other++) {
    if (other !== head) path(context, chart, curveOf(model, other), { colour: colour("muted"), width: 1.2 });
  }
  // Farther keys there are not for this query, on either side.
  for (const x of [query, ...(model.parts.bias_after ? [query - T + 1] : [])])
    rule(context, chart, { x, colour: colour("line"), dash: [4, 3] });
  const own = curveOf(model, head);
  path(context, chart, own, { colour: colour("accent"), width: 3 });
  write(context, text("head", { head }), xOf(chart, chart.x.high) + 8, yOf(chart, own[own.length - 1][1]), {
    base: "middle",
    weight: 600,
    colour: colour("accent"),
    most: RIGHT - 10,
  });
}

/**
 * The key at a point of the chart, and the head whose curve is near; null where the query sees no such key.
 *
 * @param {State} state
 * @param {{ x: number; y: number; width: number }} point in a chart of that width
 * @returns {{ key: number; head?: number } | null}
 */
export function selectionAt({ trace: { model, T }, query }, { x, y, width }) {
  const chart = chartOf(width, model);
  const distance = Math.round(xAt(chart, x));
  const key = query - distance;
  const [first, end] = spanSeen(model, query, T);
  if (key < first || key >= end) return null;
  const away = (/** @type {number} */ head) => Math.abs(yOf(chart, biasAt(model, head, distance)) - y);
  const [nearest] = Array.from({ length: model.n_heads }, (_, head) => head).sort((a, b) => away(a) - away(b));
  return { key, ...(away(nearest) < NEAR ? { head: nearest } : {}) };
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {State} state
 * @param {import("../../readings/distance-bias.js").BiasReading} reading
 * @param {Say} text of the panel
 */
export function drawBias(canvas, width, state, { distance, values, bucket }, text) {
  const { model } = state.trace;
  const context = fit(canvas, width, HIGH);
  const chart = chartOf(width, model);
  drawFrame(context, chart, model, { bucket, width }, text);
  drawCurves(context, chart, state, text);
  dot(context, chart, distance, values.bias, ink().colour("accent"), 6);
}
