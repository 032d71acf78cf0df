// The activation's curve with what it reads at one token on it: the gates, or up where there is no gate.

import { ACTIVATIONS } from "../../activations.js";
import { fit, ink, write } from "../../draw.js";

const [HIGH, EDGE] = [290, 28];

/** Half the width of the axis: the next even number above the largest that is read, at least 4. */
export const reachOf = (gates) => Math.max(4, 2 * Math.ceil(gates.reduce((a, b) => Math.max(a, Math.abs(b)), 0) / 2));

/**
 * @param {HTMLCanvasElement} canvas @param {ArrayLike<number>} gates what the activation reads @param {number} chosen of the selected neuron
 * @param {number} wide @param {string} activation one of compute.js's @param {import("./kinds.js").Kind} kind
 */
export function drawCurve(canvas, gates, chosen, wide, activation, { act, reads }) {
  const bend = ACTIVATIONS[activation];
  const context = fit(canvas, wide, HIGH);
  const { colour } = ink();
  const hue = colour(reads);
  const reach = reachOf(gates);
  const x = (gate) => EDGE + ((gate + reach) / (2 * reach)) * (wide - 2 * EDGE);
  const low = Math.min(-0.5, -reach / 12);
  const y = (value) => HIGH - EDGE - ((value - low) / (reach - low)) * (HIGH - 2 * EDGE);
  context.strokeStyle = colour("line");
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(x(-reach), y(0));
  context.lineTo(x(reach), y(0));
  context.moveTo(x(0), y(low));
  context.lineTo(x(0), y(reach));
  context.stroke();
  context.strokeStyle = colour("muted");
  context.lineWidth = 1.5;
  context.beginPath();
  for (let i = 0; i <= 120; i++) {
    const gate = -reach + (2 * reach * i) / 120;
    context.lineTo(x(gate), y(bend(gate)));
  }
  context.stroke();
  context.fillStyle = hue;
  context.globalAlpha = 0.45;
  for (const gate of gates) context.fillRect(x(gate) - 2, y(bend(gate)) - 2, 4, 4);
  context.globalAlpha = 1;
  context.strokeStyle = colour("text");
  context.lineWidth = 2;
  context.beginPath();
  context.arc(x(chosen), y(bend(chosen)), 6, 0, 2 * Math.PI);
  context.fill();
  context.stroke();
  const muted = colour("muted");
  write(context, `−${reach}`, x(-reach), y(0) + 18, { align: "center", colour: muted });
  write(context, "0", x(0) + 8, y(0) + 18, { colour: muted });
  write(context, `${reach}`, x(reach), y(0) + 18, { align: "center", colour: muted });
  write(context, `${act}(${reads})`, x(0) - 8, 14, { align: "right", weight: 600, colour: hue });
  write(context, reads, x(reach), y(0) - 8, { align: "right", weight: 600, colour: hue });
  write(context, `${reach}`, x(0) - 6, y(reach) + 16, { align: "right", colour: muted });
}
