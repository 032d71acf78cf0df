// Four strips over one neuron axis: gate, SiLU(gate), up and their product. A hover moves the mark, not the strips.

import { poolColumns } from "../../compute.js";
import { shown } from "../../dom.js";
import { cells, centred, cross, enlarge, fit, ink, scaleBar, write } from "../../draw.js";
import { drawOff } from "../../off.js";

const [LABEL, STRIP, GAP, LEGEND] = [22, 26, 8, 40];
/** Name and role of each strip, from the top. */
export const STRIPS = [
  ["gate", "gate"],
  ["silu", "gate"],
  ["up", "up"],
  ["product", "output"],
];
const TALL = STRIPS.length * (LABEL + STRIP + GAP) + LEGEND;

const largest = (values) => values.reduce((a, b) => Math.max(a, Math.abs(b)), 0);

function drawStrip(context, top, width, values, columns) {
  const { colour, signed } = ink();
  const limit = largest(values);
  const image = cells(
    columns.map((neuron) => values[neuron]),
    columns.length,
    1,
    signed,
    (value) => centred(value, limit),
  );
  enlarge(context, image, 0, top + LABEL, width, STRIP);
  write(context, `±${shown(limit, 3)}`, width, top + 16, { align: "right", colour: colour("muted") });
  context.strokeStyle = colour("line");
  context.lineWidth = 1;
  context.strokeRect(0.5, top + LABEL + 0.5, width - 1, STRIP - 1);
}

/** @param {HTMLCanvasElement} canvas @param {Function} text */
export function createStrips(canvas, text) {
  const scene = document.createElement("canvas");
  let columns = []; // the neuron that each column shows

  /** The column that shows a neuron, or the one before it. */
  const columnOf = (neuron) => columns.reduce((best, shownThere, i) => (shownThere <= neuron ? i : best), 0);

  /** Draws over what of the products is not used. @param {number[]|null} off neurons; null: all of the layer */
  function drawUnused(context, width, off) {
    const top = (STRIPS.length - 1) * (LABEL + STRIP + GAP) + LABEL;
    if (off === null) return drawOff(context, 0, top, width, STRIP, text("off"));
    const wide = Math.max(3, width / columns.length);
    for (const neuron of off) drawOff(context, ((columnOf(neuron) + 0.5) * width) / columns.length - wide / 2, top, wide, STRIP);
  }

  /**
   * @param {object|null} full the token's vectors by name, or null while they are on their way
   * @param {number[]|null} off the layer's switched-off neurons; null where its whole FFN is off
   */
  function prepare(full, width, off = []) {
    columns = full ? poolColumns(full.product, Math.floor(width)) : [];
    const context = fit(scene, width, TALL);
    const { colour, signed } = ink();
    STRIPS.forEach(([name, role], i) => {
      const top = i * (LABEL + STRIP + GAP);
      write(context, text(name), 0, top + 16, { weight: 600, colour: colour(role) });
      if (full) return drawStrip(context, top, width, full[name], columns);
      context.fillStyle = colour("raised");
      context.fillRect(0, top + LABEL, width, STRIP);
    });
    if (full) drawUnused(context, width, off);
    const ticks = [
      [0, text("lowest")],
      [0.5, "0"],
      [1, text("highest")],
    ];
    scaleBar(context, 1, TALL - LEGEND, Math.min(260, width - 4), signed, ticks);
  }

  /** The strips with a mark at the chosen neuron's column. */
  function draw(width, chosen) {
    const context = fit(canvas, width, TALL);
    context.drawImage(scene, 0, 0, width, TALL);
    if (!columns.length) return;
    const x = ((columnOf(chosen) + 0.5) * width) / columns.length;
    context.fillStyle = ink().colour("text");
    STRIPS.forEach((_, i) => {
      const top = i * (LABEL + STRIP + GAP) + LABEL;
      context.fillRect(x - 0.75, top - 6, 1.5, STRIP + 12);
      cross(context, x - 2.5, top, 5, STRIP);
    });
  }

  /** The neuron under a point of the strips, or null. */
  function find(x, width) {
    const column = Math.floor((x / width) * columns.length);
    return columns[Math.max(0, Math.min(columns.length - 1, column))] ?? null;
  }
  return { prepare, draw, find, perColumn: (count) => count / columns.length };
}
