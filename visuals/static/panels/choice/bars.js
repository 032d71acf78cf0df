// The parts of one logit as bars from left to right, with their running sum: embedding, then what writes in each layer.

import { ink, write } from "../../draw.js";
import { createSurface } from "../../marks/surface.js";
import { layerNumbers, levels, ticks, tickTexts } from "../../plot.js";

/**
 * @typedef {import("../../readings/contributions.js").Kind} Kind
 *
 * @typedef {import("../../readings/contributions.js").Part} Part
 *
 * @typedef {{ low: number; high: number; span: number }} Span
 *
 * @typedef {Span & { slot: number; width: number; count: number; yOf: (value: number) => number }} Size in pixels
 *   to draw in: `slot` of a bar's place
 *
 * @typedef {{ first: string; axis: string; high: string; per: number }} Words `high`: what the bars' height is;
 *   `per`: how many parts a layer has
 */

const [LEFT, RIGHT, TOP, BELOW, HIGH] = [64, 8, 32, 52, 240];
/** @type {Record<Kind, string>} */
export const HUES = { embedding: "residual", attention: "v", cross: "k", ffn: "gate" };

/**
 * The values that bars and their running sum span.
 *
 * @param {Part[]} parts in order
 * @returns {Span}
 */
function spanOf(parts) {
  let [low, high, sum] = [0, 0, 0];
  for (const { value } of parts) {
    sum += value;
    [low, high] = [Math.min(low, value, sum), Math.max(high, value, sum)];
  }
  return { low, high, span: high - low || 1 };
}

/**
 * Where everything is, for a width.
 *
 * @param {Span} span
 * @param {number} count of parts
 * @param {number} width
 * @returns {Size}
 */
function measure({ low, high, span }, count, width) {
  const slot = (width - LEFT - RIGHT) / count;
  return { low, high, span, slot, width, count, yOf: (value) => TOP + ((high - value) / span) * HIGH };
}

/**
 * The running sum, as steps.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Size} size
 * @param {Part[]} parts
 */
function drawSums(context, { slot, yOf }, parts) {
  context.strokeStyle = ink().colour("output");
  context.lineWidth = 2;
  context.beginPath();
  let sum = 0;
  parts.forEach(({ value }, i) => {
    sum += value;
    context.lineTo(LEFT + i * slot, yOf(sum));
    context.lineTo(LEFT + (i + 1) * slot, yOf(sum));
  });
  context.stroke();
}

/**
 * Grid, numbers and layers: the same for every token, so that a hover writes no text again.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Size} size
 * @param {Words} words
 */
function drawGround(context, { low, high, yOf, slot, width, count }, words) {
  const found = ticks({ low, high });
  const texts = tickTexts(found);
  levels(
    context,
    LEFT,
    width - RIGHT,
    found.map((level, i) => [yOf(level), texts[i], level === 0 ? "muted" : "grid"]),
  );
  const y = TOP + HIGH + 20;
  const colour = ink().colour("muted");
  write(context, words.high, 0, 12, { colour });
  layerNumbers(context, (count - 1) / words.per, LEFT + (1 + words.per / 2) * slot, words.per * slot, y);
  write(context, words.first, LEFT + slot / 2, y, { colour, align: slot > 44 ? "center" : "right" });
  write(context, words.axis, width - RIGHT, y + 22, { colour, align: "right" });
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Size} size
 * @param {Part[]} parts
 */
function drawBars(context, { slot, yOf }, parts) {
  parts.forEach(({ kind, value }, i) => {
    context.fillStyle = ink().colour(HUES[kind]);
    const [from, to] = [yOf(Math.max(0, value)), yOf(Math.min(0, value))];
    context.fillRect(LEFT + (i + 0.14) * slot, from, slot * 0.72, Math.max(1, to - from));
  });
}

/** @param {HTMLCanvasElement} canvas */
export function createBars(canvas) {
  const surface = createSurface(canvas);
  /**
   * @param {number} width
   * @param {Part[]} parts
   * @param {number} selected which of them
   * @param {Words} words
   */
  return function draw(width, parts, selected, words) {
    const size = measure(spanOf(parts), parts.length, width);
    const ground = (/** @type {CanvasRenderingContext2D} */ context) => drawGround(context, size, words);
    const over = (/** @type {CanvasRenderingContext2D} */ context) => {
      drawBars(context, size, parts);
      drawSums(context, size, parts);
    };
    const under = (/** @type {CanvasRenderingContext2D} */ context) => {
      context.fillStyle = ink().colour("raised");
      context.fillRect(LEFT + selected * size.slot, TOP, size.slot, HIGH);
    };
    surface(
      [size.low, size.high, parts.length, ...Object.values(words)],
      width,
      TOP + HIGH + BELOW,
      ground,
      over,
      under,
    );
  };
}

/**
 * @param {number} x
 * @param {number} width
 * @param {number} count of bars
 * @returns {number | null} which bar is at x
 */
export function barAt(x, width, count) {
  const index = Math.floor(((x - LEFT) / (width - LEFT - RIGHT)) * count);
  return index >= 0 && index < count ? index : null;
}
