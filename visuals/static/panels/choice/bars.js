// The parts of one logit as bars from left to right, with their running sum: embedding, then attention and FFN of each layer.

import { shown } from "../../dom.js";
import { fit, ink, write } from "../../draw.js";

const [LEFT, RIGHT, TOP, BELOW, HIGH] = [64, 8, 8, 52, 240];
export const HUES = { embedding: "residual", attention: "v", ffn: "gate" };

/** Steps of 1, 2 or 5 × 10ⁿ that part a span into at most `most`. */
function step(span, most) {
  const raw = span / most;
  const power = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 5, 10].map((m) => m * power).find((size) => size >= raw);
}

/** Where everything is, for a width. @param {number[]} parts in order */
function measure(parts, width) {
  let [low, high, sum] = [0, 0, 0];
  const sums = parts.map((part) => (sum += part));
  for (const value of [...parts, ...sums]) [low, high] = [Math.min(low, value), Math.max(high, value)];
  const span = high - low || 1;
  const slot = (width - LEFT - RIGHT) / parts.length;
  const yOf = (value) => TOP + ((high - value) / span) * HIGH;
  return { low, high, span, sums, slot, yOf, width };
}

function drawGrid(context, { low, high, span, yOf, width }) {
  const { colour } = ink();
  const by = step(span, 6);
  for (let n = Math.ceil(low / by); n * by <= high; n++) {
    const y = Math.round(yOf(n * by)) + 0.5;
    context.strokeStyle = colour(n === 0 ? "muted" : "grid");
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(LEFT, y);
    context.lineTo(width - RIGHT, y);
    context.stroke();
    write(context, shown(n * by, Math.abs(n * by) < 100 ? 2 : 3), LEFT - 8, y, { align: "right", base: "middle", colour: colour("muted") });
  }
}

/** The running sum, as steps. */
function drawSums(context, { sums, slot, yOf }) {
  context.strokeStyle = ink().colour("output");
  context.lineWidth = 2;
  context.beginPath();
  sums.forEach((sum, i) => {
    context.lineTo(LEFT + i * slot, yOf(sum));
    context.lineTo(LEFT + (i + 1) * slot, yOf(sum));
  });
  context.stroke();
}

/**
 * @param {{ kind: string, layer: number|null, value: number }[]} parts @param {number} selected which of them
 * @param {{ first: string, axis: string }} words
 */
export function drawBars(canvas, width, parts, selected, words) {
  const context = fit(canvas, width, TOP + HIGH + BELOW);
  const size = measure(parts.map(({ value }) => value), width);
  const { slot, yOf } = size;
  const { colour } = ink();
  context.fillStyle = colour("raised");
  context.fillRect(LEFT + selected * slot, TOP, slot, HIGH);
  drawGrid(context, size);
  parts.forEach(({ kind, value }, i) => {
    context.fillStyle = colour(HUES[kind]);
    const [from, to] = [yOf(Math.max(0, value)), yOf(Math.min(0, value))];
    context.fillRect(LEFT + (i + 0.14) * slot, from, slot * 0.72, Math.max(1, to - from));
  });
  drawSums(context, size);
  const y = TOP + HIGH + 20;
  const muted = { align: "center", colour: colour("muted") };
  const apart = Math.ceil(26 / (2 * slot));
  for (let layer = 0; 2 * layer + 1 < parts.length; layer += apart) {
    write(context, String(layer), LEFT + (2 * layer + 2) * slot, y, muted);
  }
  write(context, words.first, LEFT + slot / 2, y, { ...muted, align: slot > 44 ? "center" : "right" });
  write(context, words.axis, width - RIGHT, y + 22, { ...muted, align: "right" });
}

/** @returns {number|null} which bar is at x */
export function barAt(x, width, count) {
  const index = Math.floor(((x - LEFT) / (width - LEFT - RIGHT)) * count);
  return index >= 0 && index < count ? index : null;
}
