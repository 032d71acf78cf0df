// How the loss on held-out texts fell, beside that of who knows nothing.

import { exact, h } from "../../../dom.js";
import { memo } from "../../../reads.js";
import { createCurve, startsOf } from "../../curve.js";
import { MILLION, pointsOf, recordOf, riseOf } from "../../record.js";
import { count, few, large, percent, told } from "../../words.js";

/** @typedef {import("../../record.js").Training} Training */

/**
 * @param {import("../../scene.js").Glass} glass
 * @returns {import("../../scene.js").Scene}
 */
export function createLoss(glass) {
  const { state, text } = glass;
  const curve = createCurve();
  const note = h("p.st-note");
  const element = h("div", null, curve.element, note);
  const paint = memo(
    (/** @type {Training} */ found, /** @type {number} */ blind, width, /** @type {string} */ language) => {
      const points = pointsOf(found).map(({ tokens, heldout }) => ({ x: tokens / MILLION, y: heldout }));
      const read = points.at(-1)?.x ?? 0;
      const most = Math.max(blind, ...points.map(({ y }) => y));
      const ticks = Array.from({ length: Math.floor(most / 2) + 1 }, (_, i) => ({ y: 2 * i, words: String(2 * i) }));
      const stages = found.stages.map((stage) => ({ ...stage, tokens: stage.tokens / MILLION }));
      const end = large(read * MILLION, language);
      const starts = startsOf(stages, read);
      curve.draw({ points, most, ticks, starts, end, level: blind }, width, text("story-learned.loss_curve"));
      const rise = riseOf(found);
      note.textContent = rise ? text("story-learned.loss_rise", { number: rise.number }) : "";
    },
  );
  return {
    name: "loss",
    behind: ["overview", "training"],
    element,
    draw(width) {
      const { trace, language } = state;
      const found = recordOf(glass);
      if (!trace || !found) return null;
      const blind = Math.log(trace.model.vocab_size);
      paint(found, blind, width, language);
      const points = pointsOf(found);
      const [first, last] = [points[0].heldout, points[points.length - 1].heldout];
      const p = Math.exp(-last);
      return {
        words: {
          blind: told(few(blind), blind),
          vocabulary: count(trace.model.vocab_size, language),
          first: told(few(first), first),
          last: told(few(last), last),
          p: told(percent(text, p, language), p),
        },
        value: `first=${exact(first)} last=${exact(last)} blind=${exact(blind)} p=${exact(p)}`,
      };
    },
  };
}
