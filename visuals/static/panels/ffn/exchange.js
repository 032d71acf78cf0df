// All-to-all: tokens of each device on the left, the experts that compute for them in the middle, back on the right;
// a band for each pair of devices, as wide as the choices that pass.

import { fit, ink, write } from "../../draw.js";

const [HIGH, BOX, TOP, GAP] = [280, 92, 30, 14];
const ROLES = ["q", "k", "v", "up"]; // a hue for each device

/**
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {number[][]} sent from device to device
 * @param {string[]} inside what each device's experts are called
 * @param {(name: string, params?: Record<string, unknown>) => string} text
 */
export function drawExchange(canvas, width, sent, inside, text) {
  const context = fit(canvas, width, HIGH);
  const { colour } = ink();
  const count = sent.length;
  const total = sent.flat().reduce((sum, x) => sum + x, 0) || 1;
  const scale = (HIGH - TOP - (count - 1) * GAP) / total;
  const box = Math.min(BOX, width / 4.5);
  const columns = [0, (width - box) / 2, width - box];
  const leaving = sent.map((row) => row.reduce((sum, x) => sum + x, 0));
  const coming = sent.map((_, to) => sent.reduce((sum, row) => sum + row[to], 0));
  /** @param {number[]} sizes */
  const tops = (sizes) => sizes.map((_, i) => TOP + sizes.slice(0, i).reduce((sum, x) => sum + x * scale + GAP, 0));
  const [starts, middles] = [tops(leaving), tops(coming)];
  /** @type {(x0: number, y0: number, x1: number, y1: number, high: number, hue: string) => void} */
  function band(x0, y0, x1, y1, high, hue) {
    const bend = (x0 + x1) / 2;
    context.beginPath();
    context.moveTo(x0, y0);
    context.bezierCurveTo(bend, y0, bend, y1, x1, y1);
    context.lineTo(x1, y1 + high);
    context.bezierCurveTo(bend, y1 + high, bend, y0 + high, x0, y0 + high);
    context.closePath();
    context.globalAlpha = 0.35;
    context.fillStyle = hue;
    context.fill();
    context.globalAlpha = 1;
  }
  const [out, back] = [[...starts], [...middles]];
  sent.forEach((row, from) =>
    row.forEach((many, to) => {
      const high = many * scale;
      if (!high) return;
      const hue = colour(ROLES[from]);
      band(columns[0] + box, out[from], columns[1], back[to], high, hue);
      band(columns[1] + box, back[to], columns[2], out[from], high, hue);
      if (high > 15) {
        const beside = { base: /** @type {const} */ ("middle"), colour: colour("text"), size: 13 };
        write(context, String(many), columns[0] + box + 6, out[from] + high / 2, beside);
        write(context, String(many), columns[2] - 6, out[from] + high / 2, { ...beside, align: "right" });
      }
      out[from] += high;
      back[to] += high;
    }),
  );
  ["scatter", "compute", "gather"].forEach((name, i) => {
    const middle = columns[i] + box / 2;
    write(context, text(`step_${name}`), i === 0 ? 0 : i === 2 ? width : middle, 14, {
      align: i === 0 ? "left" : i === 2 ? "right" : "center",
      weight: 600,
    });
    const [sizes, top] = i === 1 ? [coming, middles] : [leaving, starts];
    sizes.forEach((size, device) => {
      const high = Math.max(2, size * scale);
      context.fillStyle = colour(ROLES[device]);
      context.fillRect(columns[i], top[device], box, high);
      const name0 = i === 1 ? inside[device] : text("device", { device });
      if (high < 20) return;
      const how = { align: /** @type {const} */ ("center"), colour: colour("card"), most: box - 6, size: 13 };
      write(context, name0, middle, top[device] + high / 2 + (high > 40 ? -4 : 5), how);
      if (high > 40) write(context, String(size), middle, top[device] + high / 2 + 14, how);
    });
  });
}
