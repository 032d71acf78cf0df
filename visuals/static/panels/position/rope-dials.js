// The dials: one for each pair of dimensions, with q and k before (dashed) and after rotation (solid).

import { channelsOf } from "../../rotation.js";
import { signed } from "../../dom.js";
import { cross, fit, ink, leastLetters, roomToDraw, write } from "../../draw.js";
import { pairIn } from "../../readings/dials.js";
import { drawArrow } from "./arrow.js";

// Width of a dial's cell, the smallest where the room is low; under it two lines of text and a bar; or one line, where
// a dial would be smaller for the rest of it.
const [SMALLEST, LEAST, MOST, BELOW, BRIEF] = [76, 92, 190, 50, 24];
const SAID = 28; // px of the line above the dials, in a lesson
const [EDGE, NARROW] = [12, 5]; // px around a dial in its cell
const WIDE = { q: 4, k: 2 }; // px of a line: in print there is no colour
const THINNER = { q: 1, k: 0.5 }; // px, a dashed one
const [LETTERS, LARGER] = [14, 24 / 22]; // px; so many times the least that a hall reads: the names have room for it
const FAINT = 0.75; // of a dashed one: seen on either ground from the back of a hall

/**
 * @typedef {import("../../rotation.js").Rotary} Rotary
 *
 * @typedef {ArrayLike<number>} Vector
 *
 * @typedef {{ x: number; y: number; radius: number }} Dial
 */

/** @type {(vector: Vector, i: number, rotary: Rotary) => number} */
const lengthOf = (vector, i, rotary) => Math.hypot(...pairIn(vector, i, rotary));

/**
 * The longest pair of a vector; 1 for a zero vector.
 *
 * @param {Vector} vector
 * @param {Rotary} rotary
 */
const longest = (vector, rotary) =>
  Math.max(...Array.from(rotary.inv_freq.data, (_, i) => lengthOf(vector, i, rotary))) || 1;

/**
 * How the dials stand in a width: rows of even length, as tall as the room where that can be. Where the room is
 * low, in as many rows as make them largest.
 *
 * @param {number} width
 * @param {number} half
 * @param {number} [room]
 */
function layoutDials(width, half, room = Infinity) {
  const across = Math.max(1, Math.min(half, Math.floor(width / (room < Infinity ? SMALLEST : LEAST))));
  const fewest = Math.ceil(half / across);
  const most = room < Infinity ? Math.max(fewest, Math.floor(room / (SMALLEST + BRIEF))) : fewest;
  const all = Array.from({ length: most - fewest + 1 }, (_, i) => layoutRows(width, half, fewest + i, room));
  return all.reduce((best, one) => (one.radius > best.radius ? one : best));
}

/**
 * The dials in so many rows.
 *
 * @param {number} width
 * @param {number} half
 * @param {number} rows
 * @param {number} room
 * @returns {{ columns: number; cell: number; below: number; radius: number }}
 */
function layoutRows(width, half, rows, room) {
  const columns = Math.ceil(half / rows);
  const wide = Math.min(width / columns, MOST);
  const below = room / rows - BELOW < wide ? BRIEF : BELOW;
  const cell = Math.min(wide, Math.max(SMALLEST, room / rows - below));
  return { columns, cell, below, radius: cell / 2 - (below < BELOW ? NARROW : EDGE) };
}

/**
 * The pair under a point, or null.
 *
 * @param {number} width
 * @param {number} half
 * @param {number} x
 * @param {number} y
 */
export function pairAt(width, half, x, y) {
  const { columns, cell, below } = layoutDials(width, half, roomToDraw() - SAID);
  const [column, line] = [Math.floor(x / cell), Math.floor(y / (cell + below))];
  const pair = line * columns + column;
  return column >= 0 && column < columns && line >= 0 && pair < half ? pair : null;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Dial} dial
 */
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

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} left
 * @param {number} top
 * @param {number} cell
 * @param {number} high
 */
function drawSelection(context, left, top, cell, high) {
  context.fillStyle = ink().colour("raised");
  context.fillRect(left + 1, top + 1, cell - 2, high - 4);
  cross(context, left + 2, top + 2, cell - 4, high - 6, [["accent", 2]]);
}

/**
 * Under the dial: its dimensions, what it adds to q·k, and that as a bar.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Dial} dial
 * @param {number} foot
 * @param {{ channels: number[]; term: number; most: number; brief: boolean }} what
 */
function drawTerm(context, { x, radius }, foot, { channels, term, most, brief }) {
  const colour = ink().colour("muted");
  const size = roomToDraw() < Infinity ? Math.max(LETTERS, LARGER * leastLetters()) : LETTERS;
  write(context, `(${channels.join(", ")})`, x, foot + (brief ? 13 : 8), { align: "center", colour, size });
  if (brief) return;
  write(context, signed(term, 3), x, foot + 27, { align: "center", weight: 600, size });
  const long = (term / most) * radius;
  context.fillStyle = colour;
  context.fillRect(Math.min(x, x + long), foot + 34, Math.abs(long), 5);
  context.fillRect(x - 0.5, foot + 32, 1, 9);
}

/**
 * What an arrow shows, whose it is, and whether it is after rotation.
 *
 * @type {["q" | "k" | "qTurned" | "kTurned", "q" | "k", boolean][]}
 */
const ARROWS = [
  ["q", "q", false],
  ["k", "k", false],
  ["qTurned", "q", true],
  ["kTurned", "k", true],
];

/**
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {import("../../readings/dials.js").DialReading} parts
 * @param {{ own: boolean; framed: number[] }} how `own`: each dial to its own scale; `framed`: the pairs whose
 *   dials are
 */
export function drawDials(canvas, width, parts, { own, framed }) {
  const { rotary, terms } = parts;
  const half = terms.length;
  const { columns, cell, below, radius } = layoutDials(width, half, roomToDraw() - SAID);
  const [high, brief] = [cell + below, below < BELOW];
  const context = fit(canvas, width, Math.ceil(half / columns) * high);
  // Turning changes no length but by the scaling.
  const scales = { q: longest(parts.qTurned, rotary), k: longest(parts.kTurned, rotary) };
  const most = Math.max(...terms.map(Math.abs)) || 1;
  for (let i = 0; i < half; i++) {
    const [left, top] = [(i % columns) * cell, Math.floor(i / columns) * high];
    const dial = { x: left + cell / 2, y: top + cell / 2, radius };
    if (framed.includes(i)) drawSelection(context, left, top, cell, high);
    drawFace(context, dial);
    for (const [name, role, solid] of ARROWS) {
      const vector = parts[name];
      if (!vector) continue;
      context.strokeStyle = context.fillStyle = ink().colour(role);
      const scale = own ? lengthOf(parts[role === "q" ? "qTurned" : "kTurned"], i, rotary) || 1 : scales[role];
      const [a, b] = pairIn(vector, i, rotary);
      drawArrow(context, dial, [a / scale, b / scale], {
        ...{ solid, faint: FAINT, dash: 3, long: solid ? 8 : 6 },
        wide: WIDE[role] - (solid ? 0 : THINNER[role]),
      });
    }
    drawTerm(context, dial, top + cell, { channels: channelsOf(rotary, i), term: terms[i], most, brief });
  }
}
