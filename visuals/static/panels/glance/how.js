// How a head tells the token that it reads from another answer in the text, in words and as the sum behind it.

import { labelsOf } from "../../characters.js";
import { h } from "../../dom.js";
import { memo } from "../../reads.js";
import { shownIn } from "../../run-for.js";
import { isMatch, isRefuted, marksOf, matchingOf, namesOf } from "./matching.js";
import { createScoreSum } from "./score-sum.js";
import { filled, lead, sentences } from "./words.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("./matching.js").Matching} Matching
 *
 * @typedef {{ layer: number; head: number; query: number; key: number }} Cell where the head looks
 */

/**
 * What the head tells the two tokens apart by, with {placeholders}.
 *
 * @param {Matching} found
 * @param {{ layer: number; head: number }} cell
 * @param {ReturnType<typeof marksOf>} marks
 * @param {import("../../types.d.ts").Say} text glass.text
 */
function templateOf(found, { layer, head }, marks, text) {
  const given = { layer, head, ...(marks && { asks: text(`why.${marks.asks}`) }) };
  const ending = found.other
    ? isRefuted(found)
      ? "matching_other_not"
      : "matching_other"
    : isMatch(found)
      ? null
      : "matching_little";
  return sentences(
    text,
    marks ? text("why.matching_marks", given) : "",
    text("why.matching_scores", given),
    ending ? text(`why.${ending}`) : "",
  );
}

/** The names that a mark stands for, in bold. @param {ReturnType<typeof marksOf>} marks */
const inBold = (marks) =>
  marks
    ? {
        key_from: h("b", null, marks.key_from),
        rival_from: h("b", null, marks.rival_from),
        asked_from: h("b", null, marks.asked_from),
      }
    : {};

/** @param {Glass} glass */
export function createHow(glass) {
  const told = h("div");
  const sum = createScoreSum(glass);
  const element = h("div.wy-how", { hidden: "" }, told, sum.element);

  /**
   * @param {Matching} found
   * @param {Cell} cell
   * @param {string[]} pieces
   */
  function tell(found, cell, pieces) {
    const { text } = glass;
    const marks = marksOf(found, cell, pieces);
    const names = { ...namesOf(found, cell, text, pieces), ...marks };
    const { same: _same, ...words } = names;
    const bold = inBold(marks);
    const term = lead(glass, names.term, cell, "attend", "score-terms");
    const say = (/** @type {string} */ template) => h("p", null, ...filled(template, { ...words, ...bold, term }));
    // which head it is: the selection, and so the frame in the map below, may be of another
    const heading = text("why.matching", { ...names, layer: cell.layer, head: cell.head });
    told.replaceChildren(h("h3.gp-subtitle", null, heading), say(templateOf(found, cell, marks, text)));
    sum.draw(found, names, say);
  }
  /**
   * @param {Matching | null} found
   * @param {import("../../messages.d.ts").FirstHead | null} first
   * @param {number} position
   * @param {string[]} pieces
   */
  function fill(found, first, position, pieces) {
    element.hidden = !found;
    if (!found || !first) return;
    const { layer, head, key } = first;
    tell(found, { layer, head, query: position, key }, pieces);
  }
  const drawAnew = memo(fill);

  /**
   * Nothing where that cannot be said: of a head that looks at a source, and before its scores have come.
   *
   * @param {import("../../messages.d.ts").FirstHead | null} first the head that looks most
   * @param {number} position from which it looks
   */
  function draw(first, position) {
    const { trace, language } = shownIn(glass);
    const pair = first && first.kind !== "cross" ? matchingOf(glass, { ...first, query: position }).found : null;
    drawAnew(pair, first, position, labelsOf(trace.tokens.pieces), language);
  }
  return { element, draw };
}
