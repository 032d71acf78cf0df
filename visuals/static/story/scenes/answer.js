// @ts-check
// The answer itself: the sentence with the next word in its gap, an arc to what it rests on, and something to try.

import { topCandidates } from "../../compute.js";
import { exact, h } from "../../dom.js";
import { leftWithout, restsOf } from "../../panels/glance/rests.js";
import { createReadText } from "../../panels/glance/read-text.js";
import { createExperiment } from "../experiment.js";
import { answerOf, bold, named, percent, told } from "../words.js";

const MOST = 120; // letters of the sentence before its words are written smaller

/**
 * @param {import("../scene.js").Glass} glass
 * @returns {import("../scene.js").Scene}
 */
export function createAnswer(glass) {
  const { state, text } = glass;
  const gap = h("strong.wy-gap.st-gap");
  const blank = h("span"); // before its word, where the piece has one
  const sentence = createReadText(glass, (/** @type {string} */ name) => text(`why.${name}`), blank, gap);
  const experiment = createExperiment(glass);
  const element = h("div.st-answer", null, sentence.element, experiment.element);
  return {
    name: "answer",
    behind: ["glance", "why"],
    element,
    draw() {
      const { trace, language } = state;
      if (!trace?.next) return null;
      const [best] = topCandidates(trace.next, 1).rows;
      const answer = answerOf(text, best.piece, trace.model.eos_ids.includes(best.id));
      const found = state.status === "generating" ? null : glass.detail("rests", { token: trace.T - 1 });
      const rests = restsOf(found);
      const ends = trace.model.eos_ids.includes(best.id);
      const bare = ends ? "" : best.piece.trim();
      blank.textContent = bare && bare === best.piece ? "" : " ";
      gap.textContent = bare || answer;
      element.classList.toggle("is-long", trace.prompt.length > MOST);
      sentence.draw({ query: -1, key: -1, inSource: false, strange: [], rests });
      experiment.draw({ word: answer, p: best.probability }, rests);
      const [key] = rests?.tokens ?? [];
      const left = rests && key !== undefined ? leftWithout(rests, key) : NaN;
      const place = `key ${key ?? "-"} without=${exact(left)}`;
      return {
        form: !found ? "_waits" : !rests ? "_other" : key === undefined ? "_none" : `_${rests.form}`,
        words: {
          answer: bold(answer),
          p: told(percent(text, best.probability, language), best.probability),
          key: bold(key === undefined ? "" : named(text, trace.tokens.pieces, key)),
          left: told(Number.isNaN(left) ? "" : percent(text, left, language), left),
        },
        value: `answer ${best.id} '${best.piece}' probability=${exact(best.probability)} ${place}`,
      };
    },
  };
}
