// Strips over one channel axis: x, x / RMS, γ and the product. Where a cell is wide enough its number is written in it.

import { poolColumns } from "../../compute.js";
import { shown } from "../../dom.js";
import { cells, centred, cross, enlarge, fit, ink, inkOn, write } from "../../draw.js";
import { fewest, NUMBER } from "./zoom.js";

const [LABEL, STRIP, GAP, AXIS] = [24, 32, 8, 24];

/** The largest magnitude. @param {ArrayLike<number>} values */
export const largest = (values) => values.reduce((a, b) => Math.max(a, Math.abs(b)), 0);

/** @typedef {{ name: string, role: string, values: ArrayLike<number>, limit?: number }} Strip  limit: of the colours; its own largest value where none is named */

/** @param {HTMLCanvasElement} canvas */
export function createStrips(canvas) {
  let columns = []; // the channel that each column shows

  function drawStrip(context, top, width, { name, role, values, limit = largest(values) }) {
    const { colour, signed } = ink();
    write(context, name, 0, top + 17, { weight: 600, colour: colour(role) });
    write(context, `±${shown(limit, 3)}`, width, top + 17, { align: "right", colour: colour("muted") });
    const seen = columns.map((channel) => values[channel]);
    const image = cells(seen, columns.length, 1, signed, (value) => centred(value, limit));
    enlarge(context, image, 0, top + LABEL, width, STRIP);
    context.strokeStyle = colour("line");
    context.lineWidth = 1;
    context.strokeRect(0.5, top + LABEL + 0.5, width - 1, STRIP - 1);
    const wide = width / columns.length;
    if (wide < NUMBER) return;
    seen.forEach((value, i) => {
      const how = { align: "center", base: "middle", colour: inkOn(signed, centred(value, limit)) };
      write(context, shown(value, 3), (i + 0.5) * wide, top + LABEL + STRIP / 2 + 1, how);
    });
  }

  /**
   * @param {number} width @param {Strip[]} strips @param {import("./zoom.js").Zoom} zoom @param {number} chosen a channel
   * Colours are limited by the whole vector, so that they do not change with the zoom.
   */
  function draw(width, strips, { start, count }, chosen) {
    const [first] = strips;
    const part = Array.prototype.slice.call(first.values, start, start + count);
    columns = poolColumns(part, Math.floor(width)).map((i) => i + start);
    const tall = strips.length * (LABEL + STRIP + GAP) + AXIS;
    const context = fit(canvas, width, tall);
    const wide = width / columns.length;
    strips.forEach((strip, i) => drawStrip(context, i * (LABEL + STRIP + GAP), width, strip));
    const at = columns.reduce((best, channel, i) => (channel <= chosen ? i : best), 0);
    const size = Math.max(5, wide);
    const left = Math.max(0, Math.min(width - size, (at + 0.5) * wide - size / 2));
    if (chosen >= start && chosen < start + count) {
      strips.forEach((_, i) => cross(context, left, i * (LABEL + STRIP + GAP) + LABEL, size, STRIP));
    }
    drawAxis(context, tall - AXIS, width, chosen);
  }

  function drawAxis(context, top, width, chosen) {
    const colour = ink().colour("muted");
    if (width / columns.length >= NUMBER) {
      columns.forEach((channel, i) => {
        const how = { align: "center", colour, weight: channel === chosen ? 600 : 400 };
        write(context, String(channel), ((i + 0.5) * width) / columns.length, top + 14, how);
      });
      return;
    }
    write(context, String(columns[0]), 0, top + 14, { colour });
    write(context, String(columns.at(-1)), width, top + 14, { align: "right", colour });
  }

  /** The channel under a point of the strips, or null. */
  function find(x, y, width) {
    if (!columns.length || y < 0) return null;
    return columns[Math.max(0, Math.min(columns.length - 1, Math.floor((x / width) * columns.length)))];
  }
  return { draw, find, fewest, perColumn: (count) => count / columns.length };
}
