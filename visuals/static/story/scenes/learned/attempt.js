// To be tried: a row of words that the model has never read, and what it puts next.

import { topCandidates } from "../../../compute.js";
import { exact, h } from "../../../dom.js";
import { glossOf } from "../../../gloss.js";
import { memo } from "../../../reads.js";
import { createOutside } from "../../../panels/glance/outside.js";
import { createBars } from "../../bars.js";
import { answerOf, bold, shareSaid, told, wordOf } from "../../words.js";

const SHOWN = 4;

/**
 * @param {import("../../scene.js").Glass} glass
 * @returns {import("../../scene.js").Scene}
 */
export function createAttempt(glass) {
  const { state, text } = glass;
  const [bars, outside] = [createBars({ isShare: true }), createOutside(glass)];
  const sequence = () => text("story-learned.sequence");
  const sentence = h("p.st-row", { dir: "auto" });
  const run = h("button.st-act", { click: () => glass.read(sequence()) });
  const element = h("div", null, sentence, bars.element, h("p.st-acts", null, run));
  const paint = memo(
    (
      /** @type {import("../../../decode.js").Next} */ next,
      eos,
      _language,
      /** @type {import("../../../gloss.js").Gloss} */ gloss,
    ) => {
      bars.draw(
        topCandidates(next, SHOWN).rows.map(({ id, piece, probability }, i) => ({
          name: answerOf(text, piece, eos.includes(id)) + gloss(piece),
          value: probability,
          words: shareSaid(text, probability),
          strong: i === 0,
        })),
      );
    },
  );
  return {
    name: "attempt",
    behind: ["glance", "next"],
    element,
    notes: outside.element,
    draw() {
      const { trace, language, status } = state;
      if (!trace?.next) return null;
      const { eos_ids: eos } = trace.model;
      paint(trace.next, eos, language, glossOf(glass));
      outside.draw();
      const there = trace.prompt === sequence() && trace.T === trace.nPrompt;
      const written = trace.steps.slice(0, trace.T - trace.nPrompt).map(({ piece }) => piece);
      sentence.textContent = trace.prompt + written.join("");
      run.textContent = text("story-learned.attempt_act", { sequence: sequence() });
      run.hidden = there;
      run.disabled = status !== "idle";
      const [best] = topCandidates(trace.next, 1).rows;
      return {
        form: there ? "_there" : "",
        words: {
          sequence: bold(sequence()),
          own: h("span.st-of-page", null, text(`story-learned.attempt_own${there ? "_there" : ""}`)),
          last: bold(wordOf(trace.tokens.pieces[trace.T - 1])),
          answer: bold(answerOf(text, best.piece, eos.includes(best.id))),
          p: told(shareSaid(text, best.probability), best.probability),
        },
        value: `answer ${best.id} p=${exact(best.probability)}`,
      };
    },
  };
}
