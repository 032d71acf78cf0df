// @ts-check
// The answer itself: the sentence with the next word in its gap, an arc to what it rests on, and something to try.

import { topCandidates } from "../../compute.js";
import { exact, h } from "../../dom.js";
import { leftWithout, restsOf } from "../../panels/glance/rests.js";
import { createReadText } from "../../panels/glance/read-text.js";
import { createExperiment } from "../experiment.js";
import { answerOf, bold, named, percent, told } from "../words.js";

const MOST = 120; // letters of the sentence before its words are written smaller

/** @typedef {import("../../decode.js").Trace} Trace */

/**
 * Whether a token ends the text.
 *
 * @param {Trace} trace
 * @param {number} id
 */
const endsWith = ({ model }, id) => model.eos_ids.includes(id);

/**
 * In which form the answer is told: by what it rests on, as far as that has come and can be measured.
 *
 * @param {import("../../decoded.d.ts").Detail<"rests"> | null} found
 * @param {import("../../panels/glance/rests.js").Rests | null} rests
 */
function formOf(found, rests) {
  if (!found) return "_waits";
  if (!rests) return "_other";
  return rests.tokens.length ? `_${rests.form}` : "_none";
}

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

  /**
   * The next word stands in the gap; while the model writes, what it has written.
   *
   * @param {Trace} trace
   * @param {string} piece of the next word
   * @param {string} answer the same by name
   */
  function fillGap({ generating, steps }, piece, answer) {
    const bare = piece.trim();
    const written = generating ? steps.map((step) => step.piece).join("") : "";
    blank.textContent = !written && bare && bare === piece ? "" : " ";
    gap.textContent = written || (answer === bare ? bare : answer);
  }
  return {
    name: "answer",
    behind: ["glance", "why"],
    element,
    draw() {
      const { trace, language } = state;
      if (!trace?.next) return null;
      const [best] = topCandidates(trace.next, 1).rows;
      const answer = answerOf(text, best.piece, endsWith(trace, best.id));
      const found = state.status === "generating" ? null : glass.detail("rests", { token: trace.T - 1 });
      const rests = restsOf(found);
      const over = endsWith(trace, trace.tokens.ids[trace.T - 1]);
      fillGap(trace, best.piece, answer);
      for (const part of [blank, gap, experiment.element]) part.hidden = over;
      element.classList.toggle("is-long", trace.prompt.length > MOST);
      sentence.draw({ query: -1, key: -1, inSource: false, strange: [], rests });
      experiment.draw({ id: best.id, word: answer, p: best.probability }, rests);
      const [key] = rests?.tokens ?? [];
      const left = rests && key !== undefined ? leftWithout(rests, key) : NaN;
      const place = `key ${key ?? "-"} without=${exact(left)}`;
      return {
        form: over ? "_ended" : trace.generating ? "_writes" : formOf(found, rests),
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
