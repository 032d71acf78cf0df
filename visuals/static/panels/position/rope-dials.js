// The dials: one for each pair of dimensions, with q and k before (dashed) and after rotation (solid).

import { signed } from "../../dom.js";
import { fit, ink, write } from "../../draw.js";

const [LEAST, MOST, BELOW] = [92, 190, 50]; // width of a dial's cell; under it two lines of text and a bar
const HEAD = 2.6; // radians between an arrow and the sides of its head

/** @typedef {{ q, k, qTurned, kTurned: ArrayLike<number>, terms: Float64Array, half: number }} Parts */

/** The two values of a pair in the half-split layout. @returns {[number, number]} */
export const pairOf = (vector, i, half) => [vector[i], vector[i + half]];

const lengthOf = (vector, i, half) => Math.hypot(...pairOf(vector, i, half));

/** The longest pair of a vector; 1 for a zero vector. */
const longest = (vector, half) => Math.max(...Array.from({ length: half }, (_, i) => lengthOf(vector, i, half))) || 1;

/** How the dials stand in a width: rows of even length. @returns {{ columns: number, cell: number, high: number }} */
export function layoutDials(width, half) {
  const across = Math.max(1, Math.min(half, Math.floor(width / LEAST)));
  const columns = Math.ceil(half / Math.ceil(half / across));
  const cell = Math.min(width / columns, MOST);
  return { columns, cell, high: cell + BELOW };
}

/** The pair under a point, or null. */
export function pairAt(width, half, x, y) {
  const { columns, cell, high } = layoutDials(width, half);
  const [column, line] = [Math.floor(x / cell), Math.floor(y / high)];
  const pair = line * columns + column;
  return column >= 0 && column < columns && line >= 0 && pair < half ? pair : null;
}

/** From the centre: the first value to the right, the second up; both are shares of the radius. */
function arrow(context, { x, y, radius }, [a, b], solid) {
  const [toX, toY] = [x + a * radius, y - b * radius];
  context.globalAlpha = solid ? 1 : 0.5;
  context.lineWidth = solid ? 3 : 2;
  context.setLineDash(solid ? [] : [3, 3]);
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(toX, toY);
  context.stroke();
  context.setLineDash([]);
  const long = Math.min(solid ? 8 : 6, Math.hypot(a, b) * radius);
  const turn = Math.atan2(toY - y, toX - x);
  context.beginPath();
  context.moveTo(toX, toY);
  for (const side of [HEAD, -HEAD])
    context.lineTo(toX + long * Math.cos(turn + side), toY + long * Math.sin(turn + side));
  context.fill();
  context.globalAlpha = 1;
}

function drawFace(context, { x, y, radius }) {
  context.strokeStyle = ink().colour("line");
  context.lineWidth = 1;
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.moveTo(x - radius, y);
  context.lineTo(x + radius, y);
  context.moveTo(x, y - radius);
  context.lineTo(x, y + radius);
  context.stroke();
}

function drawSelection(context, left, top, cell) {
  context.fillStyle = ink().colour("raised");
  context.fillRect(left + 1, top + 1, cell - 2, cell + BELOW - 4);
  context.strokeStyle = ink().colour("accent");
  context.lineWidth = 2;
  context.strokeRect(left + 2, top + 2, cell - 4, cell + BELOW - 6);
}

/** Under the dial: its dimensions, what it adds to q·k, and that as a bar. */
function drawTerm(context, { x, radius }, foot, { i, half, term, most }) {
  const colour = ink().colour("muted");
  write(context, `(${i}, ${i + half})`, x, foot + 8, { align: "center", colour });
  write(context, signed(term, 3), x, foot + 27, { align: "center", weight: 600 });
  const long = (term / most) * radius;
  context.fillStyle = colour;
  context.fillRect(Math.min(x, x + long), foot + 34, Math.abs(long), 5);
  context.fillRect(x - 0.5, foot + 32, 1, 9);
}

/**
 * @param {HTMLCanvasElement} canvas @param {number} width @param {Parts} parts @param {number} pair the selected one
 * @param {{ scaling: number, own: boolean }} how
 * `scaling`: what RoPE multiplies lengths by (YaRN); `own`: each dial to its own scale
 */
export function drawDials(canvas, width, parts, pair, { scaling, own }) {
  const { half, terms } = parts;
  const { columns, cell, high } = layoutDials(width, half);
  const context = fit(canvas, width, Math.ceil(half / columns) * high);
  const scales = { q: scaling * longest(parts.q, half), k: scaling * longest(parts.k, half) };
  const most = Math.max(...terms.map(Math.abs)) || 1;
  for (let i = 0; i < half; i++) {
    const [left, top] = [(i % columns) * cell, Math.floor(i / columns) * high];
    const dial = { x: left + cell / 2, y: top + cell / 2, radius: cell / 2 - 12 };
    if (i === pair) drawSelection(context, left, top, cell);
    drawFace(context, dial);
    for (const [name, role, solid] of [["q", "q", false], ["k", "k", false], ["qTurned", "q", true], ["kTurned", "k", true]]) {
      context.strokeStyle = context.fillStyle = ink().colour(role);
      const scale = own ? scaling * lengthOf(parts[role], i, half) || 1 : scales[role];
      arrow(context, dial, pairOf(parts[name], i, half).map((value) => value / scale), solid);
    }
    drawTerm(context, dial, top + cell, { i, half, term: terms[i], most });
  }
}
