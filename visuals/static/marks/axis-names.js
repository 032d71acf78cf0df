// Names along a side of a map or of bars, one a column: beside each other where all fit whole, else upright. Where
// there are too many for that, every so manieth stands. The chosen one always does.

import { ink, roomToDraw, textWidth, write } from "../draw.js";
import { LINE, sizeOf, strideOf } from "./cell-names.js";
import { airOf, writeUpright } from "./upright.js";

const [APART, GAP] = [4, 6]; // px between two names side by side, and between an upright one and the map
const [ROW, NEXT] = [20, 22]; // px of a line of names, and of another below it
const LONGEST = 160; // px that an upright name takes at most
const BOLD = 600; // the weight of the chosen name
const LEAST = 10; // px of a column in which a name can stand upright, and of its letters there

/**
 * @typedef {{
 *   names: string[];
 *   second: string[] | null;
 *   step: number;
 *   upright: boolean;
 *   size: number;
 *   stride: number;
 *   tall: number;
 * }} Axis
 *   `second`: a line below the names, which upright ones have in their own; `step`: px of a column; `size`: of the
 *   letters; `tall`: px that the names take
 *
 * @typedef {{ left: number; y: number; above?: boolean }} Spot where the columns begin, and the edge that the names
 *   stand below, or above
 *
 * @typedef {(t: number) => string} Roles whose hue a name has
 */

/**
 * How names stand that are one a column.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {string[]} names
 * @param {number} step px of a column
 * @param {string[] | null} [second] "" where there is none
 * @returns {Axis}
 */
export function axisOf(context, names, step, second = null) {
  // as wide as in bold, which the chosen one has
  const widest = (/** @type {string[]} */ list) => Math.max(0, ...list.map((name) => textWidth(context, name, BOLD)));
  if (Math.max(widest(names), widest(second ?? [])) + APART <= step)
    return { names, second, step, upright: false, size: LINE, stride: 1, tall: ROW + (second ? NEXT : 0) };
  const joined = second ? names.map((name, t) => `${name} ${second[t]}`.trim()) : names;
  const air = airOf(joined);
  const narrow = roomToDraw() === Infinity && step >= LEAST + air; // a stage's letters are read from far away
  const [size, stride] = narrow
    ? [Math.max(LEAST, Math.min(LINE, Math.floor(step) - 1 - air)), 1]
    : [sizeOf(step, joined), strideOf(step, joined)];
  const long = Math.ceil((widest(joined) * size) / LINE);
  const tall = Math.min(LONGEST, long) + GAP;
  return { names: joined, second: null, step, upright: true, size, stride, tall };
}

/**
 * Draws at a column's name, along its line.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Axis} axis
 * @param {Spot} spot
 * @param {number} t
 * @param {() => void} draw
 */
function along(context, { step, upright }, { left, y, above }, t, draw) {
  context.save();
  context.translate(left + (t + 0.5) * step, upright ? y + (above ? -GAP : GAP) : y + (above ? -GAP : ROW));
  if (upright) context.rotate(-Math.PI / 2);
  draw();
  context.restore();
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Axis} axis
 * @param {Spot} spot
 * @param {number} t
 * @param {{ colour: string; weight?: number }} look
 */
function drawName(context, axis, spot, t, look) {
  const { names, second, upright, size, tall } = axis;
  along(context, axis, spot, t, () => {
    if (upright) {
      const align = spot.above ? "left" : "right";
      return writeUpright(context, names[t], { ...look, size, align, most: tall - GAP });
    }
    write(context, names[t], 0, 0, { ...look, align: "center" });
    return second ? write(context, second[t], 0, NEXT, { ...look, align: "center" }) : undefined;
  });
}

/**
 * All names that there is room for.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Axis} axis
 * @param {Spot} spot
 * @param {Roles} [roleOf]
 */
export function drawAxis(context, axis, spot, roleOf = () => "muted") {
  for (let t = 0; t < axis.names.length; t += axis.stride)
    drawName(context, axis, spot, t, { colour: ink().colour(roleOf(t)) });
}

/**
 * The name of the chosen column, over those that it would touch.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Axis} axis
 * @param {Spot} spot
 * @param {{ t: number; role: string }} chosen `role`: whose hue it has
 */
export function drawChosenName(context, axis, spot, { t, role }) {
  const { names, upright, step, size, stride, tall } = axis;
  if (t < 0 || t >= names.length) return;
  context.fillStyle = ink().colour("card");
  const wide = upright ? Math.min(size + 2, stride === 1 ? step : Infinity) : step;
  const first = Math.floor(t / stride) * stride;
  for (const near of new Set([t, first, first + stride]))
    if (Math.abs(near - t) * step < size + airOf(names))
      along(context, axis, spot, near, () => {
        if (upright) context.fillRect(spot.above ? -GAP / 2 : GAP / 2 - tall, -wide / 2, tall, wide);
        else context.fillRect(-wide / 2, GAP - ROW, wide, tall);
      });
  drawName(context, axis, spot, t, { colour: ink().colour(role), weight: BOLD });
}
