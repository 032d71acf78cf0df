// @ts-check
// Arcs over the text: from the place that is asked about, or from the gap after it where the next word stands, back to
// the tokens that the answer rests on, the more is lost without one the thicker.

import { svg } from "../../dom.js";
import { widthOf } from "../../pointing.js";
import { memo } from "../../reads.js";
import { partsLost } from "./rests.js";

/** @typedef {import("./rests.js").Rests} Rests */

const [ARCS, THICK, HIGH] = [3, 6, 34]; // how many, and px: the thickest, and over a line of text

/**
 * The middle of an element's upper edge, from that of the text, in the text's own pixels: a projector zooms it.
 *
 * @param {Element} part
 * @param {HTMLElement} text
 * @returns {[number, number]}
 */
function topOf(part, text) {
  const [{ left, top, width }, box] = [part.getBoundingClientRect(), text.getBoundingClientRect()];
  const zoom = text.currentCSSZoom;
  return [(left + width / 2 - box.left) / zoom, (top - box.top) / zoom + text.scrollTop];
}

/**
 * The part of the text that holds a token.
 *
 * @param {HTMLElement} text
 * @param {number} t
 */
const partAt = (text, t) =>
  [...text.querySelectorAll("[data-position]")].find((one) => Number(one.getAttribute("data-position")) >= t);

/**
 * @param {HTMLElement} text
 * @param {Rests} found
 * @returns {SVGElement[]}
 */
function pathsOf(text, found) {
  const [parts, end] = [partsLost(found), text.querySelector(".wy-gap") ?? partAt(text, found.position)];
  if (!end) return [];
  const [x, y] = topOf(end, text);
  return found.tokens.slice(0, ARCS).flatMap((t) => {
    const start = partAt(text, t);
    if (!start || start === end) return [];
    const [left, top] = topOf(start, text);
    const high = Math.min(top, y) - HIGH;
    const width = String(Math.max(1, THICK * (parts[t] ?? 0)));
    return [svg("path", { d: `M${left} ${top} C${left} ${high} ${x} ${high} ${x} ${y}`, "stroke-width": width })];
  });
}

/** @param {import("../../types.d.ts").Glass} glass */
export function createArcs(glass) {
  const element = svg("svg.wy-arcs", { "aria-hidden": "true" });
  /** @type {(() => number) | null} */
  let wide = null;
  const put = memo((/** @type {HTMLElement} */ text, /** @type {Rests | null} */ found, _width, _trace) => {
    text.classList.toggle("has-arcs", Boolean(found));
    element.replaceChildren(...(found ? pathsOf(text, found) : []));
  });
  /**
   * @param {HTMLElement} text
   * @param {Rests | null} found
   */
  function draw(text, found) {
    wide ??= widthOf(text, glass);
    put(text, found, wide(), glass.state.trace, glass.state.language);
  }
  return { element, draw };
}
