// The SiLU curve with the gates of one token on it.

import { silu } from "../../compute.js";
import { fit, ink, write } from "../../draw.js";
import { chartIn, path, rule, xOf, yOf } from "../../plot.js";

const [HIGH, EDGE] = [290, 28];

/** Half the width of the gate axis: the next even number above the largest gate, at least 4. */
export const reachOf = (gates) => Math.max(4, 2 * Math.ceil(gates.reduce((a, b) => Math.max(a, Math.abs(b)), 0) / 2));

/**
 * @param {HTMLCanvasElement} canvas @param {ArrayLike<number>} gates @param {number} chosen the selected neuron's gate
 * @param {number} wide
 */
export function drawCurve(canvas, gates, chosen, wide) {
  const context = fit(canvas, wide, HIGH);
  const { colour } = ink();
  const reach = reachOf(gates);
  const chart = chartIn([wide, HIGH], [EDGE, EDGE, EDGE, EDGE], { low: -reach, high: reach }, { low: Math.min(-0.5, -reach / 12), high: reach });
  const [x, y] = [(gate) => xOf(chart, gate), (value) => yOf(chart, value)];
  rule(context, chart, { x: 0, y: 0, colour: colour("line") });
  path(context, chart, Array.from({ length: 121 }, (_, i) => (reach * (i - 60)) / 60).map((gate) => [gate, silu(gate)]), { colour: colour("muted"), width: 1.5 });
  context.fillStyle = colour("gate");
  context.globalAlpha = 0.45;
  for (const gate of gates) context.fillRect(x(gate) - 2, y(silu(gate)) - 2, 4, 4);
  context.globalAlpha = 1;
  context.strokeStyle = colour("text");
  context.lineWidth = 2;
  context.beginPath();
  context.arc(x(chosen), y(silu(chosen)), 6, 0, 2 * Math.PI);
  context.fill();
  context.stroke();
  const muted = colour("muted");
  for (const gate of [-reach, reach]) write(context, String(gate).replace("-", "−"), x(gate), y(0) + 18, { align: "center", colour: muted });
  write(context, "0", x(0) + 8, y(0) + 18, { colour: muted });
  write(context, "SiLU(gate)", x(0) - 8, 14, { align: "right", weight: 600, colour: colour("gate") });
  write(context, "gate", x(reach), y(0) - 8, { align: "right", weight: 600, colour: colour("gate") });
  write(context, `${reach}`, x(0) - 6, y(reach) + 16, { align: "right", colour: muted });
}
