// Charts of the score: what each pair adds, over its wavelength; and q·k over the distance.

import { count as asCount, h } from "../../dom.js";
import { chartHeight, cross, fitChart, ink, write } from "../../draw.js";
import { axes, chartIn, dot, path, roomy, rule, spread, wholeTicks, xAt, xOf, yOf } from "../../plot.js";
import { pointAt } from "../../pointed.js";
import { across, bindPointer, bindArrowKeys } from "../../pointing.js";
import { pairsOf, wavelength } from "../../rotation.js";
import { inGroups } from "../../readings/turning.js";
import { shownIn } from "../../run-for.js";

const [LEFT, RIGHT] = [60, 12];
const [BARS, WAVES, TALL] = [200, 130, 456];
const [ABOVE, FAR_ABOVE] = [150, 40]; // px of what stands above a chart with its note, where the room is low
const HEAD = 28; // px over the bars, for their names
const AXIS = 46; // px under a chart, for its axis and its name
const FAR = 300;
const WIDEST = 120; // a bar, where there are few pairs

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../plot.js").Chart} Chart
 *
 * @typedef {import("../../readings/turning.js").ByDistance} RunPairs
 *
 * @typedef {object} FarView q·k over distance
 * @property {Float64Array} curve of the chosen q and k
 * @property {{ values: Float64Array; colour: string; alpha: number }[]} [curves] others under it
 * @property {{ fast: Float64Array; slow: Float64Array; told: boolean }} [parts] of the curve, of which the scale
 *   has room; `told`: they are drawn over it
 * @property {RunPairs | null} run of all the run's pairs of this head
 * @property {number} real the distance in the run
 * @property {number} distance the chosen one
 * @property {number} [least] what the scale begins with, where no value is lower
 * @property {Say} text
 */

/** @param {number[]} values @returns {[number, number]} */
const extent = (values) => [Math.min(0, ...values), Math.max(0, ...values)];

/** @param {ArrayLike<number>} values */
function running(values) {
  let total = 0;
  return Array.from(values, (value) => (total += value));
}

/**
 * Charts of the pairs: bars above, wavelengths below, over one axis; where there is no room for both, the bars
 * alone.
 *
 * @param {number} width
 * @param {number} tall
 * @param {number} half
 * @param {[number, number]} heights
 * @param {[number, number]} waves
 */
function chartsOf(width, tall, half, [low, high], [short, long]) {
  const x = { low: -0.5, high: half - 0.5 };
  const y = roomy(low, high, 0.06);
  if (tall < TALL) return { bars: chartIn([width, tall], [LEFT, RIGHT, HEAD, AXIS], x, y), waves: null };
  return {
    bars: chartIn([width, HEAD + BARS], [LEFT, RIGHT, HEAD, 0], x, y),
    waves: chartIn([width, BARS + 74 + WAVES], [LEFT, RIGHT, BARS + 74, 0], x, { low: short, high: long, log: true }),
  };
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {{ here: Float64Array; moved: Float64Array }} terms of every pair, at the run's positions and moved
 * @param {{
 *   inv_freq: ArrayLike<number>;
 *   tokens: number;
 *   context: number;
 *   pair: number;
 *   covered: boolean;
 *   inLesson: boolean;
 *   text: Say;
 * }} how
 *   `covered`: what moving makes of them is not told yet; `inLesson`: the bars alone, none of them chosen
 */
export function drawPairs(canvas, width, { here, moved }, how) {
  const { inv_freq, tokens, context: trained, covered, inLesson, text } = how;
  const pair = inLesson ? -1 : how.pair;
  const { context, tall } = fitChart(canvas, width, inLesson ? HEAD + BARS + AXIS : TALL, ABOVE);
  const { colour } = ink();
  const sums = running(moved);
  const waves = Array.from(inv_freq, wavelength);
  const highest = Math.max(1.3 * Math.max(...waves), 4 * trained); // its line's name stands below the axis' own
  const heights = extent([...here, ...moved, ...(inLesson ? [] : sums)]);
  const { bars, waves: lower } = chartsOf(width, tall, inv_freq.length, heights, [
    Math.min(6, ...waves, tokens),
    highest,
  ]);
  const across = { xName: text("pairs"), xTicks: spread(inv_freq.length, Math.max(4, (width - LEFT) / 42)) };
  axes(context, bars, { yName: text("bars"), ...(lower ? { xTicks: [] } : across) });
  const wide = Math.max(2, Math.min(WIDEST, (bars.width / inv_freq.length) * 0.66));
  const zero = yOf(bars, 0);
  /** @type {(i: number, value: number) => [left: number, top: number, width: number, height: number]} */
  const bar = (i, value) => [
    xOf(bars, i) - wide / 2,
    Math.min(zero, yOf(bars, value)),
    wide,
    Math.abs(yOf(bars, value) - zero),
  ];
  markPair(context, lower ? [bars, lower] : [bars], pair);
  Array.from(moved, (value, i) => {
    context.fillStyle = colour("accent");
    context.globalAlpha = i === pair || inLesson ? 1 : 0.6;
    if (!covered) context.fillRect(...bar(i, value));
    context.globalAlpha = 1;
    cross(context, ...bar(i, here[i]), [["text", 1]]);
  });
  rule(context, bars, { y: 0, colour: colour("muted") });
  if (!covered && !inLesson) {
    path(
      context,
      bars,
      sums.map((value, i) => [i, value]),
      { colour: colour("text"), width: 2 },
    );
    dot(context, bars, sums.length - 1, sums[sums.length - 1], colour("text"), 5);
  }
  if (lower) drawWaves(context, lower, width, waves, { tokens, trained, pair, across, text });
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Chart} lower
 * @param {number} width
 * @param {number[]} waves
 * @param {object} how
 * @param {number} how.tokens
 * @param {number} how.trained
 * @param {number} how.pair
 * @param {Parameters<typeof axes>[2]} how.across
 * @param {Say} how.text
 */
function drawWaves(context, lower, width, waves, { tokens, trained, pair, across, text }) {
  const { colour } = ink();
  axes(context, lower, { ...across, yName: text("waves") });
  // The wavelengths rise from the left below to the right above: these corners are free. A name that is so wide that it
  // would meet them is set higher.
  const above = (/** @type {number} */ right) =>
    yOf(lower, waves[Math.max(0, Math.min(waves.length - 1, Math.ceil(xAt(lower, right))))]) - 8;
  /** @type {[number, string, "left" | "right", number][]} */
  const lines = [
    [tokens, text("run_length", { tokens }), "right", width - RIGHT - 4],
    [trained, text("context", { tokens: asCount(trained) }), "left", LEFT + 6],
  ];
  for (const [value, name, align, x] of lines) {
    rule(context, lower, { y: value, colour: colour("muted"), dash: [5, 4] });
    const y = yOf(lower, value) - 5;
    const free = align === "left" ? above(x + context.measureText(name).width) : y;
    write(context, name, x, Math.min(y, free), { align, colour: colour("muted") });
  }
  path(
    context,
    lower,
    waves.map((value, i) => [i, value]),
    { colour: colour("text"), width: 1 },
  );
  waves.forEach((value, i) =>
    dot(context, lower, i, value, colour(i === pair ? "accent" : "muted"), i === pair ? 6 : 3.5),
  );
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Chart[]} charts
 * @param {number} pair
 */
function markPair(context, charts, pair) {
  if (pair < 0) return;
  context.fillStyle = ink().colour("raised");
  for (const chart of charts) {
    const wide = chart.width / (chart.x.high - chart.x.low);
    context.fillRect(xOf(chart, pair - 0.5), chart.top, wide, chart.height);
  }
}

/**
 * Pointing at a pair of the charts, and the arrow keys.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {Glass} glass
 * @param {() => number} wide
 */
export function linkPairs(canvas, glass, wide) {
  bindPointer(canvas, glass, (x) => {
    const half = pairsOf(shownIn(glass).trace.model);
    const pair = Math.floor(((x - LEFT) / (wide() - LEFT - RIGHT)) * half);
    return pair >= 0 && pair < half ? { pair } : null;
  });
  bindArrowKeys(canvas, glass, across("pair"));
}

/** @type {(width: number, count: number, low: number, high: number) => Chart} */
const farChart = (width, count, low, high) =>
  chartIn(
    [width, chartHeight(FAR, FAR_ABOVE)],
    [LEFT, RIGHT, 30, AXIS],
    { low: 0, high: Math.max(1, count - 1) },
    roomy(low, high, 0.05),
  );

/**
 * In each pixel column the least and the largest value, from the last of the column before, so that no swing is
 * lost.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Chart} chart
 * @param {Float64Array} values
 * @param {{ colour: string; alpha?: number }} how
 */
function band(context, chart, values, { colour, alpha = 1 }) {
  const columns = Math.max(1, Math.floor(chart.width));
  if (values.length <= columns) {
    context.globalAlpha = alpha;
    path(
      context,
      chart,
      Array.from(values, (value, i) => /** @type {[number, number]} */ ([i, value])),
      { colour, width: 1.5 },
    );
    context.globalAlpha = 1;
    return;
  }
  context.fillStyle = colour;
  context.globalAlpha = alpha;
  for (let c = 0; c < columns; c++) {
    const [from, to] = [c, c + 1].map((at) => Math.floor((at / columns) * values.length));
    let [low, high] = [Infinity, -Infinity];
    for (let i = Math.max(0, from - 1); i < Math.max(to, from + 1); i++)
      [low, high] = [Math.min(low, values[i]), Math.max(high, values[i])];
    const top = yOf(chart, high);
    context.fillRect(chart.left + c, top, 1.2, Math.max(1.5, yOf(chart, low) - top));
  }
  context.globalAlpha = 1;
}

/**
 * A chart of q·k over distance, on which the pointer previews a distance and a click keeps it.
 *
 * @param {Glass} glass
 * @param {string} label the key of its name
 * @param {() => number} wide
 * @param {(distance: number) => void} keep
 */
export function createFar(glass, label, wide, keep) {
  const canvas = h("canvas.gp-canvas", { "data-text-label": label });
  let count = 1;
  const pointed = pointAt(canvas, glass, (x) => Math.round(xAt(farChart(wide(), count, 0, 1), x)), keep);
  /**
   * @param {number} width
   * @param {FarView} what
   */
  function draw(width, what) {
    count = what.curve.length;
    drawFar(canvas, width, what);
  }
  return { canvas, pointed, draw };
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {FarView} what
 */
function drawFar(canvas, width, { curve, run, real, distance, text, least = Infinity, curves = [], parts }) {
  const { context } = fitChart(canvas, width, FAR, FAR_ABOVE);
  const { colour } = ink();
  let [low, high] = [least, -Infinity];
  const ofParts = parts ? [parts.fast, parts.slow] : [];
  for (const values of [curve, ...ofParts, ...curves.map((c) => c.values), ...(run ? [run.low, run.high] : [])]) {
    for (const value of values.subarray(0, curve.length))
      if (Number.isFinite(value)) [low, high] = [Math.min(low, value), Math.max(high, value)];
  }
  const chart = farChart(width, curve.length, low, high);
  axes(context, chart, { xTicks: wholeTicks(chart), xName: text("distance_axis"), yName: text("far_axis") });
  rule(context, chart, { y: 0, colour: colour("muted") });
  if (run) drawRun(context, chart, run, colour("k"));
  for (const other of curves) band(context, chart, other.values, other);
  if (parts) return drawParts(context, chart, curve, parts);
  band(context, chart, curve, { colour: colour("accent") });
  if (distance >= 0 && distance < curve.length)
    rule(context, chart, { x: distance, colour: colour("text"), dash: [4, 3] });
  for (const [at, role, radius] of /** @type {[number, string, number][]} */ ([
    [real, "text", 4],
    [distance, "accent", 6],
  ])) {
    if (curve[at] !== undefined) dot(context, chart, at, curve[at], colour(role), radius);
  }
  return undefined;
}

/**
 * The curve in a lesson: alone, then pale under what its parts add.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Chart} chart
 * @param {Float64Array} curve
 * @param {NonNullable<FarView["parts"]>} parts
 */
function drawParts(context, chart, curve, { fast, slow, told }) {
  const { colour } = ink();
  band(context, chart, curve, { colour: colour("accent"), alpha: told ? 0.3 : 1 });
  if (!told) return;
  band(context, chart, fast, { colour: colour("up") });
  band(context, chart, slow, { colour: colour("norm") });
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Chart} chart
 * @param {RunPairs} run
 * @param {string} colour
 */
function drawRun(context, chart, run, colour) {
  const apart = xOf(chart, 1) - xOf(chart, 0);
  const size = groupSize(apart);
  for (const { from, to, mean, low, high } of inGroups(run, size)) {
    if (from > chart.x.high || !Number.isFinite(low)) continue;
    const wide = Math.max(1.5, Math.min(size > 1 ? Infinity : 8, apart * (to - from + 1) * 0.7));
    const x = xOf(chart, (from + to) / 2) - wide / 2;
    context.fillStyle = colour;
    context.globalAlpha = 0.28;
    context.fillRect(x, yOf(chart, high), wide, Math.max(1, yOf(chart, low) - yOf(chart, high)));
    context.globalAlpha = 1;
    context.fillRect(x, yOf(chart, mean) - 1.5, wide, 3);
  }
}

const APART = 6; // px from bar to bar, or they run into each other

/**
 * How many neighbouring distances share a bar.
 *
 * @param {number} apart px from one distance to the next
 */
function groupSize(apart) {
  const least = APART / apart;
  for (let unit = 1; ; unit *= 10) for (const step of [1, 2, 5]) if (unit * step >= least) return unit * step;
}

/**
 * How many neighbouring distances share a bar of the run in a chart, in words; "" where each has its own.
 *
 * @param {Pick<Glass, "text">} glass
 * @param {number} width of the chart with its margins
 * @param {number} count of distances
 */
export function groupedText(glass, width, count) {
  const chart = farChart(width, count, 0, 1);
  const size = groupSize(xOf(chart, 1) - xOf(chart, 0));
  return size > 1 ? glass.text("rope-score.far_grouped", { size }) : "";
}
