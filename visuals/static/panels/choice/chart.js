// Two small curves by depth for one token: the probability of the token that is followed, and its rank.

import { ink, write } from "../../draw.js";
import { createSurface } from "../../marks/surface.js";
import { levels } from "../../plot.js";

const [LEFT, RIGHT, TOP, BELOW] = [64, 12, 40, 44];
const HIGH = 150;

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number[]} values
 * @param {(i: number) => number} xOf
 * @param {(value: number) => number} yOf
 * @param {string} hue
 * @param {number} selected
 */
function curve(context, values, xOf, yOf, hue, selected) {
  const { colour } = ink();
  context.strokeStyle = context.fillStyle = colour(hue);
  context.lineWidth = 2;
  context.beginPath();
  values.forEach((value, i) => context.lineTo(xOf(i), yOf(value)));
  context.stroke();
  values.forEach((value, i) => {
    context.beginPath();
    context.arc(xOf(i), yOf(value), i === selected ? 6 : 3, 0, 2 * Math.PI);
    context.fill();
  });
}

/**
 * @param {number} i which point
 * @param {number} count of points
 * @param {number} width
 */
const xOf = (i, count, width) => LEFT + 8 + (i / Math.max(1, count - 1)) * (width - LEFT - RIGHT - 16);

/**
 * The depths under the axis, where there is room for them.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {number} width
 * @param {number} count
 * @param {(i: number) => string} labels
 * @param {string} axis
 */
function depths(context, width, count, labels, axis) {
  const { colour } = ink();
  const apart = xOf(1, count, width) - xOf(0, count, width);
  const step = Math.ceil((context.measureText(labels(count - 1)).width + 10) / apart);
  let free = -Infinity;
  for (let i = 0; i < count; i++) {
    if (i && (i - 1) % step) continue; // the first stands for no layer
    const label = labels(i);
    const half = context.measureText(label).width / 2;
    // the first is a word: it gives way to the left, so that layer 0 has its number
    const room = i ? width : xOf(1, count, width) - 20;
    const left = Math.max(0, Math.min(xOf(i, count, width) - half, room - 2 * half));
    if (left < free) continue;
    free = left + 2 * half + 10;
    write(context, label, left, TOP + HIGH + 20, { colour: colour("muted") });
  }
  write(context, axis, width - RIGHT, TOP + HIGH + 40, { align: "right", colour: colour("muted") });
}

/** @param {HTMLCanvasElement} canvas */
export function createChart(canvas) {
  const surface = createSurface(canvas);
  /**
   * @param {number} width
   * @param {{
   *   values: number[];
   *   title: string;
   *   axis: string;
   *   ticks: [number, string][];
   *   y: (value: number) => number;
   *   hue: string;
   *   labels: (i: number) => string;
   *   selected: number;
   * }} chart
   *   `y` puts a value in 0 (below) … 1
   */
  return function draw(width, { values, title, axis, ticks, y, hue, labels, selected }) {
    const yOf = (/** @type {number} */ value) => TOP + (1 - y(value)) * HIGH;
    const ground = (/** @type {CanvasRenderingContext2D} */ context) => {
      levels(
        context,
        LEFT,
        width - RIGHT,
        ticks.map(([value, label]) => [yOf(value), label]),
      );
      depths(context, width, values.length, labels, axis);
    };
    surface([values.length, axis, ...ticks.flat()], width, TOP + HIGH + BELOW, ground, (context) => {
      write(context, title, 0, 16, { weight: 600, most: width });
      curve(context, values, (i) => xOf(i, values.length, width), yOf, hue, selected);
    });
  };
}

/**
 * The point of the chart nearest to x.
 *
 * @param {number} x
 * @param {number} width
 * @param {number} count how many points there are
 * @returns {number}
 */
export function pointAt(x, width, count) {
  const place = (x - LEFT - 8) / (width - LEFT - RIGHT - 16);
  return Math.max(0, Math.min(count - 1, Math.round(place * (count - 1))));
}

/**
 * The ranks on the axis: powers of ten, and the last one there is; those that would touch it are left out.
 *
 * @param {number} vocabulary how many ranks there are
 * @returns {number[]}
 */
export function rankTicks(vocabulary) {
  const powers = Array.from({ length: Math.ceil(Math.log10(vocabulary)) }, (_, i) => 10 ** i);
  return [...powers.filter((power) => power < vocabulary / 2), vocabulary];
}
