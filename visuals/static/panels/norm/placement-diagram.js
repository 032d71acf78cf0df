// Two blocks drawn: how the Transformer of 2017 places its norms, and how the network that is shown does. They hold no
// numbers.

import { h, svg } from "../../dom.js";
import { sublayers } from "../../parts.js";

/**
 * @typedef {import("../../types.d.ts").Model} Model
 *
 * @typedef {(name: string, params?: Record<string, unknown>) => string} Text
 */

const [WIDTH, LINE, EACH, EDGE] = [276, 44, 92, 26];
const HIGH = 28; // of a box

/** @type {(x: number, y: number, wide: number, words: string, role: string) => SVGElement} a box around its middle */
const box = (x, y, wide, words, role) =>
  svg(
    "g",
    {},
    svg(`rect.norm-box.is-${role}`, { x: x - wide / 2, y: y - HIGH / 2, width: wide, height: HIGH, rx: 5 }),
    svg("text", { x, y: y + 5, "text-anchor": "middle" }, words),
  );

/** @type {(path: string) => SVGElement} */
const way = (path) => svg("path.norm-way", { d: path });

/** @type {(y: number) => SVGElement[]} the sum at which a branch comes back to the stream */
const sum = (y) => [
  svg("circle.norm-sum", { cx: LINE, cy: y, r: 9 }),
  svg("text", { x: LINE, y: y + 5, "text-anchor": "middle" }, "+"),
];

/** @type {(y: number) => SVGElement} the head of an arrow that comes from the right */
const arrow = (y) => svg("path.norm-head", { d: `M${LINE + 9} ${y}l7 -4v8z` });

/**
 * A sub-layer whose norm stands after the sum.
 *
 * @param {number} y where the branch leaves the stream
 * @param {string} words
 * @param {Text} text
 */
const after = (y, words, text) => [
  way(`M${LINE} ${y}H226V${y - 36}H${LINE + 9}`),
  box(150, y, 112, words, "part"),
  arrow(y - 36),
  ...sum(y - 36),
  box(LINE, y - 64, 72, text("box_norm"), "norm"),
];

/**
 * A sub-layer whose norm stands before it.
 *
 * @param {number} y
 * @param {string} words
 * @param {Text} text
 */
const before = (y, words, text) => [
  way(`M${LINE} ${y}H264V${y - 44}H${LINE + 9}`),
  box(104, y, 72, text("box_norm"), "norm"),
  box(203, y, 108, words, "part"),
  arrow(y - 44),
  ...sum(y - 44),
];

/**
 * Attention and feed-forward side by side, on one norm or each on its own.
 *
 * @param {number} y
 * @param {string[]} words
 * @param {number} norms
 * @param {Text} text
 */
function beside(y, words, norms, text) {
  const [low, high] = [y, y - 40];
  const two = norms === 2;
  return [
    way(`M${LINE} ${low}H264V${y - 84}H${LINE + 9}`),
    way(two ? `M${LINE} ${high}H264` : `M145 ${low}V${high}H264`),
    box(104, low, 72, text("box_norm"), "norm"),
    ...(two ? [box(104, high, 72, text("box_norm"), "norm")] : []),
    box(207, low, 100, words[0], "part"),
    box(207, high, 100, words[1], "part"),
    arrow(y - 84),
    ...sum(y - 84),
  ];
}

/** @type {(height: number, ...drawn: SVGElement[]) => SVGElement} */
const drawing = (height, ...drawn) =>
  svg(
    "svg.norm-block",
    { viewBox: `0 0 ${WIDTH} ${height}`, "aria-hidden": "true" },
    way(`M${LINE} ${height - 4}V12`),
    svg("path.norm-head", { d: `M${LINE} 4l-5 9h10z` }),
    ...drawn,
  );

/**
 * @param {Model} model
 * @param {string} name of the model, as the page calls it
 * @param {Text} text
 * @returns {HTMLElement[]} the block of 2017 and the network's own, each with its name
 */
export function diagramsOf(model, name, text) {
  const words = sublayers(model).map((part) => text(`box_${part}`));
  const norms = Object.values(model.parts.norms);
  const parallel = norms.every((reads) => reads === "resid_in");
  const height = 2 * EDGE + words.length * EACH;
  /** @type {(draw: typeof before) => SVGElement[]} */
  const stacked = (draw) => words.flatMap((one, i) => draw(height - EDGE - i * EACH - 8, one, text));
  const own = parallel ? beside(height - EDGE - 30, words, norms.length, text) : stacked(before);
  const caption = parallel ? (norms.length === 2 ? "own_parallel_two" : "own_parallel") : "own";
  return [
    h("figure.norm-figure", null, drawing(height, ...stacked(after)), h("figcaption", null, text("block_2017"))),
    h(
      "figure.norm-figure",
      null,
      drawing(height, ...own),
      h("figcaption", null, text(`block_${caption}`, { model: name })),
    ),
  ];
}
