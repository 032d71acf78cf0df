// Which panels and scenes lack an answer that is not to be had, as what a file of runs (app/one_file) does not hold. It
// is said at their places.

import { h } from "./dom.js";

/** @typedef {import("./types.d.ts").Glass} Glass */

/**
 * By the place of a drawing and what it asked: whether that was refused the last time or is still to come, and in
 * which drawing.
 *
 * @type {WeakMap<Element, Map<string, { turn: number; refused: boolean; coming: boolean }>>}
 */
const asked = new WeakMap();
/** @type {Element | null} */
let place = null;
let turn = 0;

/**
 * Draws, and notes what the drawing at this place asks.
 *
 * @template Drawn
 * @param {Element} element
 * @param {() => Drawn} draw
 * @returns {Drawn}
 */
export function noting(element, draw) {
  const outer = place;
  place = element;
  turn += 1;
  try {
    return draw();
  } finally {
    place = outer;
  }
}

/**
 * A question of the drawing under way: parts that draw nothing anew ask nothing, and what they asked before stands.
 *
 * @param {string} what
 * @param {boolean} refused
 * @param {boolean} coming
 */
export function noteAnswer(what, refused, coming) {
  if (!place) return;
  const known = asked.get(place) ?? new Map();
  asked.set(place, known);
  const before = known.get(what);
  known.set(what, { turn, refused: refused || (before?.turn === turn && before.refused), coming });
}

/**
 * The line that says what is lacking.
 *
 * @param {Element} element the place
 * @param {Glass["text"]} text
 */
export function createWithheld(element, text) {
  const line = h("p.gp-withheld", { role: "status", hidden: "" });
  const notes = () => [...(asked.get(element) ?? [])];
  return {
    line,
    /** What the drawing under way has asked that is still to come. */
    coming: () => notes().flatMap(([what, one]) => (one.turn === turn && one.coming ? [what] : [])),
    /** To be called after each drawing. */
    show() {
      const lacks = notes().some(([, { refused }]) => refused);
      element.toggleAttribute("data-withheld", lacks);
      line.hidden = !lacks;
      line.textContent = lacks ? text("one_file.lacks") : "";
    },
  };
}
