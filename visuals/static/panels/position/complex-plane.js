// One pair of q and of k in the complex plane, before and after RoPE turns them; and R_m, the matrix that turns a whole
// head, in two orders of its channels.

import { fit, cells, centred, cross, enlarge, ink, write } from "../../draw.js";
import { channelsOf, pairOf } from "../../rotation.js";
import { placeNames } from "./arrow-names.js";
import { drawArrow } from "./arrow.js";

/**
 * @typedef {import("../../readings/rope-derivation.js").PairForms} PairForms
 *
 * @typedef {import("../../readings/rope-derivation.js").Complex} Complex
 *
 * @typedef {import("../../rotation.js").Rotary} Rotary
 *
 * @typedef {import("./arrow-names.js").Plane} Plane
 */

const [MOST, EDGE] = [330, 26];
const SEEN = 4; // pixels between an arrow's tips, before and after, from which on the turn is seen
/** How far from the middle each arc is, in shares of the radius. */
const ARCS = { q: 0.34, k: 0.24 };

/** @param {number} side of the square that it is drawn in */
const radiusOf = (side) => side / 2 - EDGE - 8;

/**
 * Whether an angle is large enough to be seen between two arrows.
 *
 * @param {number} width of the room for the plane
 * @param {number} angle
 */
export const isTurnSeen = (width, angle) => angle * radiusOf(Math.min(width, MOST)) >= SEEN;

/**
 * The turn from one vector by an angle, as an arc.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Plane} plane
 * @param {Complex} from
 * @param {number} angle
 * @param {string} role
 * @param {number} share of the radius
 */
function arc(context, { x, y, radius }, [a, b], angle, role, share) {
  const start = Math.atan2(b, a);
  context.strokeStyle = ink().colour(role);
  context.lineWidth = 1.5;
  context.beginPath();
  // A canvas counts angles clockwise; beyond a whole turn the circle is complete.
  context.arc(x, y, share * radius, -start, -(start + Math.min(angle, 2 * Math.PI)), true);
  context.stroke();
}

/**
 * The pair's q and k, each to its own longest.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {PairForms} forms
 * @param {{ m: number; n: number }} positions
 */
export function drawPlane(canvas, width, forms, { m, n }) {
  const side = Math.min(width, MOST);
  const context = fit(canvas, side, side);
  const { colour } = ink();
  const plane = { x: side / 2, y: side / 2, radius: radiusOf(side) };
  const { x, y, radius } = plane;
  context.strokeStyle = colour("grid");
  context.lineWidth = 1;
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.moveTo(x - radius - EDGE, y);
  context.lineTo(x + radius + EDGE, y);
  context.moveTo(x, y - radius - EDGE);
  context.lineTo(x, y + radius + EDGE);
  context.stroke();
  write(context, "Re", x + radius + EDGE, y - 6, { align: "right", colour: colour("muted") });
  write(context, "Im", x + 6, y - radius - EDGE + 12, { colour: colour("muted") });
  /** @type {[string, Complex, Complex, number, string, string, number][]} */
  const both = [
    ["q", forms.q, forms.turnedQ, m, "q", "q′", ARCS.q],
    ["k", forms.k, forms.turnedK, n, "k", "k′", ARCS.k],
  ];
  /** @type {import("./arrow-names.js").Arrow[]} */
  const arrows = [];
  for (const [role, before, after, position, name, turned, share] of both) {
    const longest = Math.max(Math.hypot(...before), Math.hypot(...after)) || 1;
    const scale = (/** @type {Complex} */ [a, b]) => /** @type {Complex} */ ([a / longest, b / longest]);
    arc(context, plane, before, position * forms.theta, role, share);
    arrows.push({ to: scale(after), role, solid: true, name: turned }, { to: scale(before), role, solid: false, name });
  }
  for (const { to, role, solid } of [...arrows].reverse()) {
    context.strokeStyle = context.fillStyle = colour(role);
    drawArrow(context, plane, to, { solid, faint: 0.6, dash: 4, long: 9 });
  }
  placeNames(plane, arrows).forEach(([left, top], i) => {
    const { name, role, solid } = arrows[i];
    const weight = solid ? 600 : 400;
    write(context, name, left, top, { align: "center", base: "middle", weight, colour: colour(role) });
  });
}

/**
 * R_m of a whole head, row by row: NaN where there is nothing, 1 on the diagonal of channels that are not turned.
 *
 * @param {Rotary} rotary
 * @param {number} width of the head
 * @param {number} position
 * @param {number[]} order which channel stands where
 */
function matrixOf(rotary, width, position, order) {
  const values = new Float64Array(width * width).fill(NaN);
  const at = new Map(order.map((channel, i) => [channel, i]));
  const place = (/** @type {number} */ channel) => /** @type {number} */ (at.get(channel));
  for (let channel = 0; channel < width; channel++)
    if (pairOf(rotary, channel) === null) values[place(channel) * (width + 1)] = 1;
  rotary.inv_freq.data.forEach((/** @type {number} */ frequency, /** @type {number} */ pair) => {
    const [a, b] = channelsOf(rotary, pair).map(place);
    const [cos, sin] = [Math.cos, Math.sin].map((of) => of(position * frequency) * rotary.attention_scaling);
    values[a * width + a] = values[b * width + b] = cos;
    values[a * width + b] = -sin;
    values[b * width + a] = sin;
  });
  return values;
}

/**
 * The channels with those of each pair side by side, and then those that are not turned.
 *
 * @param {Rotary} rotary
 * @param {number} width
 */
function pairedOrder(rotary, width) {
  const paired = Array.from(rotary.inv_freq.data, (_, pair) => channelsOf(rotary, pair)).flat();
  const rest = Array.from({ length: width }, (_, channel) => channel).filter((one) => pairOf(rotary, one) === null);
  return [...paired, ...rest];
}

/**
 * R_m as a map, clear where it is 0 at every position; the chosen pair's four cells are framed.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {{ rotary: Rotary; size: number; position: number; pair: number; stored: boolean }} what `size`: of the
 *   head; `stored`: in the network's own order, else with pairs side by side
 */
export function drawMatrix(canvas, width, { rotary, size, position, pair, stored }) {
  const side = Math.min(width, 250);
  const context = fit(canvas, side, side);
  const { colour, signed } = ink();
  const order = stored ? Array.from({ length: size }, (_, channel) => channel) : pairedOrder(rotary, size);
  const values = matrixOf(rotary, size, position, order);
  const image = cells(values, size, size, signed, (value) => centred(value, rotary.attention_scaling));
  enlarge(context, image, 0, 0, side, side);
  context.strokeStyle = colour("line");
  context.strokeRect(0.5, 0.5, side - 1, side - 1);
  const each = side / size;
  const [a, b] = channelsOf(rotary, pair).map((channel) => order.indexOf(channel));
  if (b === a + 1) cross(context, a * each, a * each, 2 * each, 2 * each);
  else for (const row of [a, b]) for (const column of [a, b]) cross(context, column * each, row * each, each, each);
}
