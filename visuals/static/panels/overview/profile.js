// One token's way through the layers: how long its stream is, how long what each sub-layer adds is, and where that
// points.

import { shown } from "../../dom.js";
import { ink, write } from "../../draw.js";
import { createSurface } from "../../marks/surface.js";
import { layerNumbers, levels, ticks, tickText } from "../../plot.js";

/**
 * @typedef {import("../../readings/overview.js").Part} Part
 *
 * @typedef {import("../../readings/overview.js").Sublayer & import("../../readings/overview.js").Addition} Added
 *
 * @typedef {{ low: number; high: number }} Powers logarithms to base 10
 *
 * @typedef {{ norms: string; cosines: string; axis: string; per: number }} Words and how many parts a layer has
 *
 * @typedef {{ width: number; range: Powers; count: number; slot: number }} Size `slot`: the width of a sub-layer
 */

const [LEFT, RIGHT, TOP, HIGH, GAP, LOW, BELOW] = [64, 8, 28, 180, 40, 90, 48];
/** @type {Record<Part, string>} */
export const HUES = { attn: "v", cross: "k", ffn: "gate" };

const top = TOP + HIGH + GAP; // of the cosines
/** @param {number} cosine */
const cosineY = (cosine) => top + ((1 - cosine) / 2) * LOW;
/**
 * @param {Powers} range
 * @returns {(norm: number) => number}
 */
const normY =
  ({ low, high }) =>
  (norm) =>
    TOP + ((high - Math.log10(norm)) / (high - low)) * HIGH;

/**
 * Titles, grids and layer numbers: the same for every token, so that a hover writes no text again.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Size} size
 * @param {Words} words
 */
function drawGround(context, { width, slot, count, range }, words) {
  write(context, words.norms, 0, 16, { weight: 600, most: width });
  write(context, words.cosines, 0, top - 14, { weight: 600, most: width });
  /** @type {[number, string][]} */
  const lengths = ticks({ low: 10 ** range.low, high: 10 ** range.high, log: true }).map((value) => [
    normY(range)(value),
    tickText(value),
  ]);
  levels(context, LEFT, width - RIGHT, [
    ...lengths,
    [cosineY(1), "1"],
    [cosineY(0), "0", "muted"],
    [cosineY(-1), "−1"],
  ]);
  const y = top + LOW + 20;
  layerNumbers(context, count / words.per, LEFT + (words.per / 2) * slot, words.per * slot, y);
  write(context, words.axis, width - RIGHT, y + 20, { align: "right", colour: ink().colour("muted") });
}

/**
 * Norms as dots for what is added (a bar has no foot on such a scale), a line for the stream before it and after.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Size} size
 * @param {Added[]} added
 * @param {number[]} stream
 */
function drawNorms(context, { slot, range }, added, stream) {
  const yOf = normY(range);
  const { colour } = ink();
  const radius = Math.max(2.5, Math.min(6, slot * 0.3));
  added.forEach(({ part, norm }, i) => {
    if (norm === 0) return; // has no place on such a scale
    context.fillStyle = colour(HUES[part]);
    context.beginPath();
    context.arc(LEFT + (i + 0.5) * slot, yOf(norm), radius, 0, 2 * Math.PI);
    context.fill();
  });
  context.strokeStyle = colour("residual");
  context.lineWidth = 3;
  context.beginPath();
  stream.forEach((norm, i) => context.lineTo(LEFT + i * slot, yOf(norm)));
  context.stroke();
}

/**
 * Cosines from −1 to 1, as bars from 0.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Size} size
 * @param {Added[]} added
 */
function drawCosines(context, { slot }, added) {
  const { colour } = ink();
  added.forEach(({ part, cosine }, i) => {
    if (Number.isNaN(cosine)) return; // of a zero vector
    context.fillStyle = colour(HUES[part]);
    const [from, to] = [cosineY(Math.max(0, cosine)), cosineY(Math.min(0, cosine))];
    context.fillRect(LEFT + (i + 0.18) * slot, from, slot * 0.64, Math.max(1, to - from));
  });
}

/**
 * The logarithms that all norms of a run but 0 span, so that every token is drawn to one scale.
 *
 * @param {...Iterable<number>} norms
 * @returns {Powers}
 */
export function rangeOf(...norms) {
  let [low, high] = [Infinity, -Infinity];
  for (const values of norms) {
    for (const x of values) if (x > 0) [low, high] = [Math.min(low, Math.log10(x)), Math.max(high, Math.log10(x))];
  }
  return { low: low - 0.1, high: high + 0.05 };
}

/**
 * A token's way through the layers, drawn on a canvas.
 *
 * @param {HTMLCanvasElement} canvas
 */
export function createProfile(canvas) {
  const surface = createSurface(canvas);
  /**
   * @param {number} width
   * @param {Powers} range
   * @param {Added[]} added in the order of the network
   * @param {number[]} stream the stream's norm before each of them, and after the last
   * @param {number} selected which of them
   * @param {Words} words
   */
  return function draw(width, range, added, stream, selected, words) {
    const size = { width, range, count: added.length, slot: (width - LEFT - RIGHT) / added.length };
    /** @typedef {(context: CanvasRenderingContext2D) => void} Paint */
    /** @type {Paint} */
    const ground = (context) => drawGround(context, size, words);
    /** @type {Paint} */
    const over = (context) => {
      drawNorms(context, size, added, stream);
      drawCosines(context, size, added);
    };
    /** @type {Paint} */
    const under = (context) => {
      context.fillStyle = ink().colour("raised");
      context.fillRect(LEFT + selected * size.slot, TOP, size.slot, HIGH + GAP + LOW);
    };
    surface([range, added.length, ...Object.values(words)], width, top + LOW + BELOW, ground, over, under);
  };
}

/**
 * Which sub-layer is at x; null for none.
 *
 * @param {number} x
 * @param {number} width of the drawing
 * @param {number} count how many there are
 */
export function rowAt(x, width, count) {
  const row = Math.floor(((x - LEFT) / (width - LEFT - RIGHT)) * count);
  return row >= 0 && row < count ? row : null;
}

/**
 * For reading a length: more digits than a bar can show.
 *
 * @param {number} x
 */
export const lengthText = (x) => shown(x, 5);
