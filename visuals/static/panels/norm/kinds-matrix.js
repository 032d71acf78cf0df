// What a norm reads, tokens × channels, with the axis over which each norm works: the row of one token, the column of
// one channel. The pointer previews both, a click keeps them.

import { once, poolColumns } from "../../arrays.js";
import { labelsOf } from "../../characters.js";
import { h, shown } from "../../dom.js";
import { cells, centred, cross, enlarge, ink, scaleBar, visible, write } from "../../draw.js";
import { createSurface } from "../../marks/surface.js";
import { bindArrowKeys, bindPointer, upright } from "../../pointing.js";
import { reactive } from "../../reads.js";

/** @typedef {import("../../readings/norm-kinds.js").KindsReading} KindsReading */

const [MOST, LEAST_ROW, MOST_ROW] = [260, 3, 22];
const [NAMES, TOP, LEGEND] = [84, 4, 40];
const AROUND = 3; // px that a column's frame is away from it: it may be thinner than its frame
const NAMED = 15; // least height of a row that has its token written beside it
const SHARE = 0.99; // of the values that are within the scale

/** The magnitude within which SHARE of the values lie. */
const limitOf = once((/** @type {{ data: ArrayLike<number> }} */ { data }) => {
  const sorted = Float64Array.from(data, Math.abs).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(SHARE * sorted.length))];
});

/**
 * @param {import("../../types.d.ts").Glass} glass
 * @param {string} label the key of its name
 * @param {(channel: number) => void} keep
 */
export function createMatrix(glass, label, keep) {
  const canvas = h("canvas.gp-canvas", { "data-part": "matrix", "data-text-label": label });
  const surface = createSurface(canvas);
  const view = reactive(/** @type {{ pointed: number | null }} */ ({ pointed: null }), glass.repaint);
  const at = { first: 0, rows: 0, channels: 0, left: 0, wide: 1, row: 1, columns: 1, channel: 0 };

  /** @type {(x: number, y: number) => { query: number; channel: number } | null} */
  function find(x, y) {
    const { first, rows, channels, left, wide, row } = at;
    const [i, share] = [Math.floor((y - TOP) / row), (x - left) / wide];
    if (i < 0 || i >= rows || share < 0 || share >= 1) return null;
    return { query: first + i, channel: Math.floor(share * channels) };
  }
  canvas.addEventListener("pointerleave", () => {
    view.pointed = null;
  });
  bindPointer(canvas, glass, (x, y) => {
    const found = find(x, y);
    view.pointed = found && found.channel;
    return found && { query: found.query };
  });
  canvas.addEventListener("click", () => {
    const { pointed } = view;
    if (pointed === null) return;
    view.pointed = null;
    keep(pointed);
  });
  /** @type {(by: number) => () => {}} */
  const move = (by) => () => (keep(Math.max(0, Math.min(at.channels - 1, at.channel + by))), {});
  bindArrowKeys(canvas, glass, { ...upright("query", -1), ArrowLeft: move(-1), ArrowRight: move(1) });

  /**
   * @param {number} width
   * @param {KindsReading} reading
   * @param {string[]} pieces
   */
  function draw(width, { answer, selection: { query, channel } }, pieces) {
    const [rows, channels] = answer.before.shape;
    const row = Math.max(LEAST_ROW, Math.min(MOST_ROW, Math.floor(MOST / rows)));
    const left = row >= NAMED ? NAMES : 0;
    const wide = Math.max(60, width - left - 4);
    const columns = Math.min(channels, Math.floor(wide));
    Object.assign(at, { first: answer.first, rows, channels, left, wide, row, columns, channel: channel ?? 0 });
    const { signed, colour } = ink();
    const limit = limitOf(answer.before);
    surface(
      [answer, pieces],
      width,
      TOP + rows * row + 8 + LEGEND,
      (context) => {
        const seen = Array.from({ length: rows }, (_, i) => {
          const values = answer.before.data.subarray(i * channels, (i + 1) * channels);
          return poolColumns(values, columns).map((c) => values[c]);
        }).flat();
        const image = cells(seen, columns, rows, signed, (value) => centred(value, limit));
        enlarge(context, image, left, TOP, wide, rows * row);
        if (left)
          for (let i = 0; i < rows; i++)
            write(context, visible(labelsOf(pieces)[answer.first + i]), 0, TOP + (i + 0.5) * row, {
              base: "middle",
              colour: colour("muted"),
              most: left - 8,
            });
        const legend = /** @type {[number, string][]} */ ([
          [0, `≤ −${shown(limit, 2)}`],
          [0.5, "0"],
          [1, `≥ ${shown(limit, 2)}`],
        ]);
        scaleBar(context, left + 1, TOP + rows * row + 8, Math.min(240, wide - 2), signed, legend);
      },
      (context) => {
        const each = Math.max(5, wide / channels);
        const x = Math.min(
          left + wide - each,
          Math.max(left, left + ((at.channel + 0.5) * wide) / channels - each / 2),
        );
        const high = Math.max(5, row);
        const y = TOP + (query - answer.first + 0.5) * row - high / 2;
        frameOf(context, x - AROUND, TOP, each + 2 * AROUND, rows * row, "accent");
        frameOf(context, left, y, wide, high, "norm");
      },
    );
  }
  return { canvas, draw, pointed: () => view.pointed };
}

/**
 * A frame in a hue, inside an edge that parts it from the colours around it.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 * @param {string} hue
 */
const frameOf = (context, x, y, width, height, hue) =>
  cross(context, x, y, width, height, [
    ["card", 5],
    [hue, 2.5],
  ]);
