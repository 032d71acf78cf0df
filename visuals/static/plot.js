// Axes and lines of small charts: where values lie, ticks that are easy to read, and a line through them.

import { RAISED } from "./dom.js";
import { ink, inside, pixelRatio, write } from "./draw.js";
import { decimalsIn } from "./equation.js";

/** @type {Record<string, string>} */
const POWERS = RAISED;

/**
 * @typedef {{ low: number; high: number; log?: boolean }} Range a logarithmic one is above 0
 *
 * @typedef {{ left: number; top: number; width: number; height: number; x: Range; y: Range }} Chart
 */

/**
 * Where a value lies in a range: 0 at its lower end, 1 at its upper one.
 *
 * @param {Range} range
 * @param {number} value
 */
const place = ({ low, high, log }, value) =>
  log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);

/**
 * A chart on a canvas.
 *
 * @param {[number, number]} size of the canvas
 * @param {[number, number, number, number]} edges left, right, top and below
 * @param {Range} x
 * @param {Range} y
 * @returns {Chart}
 */
export const chartIn = ([width, high], [left, right, top, below], x, y) => ({
  left,
  top,
  width: width - left - right,
  height: high - top - below,
  x,
  y,
});

/**
 * A range with room beyond both ends, so much of what lies between.
 *
 * @param {number} low
 * @param {number} high
 * @param {number} share
 * @returns {Range}
 */
export function roomy(low, high, share) {
  const spare = (high - low || 1) * share;
  return { low: low - spare, high: high + spare };
}

/**
 * Indices at equal distances from 0 on, of which there is room for so many.
 *
 * @param {number} count
 * @param {number} most
 * @returns {number[]}
 */
export function spread(count, most) {
  const step = Math.max(1, Math.ceil(count / most));
  return Array.from({ length: Math.ceil(count / step) }, (_, i) => i * step);
}

/**
 * Where a value of the x axis lies, in pixels.
 *
 * @param {Chart} chart
 * @param {number} value
 */
export const xOf = (chart, value) => chart.left + place(chart.x, value) * chart.width;
/**
 * Where a value of the y axis lies, in pixels.
 *
 * @param {Chart} chart
 * @param {number} value
 */
export const yOf = (chart, value) => chart.top + chart.height - place(chart.y, value) * chart.height;

/**
 * The value at a pixel of the x axis, inside its range.
 *
 * @param {Chart} chart
 * @param {number} pixel
 * @returns {number}
 */
export function xAt({ left, width, x: { low, high, log } }, pixel) {
  const share = Math.max(0, Math.min(1, (pixel - left) / width));
  return log ? low * (high / low) ** share : low + share * (high - low);
}

/**
 * Round numbers within a range: 1, 2 or 5 × 10ⁿ apart, or on a logarithmic one 1, 2, 5 or powers of ten.
 *
 * @param {Range} range
 * @param {number} [most] about how many
 * @returns {number[]}
 */
export function ticks({ low, high, log }, most = 6) {
  if (log) {
    const decades = Math.log10(high / low);
    const [steps, every] = decades <= 2 ? [[1, 2, 5], 1] : [[1], Math.ceil(decades / most)];
    const first = Math.floor(Math.log10(low));
    const powers = Array.from({ length: Math.ceil(decades) + 2 }, (_, i) => first + i).filter((p) => p % every === 0);
    const found = powers.flatMap((power) => steps.map((step) => Number(`${step}e${power}`)));
    return found.filter((tick) => tick >= low * 0.9999 && tick <= high * 1.0001);
  }
  const rough = (high - low) / most;
  const power = Math.floor(Math.log10(rough));
  const steps = [1, 2, 5, 10].map((m) => m * 10 ** power);
  const at = steps.findIndex((step) => step >= rough * 0.9999);
  const found = multiples(steps[at], low, high);
  return found.length > 1 || at === 0 ? found : multiples(steps[at - 1], low, high); // one tick alone tells no scale
}

/**
 * The ticks of a chart's x axis that are whole numbers.
 *
 * @param {Chart} chart
 */
export const wholeTicks = (chart) => acrossTicks(chart).filter(Number.isInteger);
/** @param {Chart} chart */
const acrossTicks = ({ x, width }) => ticks(x, Math.max(2, Math.floor(width / 90)));

/**
 * The multiples of a number within a range.
 *
 * @param {number} step
 * @param {number} low
 * @param {number} high
 */
function multiples(step, low, high) {
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, i) => (first + i) * step);
}

const THOUSANDS = /(?<=^-?\d+)(?=(?:\d{3})+(?:\.|$))/g;
/** A number as the page writes it: 4,000 and −5. @param {string} digits */
const grouped = (digits) => digits.replace(THOUSANDS, ",").replace("-", "−");

/**
 * A tick's text: plain where that is short, else a power of ten.
 *
 * @param {number} value
 */
export function tickText(value) {
  const rounded = Number(value.toPrecision(6));
  const size = Math.abs(rounded);
  if (rounded === 0 || (size >= 1e-3 && size < 1e4)) return grouped(String(rounded));
  const [mantissa, power] = rounded.toExponential().split("e");
  const raised = [...power.replace("+", "")].map((c) => POWERS[c]).join("");
  return `${mantissa === "1" ? "" : `${mantissa.replace("-", "−")}×`}10${raised}`;
}

const POWER = new RegExp(`[${Object.values(POWERS).join("")}]`);
/**
 * The texts of an axis' ticks, all of one number of decimals; each as it is alone where the axis is logarithmic or
 * one is a power of ten.
 *
 * @param {number[]} values
 * @param {Partial<Range>} [range]
 * @returns {string[]}
 */
export function tickTexts(values, { log } = {}) {
  const texts = values.map(tickText);
  if (log || texts.some((text) => POWER.test(text))) return texts;
  const most = Math.max(0, ...texts.map(decimalsIn));
  return values.map((value) => grouped(value.toFixed(most)));
}

/**
 * The frame: grid lines at the ticks of both axes, with their texts. Leave 26 px under the chart, 44 px more for a
 * name.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Chart} chart
 * @param {{
 *   xTicks?: number[];
 *   yTicks?: number[];
 *   xText?: (v: number) => string;
 *   xName?: string;
 *   yName?: string;
 * }} how
 */
export function axes(context, chart, { xTicks, yTicks, xText, xName, yName } = {}) {
  const { colour } = ink();
  const { left, top, width, height } = chart;
  const [muted, grid] = [colour("muted"), colour("grid")];
  context.lineWidth = 1;
  context.strokeStyle = grid;
  let free = -Infinity;
  const end = context.canvas.width / pixelRatio();
  const across = xTicks ?? acrossTicks(chart);
  const xTexts = xText ? across.map(xText) : tickTexts(across, chart.x);
  for (const [i, tick] of across.entries()) {
    const x = Math.round(xOf(chart, tick)) + 0.5;
    line(context, x, top, x, top + height);
    const text = xTexts[i];
    const half = context.measureText(text).width / 2 + 4;
    if (x - half < free) continue;
    free = x + half;
    write(context, text, Math.min(x, end - half + 4), top + height + 18, { align: "center", colour: muted });
  }
  const up = yTicks ?? ticks(chart.y, Math.max(2, Math.floor(height / 34)));
  const yTexts = tickTexts(up, chart.y);
  for (const [i, tick] of up.entries()) {
    const y = Math.round(yOf(chart, tick)) + 0.5;
    line(context, left, y, left + width, y);
    write(context, yTexts[i], left - 6, y, { align: "right", base: "middle", colour: muted });
  }
  if (xName) write(context, xName, left + width, top + height + 38, { align: "right", colour: muted, most: width });
  if (yName) write(context, yName, 0, top - 14, { colour: muted, most: left + width }); // clear of a tick at the top
}

/**
 * Grid lines across at heights in pixels, each with its text at the left.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {number} left
 * @param {number} right
 * @param {[number, string, string?][]} found height, text, and hue of the line
 */
export function levels(context, left, right, found) {
  const colour = ink().colour("muted");
  context.lineWidth = 1;
  for (const [high, text, hue = "grid"] of found) {
    const y = Math.round(high) + 0.5;
    context.strokeStyle = ink().colour(hue);
    line(context, left, y, right, y);
    write(context, text, left - 8, y, { align: "right", base: "middle", colour });
  }
}

/**
 * The layers' numbers under an axis, as far as there is room.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {number} layers how many
 * @param {number} middle of layer 0
 * @param {number} apart pixels from one layer to the next
 * @param {number} y the texts' base line
 */
export function layerNumbers(context, layers, middle, apart, y) {
  const how = { align: /** @type {const} */ ("center"), colour: ink().colour("muted") };
  for (let layer = 0; layer < layers; layer += Math.ceil(26 / apart))
    write(context, String(layer), middle + layer * apart, y, how);
}

/**
 * A line from (x0, y0) to (x1, y1).
 *
 * @param {CanvasRenderingContext2D} context
 * @param {number} x0
 * @param {number} y0
 * @param {number} x1
 * @param {number} y1
 */
function line(context, x0, y0, x1, y1) {
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
}

/**
 * A straight line across the chart at a value of x or of y.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Chart} chart
 * @param {{ x?: number; y?: number; colour: string; dash?: number[]; width?: number }} how
 */
export function rule(context, chart, { x, y, colour, dash = [], width = 1 }) {
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.setLineDash(dash);
  if (x !== undefined) line(context, xOf(chart, x), chart.top, xOf(chart, x), chart.top + chart.height);
  if (y !== undefined) line(context, chart.left, yOf(chart, y), chart.left + chart.width, yOf(chart, y));
  context.setLineDash([]);
}

/**
 * A line through points (x, y), cut to the chart.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Chart} chart
 * @param {[number, number][]} points
 * @param {{ colour: string; width?: number; dash?: number[] }} how
 */
export function path(context, chart, points, { colour, width = 2, dash = [] }) {
  inside(context, chart.left - 2, chart.top - 2, chart.width + 4, chart.height + 4, () => {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.lineJoin = "round";
    context.setLineDash(dash);
    context.beginPath();
    for (const [x, y] of points) context.lineTo(xOf(chart, x), yOf(chart, y));
    context.stroke();
  });
}

/**
 * A filled dot with an edge that shows on any line.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Chart} chart
 * @param {number} x
 * @param {number} y
 * @param {string} colour
 * @param {number} [radius]
 */
export function dot(context, chart, x, y, colour, radius = 5) {
  context.beginPath();
  context.arc(xOf(chart, x), yOf(chart, y), radius, 0, 2 * Math.PI);
  context.fillStyle = colour;
  context.fill();
  context.strokeStyle = ink().colour("card");
  context.lineWidth = 1.5;
  context.stroke();
}
