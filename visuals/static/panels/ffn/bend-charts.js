// Charts of activations with a token's own values on them: the function, its slope, and how far GELU's short forms are
// off.

import { BENDS } from "../../activations.js";
import { fit, ink, write } from "../../draw.js";
import { axes, chartIn, path, rule, xOf, yOf } from "../../plot.js";
import { reachOf } from "./swiglu-curve.js";

const HIGH = 270;
/** @type {[number, number, number, number]} */
const EDGES = [48, 14, 46, 46];
const FINE = 240; // points of a curve
const FAR = 6; // beyond which no form of GELU is off any more

/** @typedef {{ reads: string; points: ArrayLike<number>; at: number }} Read what is read, by all and by one neuron */

/**
 * @param {number} reach
 * @param {(x: number) => number} f
 * @returns {[number, number][]}
 */
const curve = (reach, f) =>
  Array.from({ length: FINE + 1 }, (_, i) => -reach + (2 * reach * i) / FINE).map((x) => [x, f(x)]);

/**
 * The token's neurons as dots on a curve, the selected one ringed.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {import("../../plot.js").Chart} chart
 * @param {(x: number) => number} f
 * @param {Read} read
 * @param {string} hue
 */
function dots(context, chart, f, { points, at }, hue) {
  const { low, high } = chart.x;
  context.fillStyle = hue;
  context.globalAlpha = 0.3;
  for (const x of Array.from(points))
    if (x >= low && x <= high) context.fillRect(xOf(chart, x) - 2, yOf(chart, f(x)) - 2, 4, 4);
  context.globalAlpha = 1;
  if (at < low || at > high) return;
  context.strokeStyle = ink().colour("text");
  context.lineWidth = 2;
  context.beginPath();
  context.arc(xOf(chart, at), yOf(chart, f(at)), 6, 0, 2 * Math.PI);
  context.fill();
  context.stroke();
}

/**
 * A legend at the top: the chosen curve, then the network's own where that is another.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {number} width
 * @param {{ name: string; hue: string; dash: number[] }[]} lines
 */
function legend(context, width, lines) {
  let [x, y] = [EDGES[0], 12];
  for (const { name, hue, dash } of lines) {
    write(context, "", 0, 0, { weight: 600 }); // the font that is measured
    const wide = 28 + context.measureText(name).width + 16;
    if (x > EDGES[0] && x + wide > width) [x, y] = [EDGES[0], y + 18];
    context.strokeStyle = hue;
    context.lineWidth = 2.5;
    context.setLineDash(dash);
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(x + 22, y);
    context.stroke();
    context.setLineDash([]);
    write(context, name, x + 28, y, { colour: hue, weight: 600, base: "middle" });
    x += wide;
  }
}

/**
 * The chosen function, or its slope, with the token's neurons on it, and the network's own beside it.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {"f" | "slope"} what
 * @param {{ chosen: string; own: string }} bends names of BENDS
 * @param {Read} read
 */
export function drawBend(canvas, width, what, { chosen, own }, read) {
  const context = fit(canvas, width, HIGH);
  const { colour } = ink();
  const reach = reachOf(read.points);
  const y = what === "f" ? { low: -Math.max(0.5, reach / 12), high: reach } : { low: -0.2, high: 1.2 };
  const chart = chartIn([width, HIGH], EDGES, { low: -reach, high: reach }, y);
  axes(context, chart, { xName: `${read.reads} →` });
  rule(context, chart, { x: 0, colour: colour("line") });
  rule(context, chart, { y: 0, colour: colour("line") });
  const [hue, beside] = [colour("gate"), colour("muted")];
  const mark = what === "f" ? "" : "′";
  const named = [{ name: BENDS[chosen].name + mark, hue, dash: /** @type {number[]} */ ([]) }];
  if (own !== chosen) {
    path(context, chart, curve(reach, BENDS[own][what]), { colour: beside, width: 1.5, dash: [5, 4] });
    named.push({ name: BENDS[own].name + mark, hue: beside, dash: [5, 4] });
  }
  path(context, chart, curve(reach, BENDS[chosen][what]), { colour: hue });
  dots(context, chart, BENDS[chosen][what], read, hue);
  legend(context, width, named);
}

/** @type {[string, string, number[]][]} */
const FORMS = [
  ["gelu_sigmoid", "output", []],
  ["gelu_new", "norm", [5, 4]],
];

/**
 * What each short form of GELU is off, with the token's neurons on the coarser one.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {Read} read
 */
export function drawErrors(canvas, width, read) {
  const context = fit(canvas, width, HIGH);
  const { colour } = ink();
  const chart = chartIn([width, HIGH], EDGES, { low: -FAR, high: FAR }, { low: -0.024, high: 0.024 });
  axes(context, chart, { xName: `${read.reads} →` });
  rule(context, chart, { y: 0, colour: colour("line") });
  for (const [name, role, dash] of FORMS) {
    /** @param {number} x */
    const off = (x) => BENDS[name].f(x) - BENDS.gelu.f(x);
    path(context, chart, curve(FAR, off), { colour: colour(role), dash });
    if (name === "gelu_sigmoid") dots(context, chart, off, read, colour(role));
  }
  legend(
    context,
    width,
    FORMS.map(([name, role, dash]) => ({ name: `${BENDS[name].name} − GELU`, hue: colour(role), dash })),
  );
}
