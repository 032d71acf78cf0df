// How the loss on held-out texts fell, beside that of who knows nothing.

import { exact, h } from "../../../dom.js";
import { sentences } from "../../../panels/glance/words.js";
import { lossOf, MILLION } from "../../../readings/record.js";
import { memo } from "../../../reads.js";
import { axesOf, createCurve, readsOf, startsOf } from "../../curve.js";
import { kept } from "../../kept.js";
import { recordOf } from "../../record.js";
import { count, few, large, shareSaid, told } from "../../words.js";

/** @typedef {import("../../../readings/record.js").Loss} Loss */

/**
 * @param {import("../../scene.js").Glass} glass
 * @returns {import("../../scene.js").Scene}
 */
export function createLoss(glass) {
  const { state, text } = glass;
  const curve = createCurve();
  const note = h("p.st-note");
  const element = h("div", null, curve.element, note);
  const readingOf = kept(lossOf);
  const paint = memo((/** @type {Loss} */ { points, read, starts, blind, rise }, width, language) => {
    const most = Math.max(blind, ...points.map(({ y }) => y));
    const ticks = Array.from({ length: Math.floor(most / 2) + 1 }, (_, i) => ({ y: 2 * i, words: String(2 * i) }));
    const axes = axesOf(text, "loss", large(read * MILLION, language));
    const reads = readsOf(read, (tokens) => large(tokens * MILLION, language));
    const curved = { points, most, ticks, starts: startsOf(starts, read), reads, axes, level: blind };
    curve.draw(curved, width, text("story-learned.loss_curve"));
    const rises = rise && { ...rise, from: few(rise.from), to: few(rise.to) };
    const begun = points[0].x * MILLION;
    const first = begun ? text("story-learned.loss_first", { read: large(begun, language) }) : "";
    note.textContent = sentences(text, first, rises ? text("story-learned.loss_rise", rises) : "");
  });
  return {
    name: "loss",
    behind: ["overview", "training"],
    element,
    draw(width) {
      const { trace, language } = state;
      const found = recordOf(glass);
      if (!trace || !found) return null;
      const vocabulary = trace.model.vocab_size;
      const reading = readingOf(found, vocabulary);
      paint(reading, width, language);
      const { blind, first, last, p } = reading;
      return {
        words: {
          blind: told(few(blind), blind),
          vocabulary: count(vocabulary, language),
          first: told(few(first), first),
          last: told(few(last), last),
          p: told(shareSaid(text, p), p),
        },
        value: `first=${exact(first)} last=${exact(last)} blind=${exact(blind)} p=${exact(p)}`,
      };
    },
  };
}
