// The activation's curve with what it reads at one token on it: the gates, or up where there is no gate.

import { ACTIVATIONS } from "../../activations.js";
import { largest } from "../../arrays.js";
import { fit, ink, write } from "../../draw.js";
import { chartIn, path, rule, xOf, yOf } from "../../plot.js";

const [HIGH, EDGE] = [290, 28];

/**
 * Half the width of the axis: the next even number above the largest that is read, at least 4.
 *
 * @param {ArrayLike<number>} gates
 */
export const reachOf = (gates) => Math.max(4, 2 * Math.ceil(largest(gates) / 2));

/**
 * @param {HTMLCanvasElement} canvas
 * @param {ArrayLike<number>} gates what the activation reads
 * @param {number} chosen of the selected neuron
 * @param {number} wide
 * @param {import("../../readings/ffn-kinds.js").Kind} kind
 */
export function drawCurve(canvas, gates, chosen, wide, { activation, act, reads }) {
  const bend = ACTIVATIONS[activation];
  const context = fit(canvas, wide, HIGH);
  const { colour } = ink();
  const [hue, muted] = [colour(reads), colour("muted")];
  const reach = reachOf(gates);
  const chart = chartIn(
    [wide, HIGH],
    [EDGE, EDGE, EDGE, EDGE],
    { low: -reach, high: reach },
    { low: Math.min(-0.5, -reach / 12), high: reach },
  );
  const x = (/** @type {number} */ gate) => xOf(chart, gate);
  const y = (/** @type {number} */ value) => yOf(chart, value);
  rule(context, chart, { x: 0, y: 0, colour: colour("line") });
  const across = Array.from({ length: 121 }, (_, i) => -reach + (2 * reach * i) / 120);
  const points = across.map((gate) => /** @type {[number, number]} */ ([gate, bend(gate)]));
  path(context, chart, points, { colour: muted, width: 1.5 });
  context.fillStyle = hue;
  context.globalAlpha = 0.45;
  for (const gate of Array.from(gates)) context.fillRect(x(gate) - 2, y(bend(gate)) - 2, 4, 4);
  context.globalAlpha = 1;
  context.strokeStyle = colour("text");
  context.lineWidth = 2;
  context.beginPath();
  context.arc(x(chosen), y(bend(chosen)), 6, 0, 2 * Math.PI);
  context.fill();
  context.stroke();
  write(context, `−${reach}`, x(-reach), y(0) + 18, { align: "center", colour: muted });
  write(context, "0", x(0) + 8, y(0) + 18, { colour: muted });
  write(context, `${reach}`, x(reach), y(0) + 18, { align: "center", colour: muted });
  write(context, `${act}(${reads})`, x(0) - 8, 14, { align: "right", weight: 600, colour: hue });
  write(context, reads, x(reach), y(0) - 8, { align: "right", weight: 600, colour: hue });
  write(context, `${reach}`, x(0) - 6, y(reach) + 16, { align: "right", colour: muted });
}
