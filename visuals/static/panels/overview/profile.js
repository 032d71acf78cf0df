// One token's way through the layers: how long its stream is, how long what each sub-layer adds is, and where that
// points.

import { shown } from "../../dom.js";
import { ink, write } from "../../draw.js";
import { createSurface } from "../../marks/surface.js";
import { sublayers } from "../../parts.js";
import { layerNumbers, levels, ticks, tickText } from "../../plot.js";

const [LEFT, RIGHT, TOP, HIGH, GAP, LOW, BELOW] = [64, 8, 28, 180, 40, 90, 48];
export const HUES = { attn: "v", cross: "k", ffn: "gate" };

/** Rows of the panel in the order of the network: what writes in layer 0, in layer 1, … */
export const partAt = (row, model) => ({
  part: sublayers(model)[row % sublayers(model).length],
  layer: Math.floor(row / sublayers(model).length),
});
export const rowOf = ({ part, layer }, model) =>
  sublayers(model).length * layer + Math.max(0, sublayers(model).indexOf(part));

const top = TOP + HIGH + GAP; // of the cosines
const cosineY = (cosine) => top + ((1 - cosine) / 2) * LOW;
const normY =
  ({ low, high }) =>
  (x) =>
    TOP + ((high - Math.log10(x)) / (high - low)) * HIGH;

/** Titles, grids and layer numbers: the same for every token, so that a hover writes no text again. */
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

/** Norms as dots for what is added (a bar has no foot on such a scale), a line for the stream before it and after. */
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

/** Cosines from −1 to 1, as bars from 0. */
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
 * @param {Iterable<number>[]} norms
 */
export function rangeOf(...norms) {
  let [low, high] = [Infinity, -Infinity];
  for (const values of norms) {
    for (const x of values) if (x > 0) [low, high] = [Math.min(low, Math.log10(x)), Math.max(high, Math.log10(x))];
  }
  return { low: low - 0.1, high: high + 0.05 };
}

/** @param {HTMLCanvasElement} canvas */
export function createProfile(canvas) {
  const surface = createSurface(canvas);
  /**
   * @param {{ low: number; high: number }} range
   * @param {{ part: string; norm: number; cosine: number }[]} added in the order of the network
   * @param {number[]} stream the stream's norm before each of them, and after the last
   * @param {{ norms: string; cosines: string; axis: string; per: number }} words, and how many parts a layer has
   */
  return function draw(width, range, added, stream, selected, words) {
    const size = { width, range, count: added.length, slot: (width - LEFT - RIGHT) / added.length };
    const ground = (context) => drawGround(context, size, words);
    const over = (context) => {
      drawNorms(context, size, added, stream);
      drawCosines(context, size, added);
    };
    const under = (context) => {
      context.fillStyle = ink().colour("raised");
      context.fillRect(LEFT + selected * size.slot, TOP, size.slot, HIGH + GAP + LOW);
    };
    surface([range, added.length, ...Object.values(words)], width, top + LOW + BELOW, ground, over, under);
  };
}

/** @returns {number | null} which sub-layer is at x */
export function rowAt(x, width, count) {
  const row = Math.floor(((x - LEFT) / (width - LEFT - RIGHT)) * count);
  return row >= 0 && row < count ? row : null;
}

/**
 * The numbers of one place of the answer "stream".
 *
 * @returns {{ norm; cosine; before; after: number }} cosine: NaN where what is added, or the stream, is 0
 */
export function placeOf(answer, { part, layer }, token) {
  const [, tokens] = answer.resid.shape;
  const at = layer * tokens + token;
  const [from, to] = [answer.resid.data[at], answer.resid.data[at + tokens]];
  // Side by side, both parts read the same stream and are added at once: there is nothing between them.
  const stream = (name) => answer[name]?.data[at];
  const before = { attn: from, cross: stream("resid_cross"), ffn: stream("resid_mid") ?? from }[part];
  const after = { attn: stream("resid_cross") ?? stream("resid_mid") ?? to, cross: stream("resid_mid"), ffn: to }[part];
  return { norm: answer[`${part}_out`].data[at], cosine: answer[`${part}_cosine`].data[at], before, after };
}

/** For reading a length: more digits than a bar can show. */
export const lengthText = (x) => shown(x, 5);
