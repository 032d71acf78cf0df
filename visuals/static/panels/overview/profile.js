// One token's way through the layers: how long its stream is, how long what each sub-layer adds is, and where that points.

import { shown } from "../../dom.js";
import { fit, ink, write } from "../../draw.js";

const [LEFT, RIGHT, TOP, HIGH, GAP, LOW, BELOW] = [64, 8, 28, 180, 40, 90, 48];
export const HUES = { attn: "v", ffn: "gate" };

/** Rows of the panel in the order of the network: attention and FFN of layer 0, of layer 1, … */
export const partAt = (row) => ({ part: row % 2 ? "ffn" : "attn", layer: Math.floor(row / 2) });
export const rowOf = ({ part, layer }) => 2 * layer + (part === "ffn" ? 1 : 0);

function line(context, y, width, hue = "grid") {
  context.strokeStyle = ink().colour(hue);
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(LEFT, Math.round(y) + 0.5);
  context.lineTo(width - RIGHT, Math.round(y) + 0.5);
  context.stroke();
}

/** Powers of ten, and 2 and 5 times those where there are few. */
function logTicks(low, high) {
  const steps = high - low > 3 ? [1] : high - low > 1.2 ? [1, 3] : [1, 2, 5];
  const ticks = [];
  for (let power = Math.floor(low); power <= high; power++) {
    for (const step of steps) {
      const value = power + Math.log10(step);
      if (value >= low && value <= high) ticks.push([value, String(Number((step * 10 ** power).toPrecision(1)))]);
    }
  }
  return ticks;
}

/** Norms, logarithmic: dots for what is added (a bar has no foot on such a scale), a line for the stream before it and after. */
function drawNorms(context, { slot, width }, added, stream) {
  const logs = [...added.map(({ norm }) => norm), ...stream].map((x) => Math.log10(Math.max(x, 1e-12)));
  const [low, high] = [Math.min(...logs) - 0.1, Math.max(...logs) + 0.05];
  const yOf = (x) => TOP + ((high - Math.log10(Math.max(x, 1e-12))) / (high - low)) * HIGH;
  const { colour } = ink();
  for (const [value, label] of logTicks(low, high)) {
    const y = yOf(10 ** value);
    line(context, y, width);
    write(context, label, LEFT - 8, y, { align: "right", base: "middle", colour: colour("muted") });
  }
  const radius = Math.max(2.5, Math.min(6, slot * 0.3));
  added.forEach(({ part, norm }, i) => {
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
function drawCosines(context, { slot, width }, added) {
  const top = TOP + HIGH + GAP;
  const yOf = (cosine) => top + ((1 - cosine) / 2) * LOW;
  const { colour } = ink();
  for (const [value, label] of [[1, "1"], [0, "0"], [-1, "−1"]]) {
    line(context, yOf(value), width, value === 0 ? "muted" : "grid");
    write(context, label, LEFT - 8, yOf(value), { align: "right", base: "middle", colour: colour("muted") });
  }
  added.forEach(({ part, cosine }, i) => {
    context.fillStyle = colour(HUES[part]);
    const [from, to] = [yOf(Math.max(0, cosine)), yOf(Math.min(0, cosine))];
    context.fillRect(LEFT + (i + 0.18) * slot, from, slot * 0.64, Math.max(1, to - from));
  });
}

/**
 * @param {{ part: string, norm: number, cosine: number }[]} added in the order of the network
 * @param {number[]} stream the stream's norm before each of them, and after the last
 * @param {{ norms: string, cosines: string, axis: string }} words
 */
export function drawProfile(canvas, width, added, stream, selected, words) {
  const context = fit(canvas, width, TOP + HIGH + GAP + LOW + BELOW);
  const size = { width, slot: (width - LEFT - RIGHT) / added.length };
  const { colour } = ink();
  context.fillStyle = colour("raised");
  context.fillRect(LEFT + selected * size.slot, TOP, size.slot, HIGH + GAP + LOW);
  write(context, words.norms, 0, 16, { weight: 600, most: width });
  write(context, words.cosines, 0, TOP + HIGH + GAP - 14, { weight: 600, most: width });
  drawNorms(context, size, added, stream);
  drawCosines(context, size, added);
  const apart = Math.ceil(26 / (2 * size.slot));
  const y = TOP + HIGH + GAP + LOW + 20;
  for (let layer = 0; 2 * layer < added.length; layer += apart) {
    write(context, String(layer), LEFT + (2 * layer + 1) * size.slot, y, { align: "center", colour: colour("muted") });
  }
  write(context, words.axis, width - RIGHT, y + 20, { align: "right", colour: colour("muted") });
}

/** @returns {number|null} which sub-layer is at x */
export function rowAt(x, width, count) {
  const row = Math.floor(((x - LEFT) / (width - LEFT - RIGHT)) * count);
  return row >= 0 && row < count ? row : null;
}

/** The numbers of one place of the answer "stream". @returns {{ norm, cosine, before, after: number }} */
export function placeOf(answer, { part, layer }, token) {
  const [, tokens] = answer.resid.shape;
  const at = layer * tokens + token;
  const streams = part === "attn" ? [answer.resid.data[at], answer.resid_mid.data[at]] : [answer.resid_mid.data[at], answer.resid.data[at + tokens]];
  return { norm: answer[`${part}_out`].data[at], cosine: answer[`${part}_cosine`].data[at], before: streams[0], after: streams[1] };
}

/** For reading a length: more digits than a bar can show. */
export const lengthText = (x) => shown(x, 5);
