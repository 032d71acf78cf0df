// A skill as it appears: going on with a row of words that begins again.

import { exact, h } from "../../../dom.js";
import { memo } from "../../../reads.js";
import { axesOf, createCurve, readsOf, startsOf } from "../../curve.js";
import { fallOf, inductionOf, leapOf, MILLION } from "../../../readings/record.js";
import { recordOf } from "../../record.js";
import { large, shareSaid, told } from "../../words.js";

/** @typedef {import("../../../readings/record.js").Training} Training */

/**
 * @param {import("../../scene.js").Glass} glass
 * @returns {import("../../scene.js").Scene}
 */
export function createInduction(glass) {
  const { state, text } = glass;
  const curve = createCurve();
  const note = h("p.st-note");
  const element = h("div", null, curve.element, note);
  const paint = memo((/** @type {Training} */ found, width, /** @type {string} */ language) => {
    const line = inductionOf(found);
    if (!line) return;
    const { from, to } = leapOf(line);
    const at = (/** @type {{ tokens: number; share: number }} */ one) => ({ x: one.tokens / MILLION, y: one.share });
    const points = line.tokens.map((tokens, i) => ({ x: tokens / MILLION, y: line.shares[i] }));
    const read = points[points.length - 1].x;
    const stages = found.stages.map((stage) => ({ ...stage, tokens: stage.tokens / MILLION }));
    const drawing = {
      points,
      most: 1,
      ticks: [0, 0.5, 1].map((y) => ({ y, words: `${100 * y}%` })),
      starts: startsOf(stages, read),
      reads: readsOf(read, (tokens) => large(tokens * MILLION, language)),
      axes: axesOf(text, "induction", large(read * MILLION, language)),
      leap: from && /** @type {[{ x: number; y: number }, { x: number; y: number }]} */ ([at(from), at(to)]),
    };
    curve.draw(drawing, width, text("story-learned.induction_curve"));
    const fall = fallOf(line, found.stages);
    const said = fall && {
      first: shareSaid(text, fall.first.share),
      at: large(fall.first.tokens, language),
      low: shareSaid(text, fall.low.share),
      number: fall.stage,
      end: shareSaid(text, fall.end.share),
    };
    note.textContent = said ? text("story-learned.induction_later", said) : "";
  });
  return {
    name: "induction",
    behind: ["overview", "training"],
    element,
    draw(width) {
      const found = recordOf(glass);
      const line = found && inductionOf(found);
      if (!found || !line) return null;
      paint(found, width, state.language);
      const { from, to, end } = leapOf(line);
      const share = (/** @type {number} */ value) => told(shareSaid(text, value), value);
      return {
        form: from ? "" : "_first",
        words: {
          before: share(from?.share ?? 0),
          read: large(from?.tokens ?? 0, state.language),
          share: share(to.share),
          then: large(to.tokens, state.language),
        },
        value: `before=${exact(from?.share ?? 0)} share=${exact(to.share)} tokens ${to.tokens} end=${exact(end.share)}`,
      };
    },
  };
}
