// Arcs over the text: from the place that is asked about, or from the gap after it where the next word stands, back to
// the tokens that the answer rests on, at which they end as arrows, the more is lost without one the thicker. In a text
// of several lines they keep to the room between them, and to the margin.

import { svg, zoomOf } from "../../dom.js";
import { heightOf, widthOf } from "../../pointing.js";
import { memo } from "../../reads.js";
import { partsLost } from "../../readings/rests.js";

/** @typedef {import("../../readings/rests.js").Rests} Rests */

/** @typedef {{ x: number; top: number; bottom: number }} Box of an element's first line, and its middle */

const [ARCS, THICK, HIGH] = [3, 6, 26]; // how many, and px: the thickest, and over the first line of text
const [NARROW, MARGIN] = [4, 4]; // px: the thickest between lines, and from the edge
const [TIP, BROAD] = [8, 5]; // px: how high the head of an arrow is, and half of its width
const CLEAR = 3; // px between the word in the gap and the arrow that leads from it
const RISES = 0.8; // of what a larger letter is taller by, what it stands higher in its line
const CURVE = 4 / 3; // how much further than its peak the handles of a curve are

/**
 * Where an element stands in the text's own pixels: a projector zooms it.
 *
 * @param {Element} part
 * @param {HTMLElement} text
 * @returns {Box}
 */
function boxOf(part, text) {
  const [{ left, top, bottom, width }, box] = [part.getClientRects()[0], text.getBoundingClientRect()];
  const zoom = zoomOf(text);
  const down = (/** @type {number} */ y) => (y - box.top) / zoom + text.scrollTop;
  return { x: (left + width / 2 - box.left) / zoom, top: down(top), bottom: down(bottom) };
}

/** Whether two stand in one line. @type {(a: Box, b: Box) => boolean} */
const inLine = (a, b) => Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > (a.bottom - a.top) / 2;

/**
 * The part of the text that holds a token.
 *
 * @param {HTMLElement} text
 * @param {number} t
 */
const partAt = (text, t) =>
  [...text.querySelectorAll("[data-position]")].find((one) => Number(one.getAttribute("data-position")) >= t);

/**
 * The way from one to another: an arc over the first line; else in the room over a line, and from line to line by
 * the margin.
 *
 * @param {Box} start
 * @param {Box} end
 * @param {Box} first of the first line
 * @param {{ between: number; edge: number }} room `between`: two lines; `edge`: where the margin is
 */
function wayOf(start, end, first, { between, edge }) {
  const [from, clear] = [`M${start.x} ${start.top}`, end.top - CLEAR];
  if (inLine(start, first) && inLine(end, first)) {
    const high = Math.min(start.top, end.top) - CURVE * HIGH;
    return `${from} C${start.x} ${high} ${end.x} ${high} ${end.x} ${clear}`;
  }
  const tall = first.bottom - first.top; // of a usual word: that in the gap is larger, and takes of the room over it
  const over = (/** @type {Box} */ box) =>
    box.top - Math.max(0, (inLine(box, first) ? HIGH : between) - RISES * (box.bottom - box.top - tall)) / 2;
  const down = Math.min(over(end), clear - MARGIN);
  const up = inLine(start, end) ? Math.min(over(start), down) : over(start);
  const across = inLine(start, end) ? "" : `H${edge} V${down} `;
  return `${from} V${up} ${across}H${end.x} V${clear}`;
}

/**
 * @param {HTMLElement} text
 * @param {Rests} found
 * @param {number} most how many
 * @returns {SVGElement[]}
 */
function pathsOf(text, found, most) {
  const [parts, last] = [partsLost(found), text.querySelector(".wy-gap:not([hidden])") ?? partAt(text, found.position)];
  const head = text.querySelector("[data-position]");
  if (!last || !head || !text.getClientRects().length) return []; // not shown: nothing has a place
  const isWrapped = () => !inLine(boxOf(head, text), boxOf(last, text));
  text.classList.remove("is-wrapped");
  text.classList.toggle("is-wrapped", isWrapped()); // which makes room, so that places are measured after it
  const [end, first] = [boxOf(last, text), boxOf(head, text)];
  const between = parseFloat(getComputedStyle(text).lineHeight) - (first.bottom - first.top);
  // between lines there is room for one; the colours of the words say the rest
  return found.tokens.slice(0, isWrapped() ? 1 : most).flatMap((t) => {
    const part = partAt(text, t);
    if (!part || part === last) return [];
    const { x, top, bottom } = boxOf(part, text);
    const way = wayOf({ x, top: top - TIP / 2, bottom }, end, first, {
      between,
      edge: text.clientWidth - MARGIN,
    });
    const thick = THICK * (parts[t] ?? 0);
    const width = Math.max(1, Math.min(isWrapped() ? NARROW : THICK, thick));
    const tip = `M${x - BROAD} ${top - TIP} H${x + BROAD} L${x} ${top} Z`;
    return [svg("path", { d: way, "stroke-width": String(width) }), svg("path.wy-tip", { d: tip })];
  });
}

/**
 * @param {import("../../types.d.ts").Glass} glass
 * @param {() => void} moved called where the text's lines may have another height
 */
export function createArcs(glass, moved) {
  const element = svg("svg.wy-arcs", { "aria-hidden": "true" });
  /** @type {(() => number)[] | null} */
  let sides = null;
  const put = memo(
    (/** @type {HTMLElement} */ text, /** @type {Rests | null} */ found, /** @type {number} */ most, ..._lines) => {
      text.classList.toggle("has-arcs", Boolean(found));
      element.replaceChildren(...(found ? pathsOf(text, found, most) : []));
      moved();
    },
  );
  /**
   * @param {HTMLElement} text
   * @param {Rests | null} found
   * @param {number} [most] how many arcs
   */
  function draw(text, found, most = ARCS) {
    sides ??= [widthOf(text, glass), heightOf(text, glass)];
    const [wide, high] = sides.map((side) => side());
    put(text, found, most, wide, high, glass.state.trace, glass.state.language);
  }
  return { element, draw };
}
