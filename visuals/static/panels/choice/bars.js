// The parts of one logit as bars from left to right, with their running sum: embedding, then attention and FFN of each layer.

import { watcher } from "../../dom.js";
import { fit, ink, write } from "../../draw.js";
import { ticks, tickTexts } from "../../plot.js";

const [LEFT, RIGHT, TOP, BELOW, HIGH] = [64, 8, 8, 52, 240];
export const HUES = { embedding: "residual", attention: "v", ffn: "gate" };

/** The values that bars and running sums span. @param {number[][]} tokens the parts of each token, in order */
export function spanOf(tokens) {
  let [low, high] = [0, 0];
  for (const parts of tokens) {
    let sum = 0;
    for (const part of parts) {
      sum += part;
      [low, high] = [Math.min(low, part, sum), Math.max(high, part, sum)];
    }
  }
  return { low, high, span: high - low || 1 };
}

/** Where everything is, for a width. */
function measure({ low, high, span }, count, width) {
  const slot = (width - LEFT - RIGHT) / count;
  return { low, high, span, slot, width, count, yOf: (value) => TOP + ((high - value) / span) * HIGH };
}

function drawGrid(context, { low, high, yOf, width }) {
  const { colour } = ink();
  const levels = ticks({ low, high });
  const texts = tickTexts(levels);
  for (const [i, level] of levels.entries()) {
    const y = Math.round(yOf(level)) + 0.5;
    context.strokeStyle = colour(level === 0 ? "muted" : "grid");
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(LEFT, y);
    context.lineTo(width - RIGHT, y);
    context.stroke();
    write(context, texts[i], LEFT - 8, y, { align: "right", base: "middle", colour: colour("muted") });
  }
}

/** The running sum, as steps. */
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

/** Grid, numbers and layers: the same for every token, so that a hover writes no text again. */
function drawGround(context, size, words) {
  const { slot, width, count } = size;
  drawGrid(context, size);
  const y = TOP + HIGH + 20;
  const muted = { align: "center", colour: ink().colour("muted") };
  const apart = Math.ceil(26 / (2 * slot));
  for (let layer = 0; 2 * layer + 1 < count; layer += apart) {
    write(context, String(layer), LEFT + (2 * layer + 2) * slot, y, muted);
  }
  write(context, words.first, LEFT + slot / 2, y, { ...muted, align: slot > 44 ? "center" : "right" });
  write(context, words.axis, width - RIGHT, y + 22, { ...muted, align: "right" });
}

/** @param {HTMLCanvasElement} canvas */
export function createBars(canvas) {
  const ground = document.createElement("canvas");
  const anew = watcher();
  const all = TOP + HIGH + BELOW;

  /**
   * @param {any[]} key what the ground depends on @param {{ low, high, span: number }} span of all tokens: one scale
   * @param {{ kind: string, layer: number|null, value: number }[]} parts @param {number} selected which of them
   * @param {{ first: string, axis: string }} words
   */
  return function draw(key, width, span, parts, selected, words) {
    const size = measure(span, parts.length, width);
    if (anew(width, ...key)) drawGround(fit(ground, width, all), size, words);
    const { slot, yOf } = size;
    const { colour } = ink();
    const context = fit(canvas, width, all);
    context.fillStyle = colour("raised");
    context.fillRect(LEFT + selected * slot, TOP, slot, HIGH);
    context.drawImage(ground, 0, 0, width, all);
    parts.forEach(({ kind, value }, i) => {
      context.fillStyle = colour(HUES[kind]);
      const [from, to] = [yOf(Math.max(0, value)), yOf(Math.min(0, value))];
      context.fillRect(LEFT + (i + 0.14) * slot, from, slot * 0.72, Math.max(1, to - from));
    });
    drawSums(context, size, parts);
  };
}

/** @returns {number|null} which bar is at x */
export function barAt(x, width, count) {
  const index = Math.floor(((x - LEFT) / (width - LEFT - RIGHT)) * count);
  return index >= 0 && index < count ? index : null;
}
