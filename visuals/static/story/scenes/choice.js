// The choice: scores become probabilities; a temperature makes them more or less even.

import { slider } from "../../controls.js";
import { exact, h } from "../../dom.js";
import { glossed, glossOf } from "../../gloss.js";
import { memo, reactive } from "../../reads.js";
import { answerOf, bold, count, percent } from "../words.js";

const [SHOWN, LEAST, MOST, STEP] = [6, 0.1, 3, 0.1]; // candidates, and temperatures

/**
 * ln of the sum of e^(logit / temperature) over the whole vocabulary.
 *
 * @param {ArrayLike<number>} logits
 * @param {number} temperature
 */
function logSum(logits, temperature) {
  let top = -Infinity;
  for (let i = 0; i < logits.length; i++) if (logits[i] > top) top = logits[i];
  let sum = 0;
  for (let i = 0; i < logits.length; i++) sum += Math.exp((logits[i] - top) / temperature);
  return top / temperature + Math.log(sum);
}

/**
 * @param {import("../scene.js").Glass} glass
 * @returns {import("../scene.js").Scene}
 */
export function createChoice(glass) {
  const { state, text } = glass;
  const view = reactive({ temperature: 1 }, glass.repaint);
  const body = h("tbody");
  const heat = slider("st-slider", "story.choice_heat", { min: LEAST, max: MOST, step: STEP }, (value) => {
    view.temperature = value;
  });
  const element = h("div", null, h("table.st-choices", null, body), heat.element);
  const paint = memo(
    (/** @type {import("../../decode.js").Next} */ next, logits, temperature, language, eos, gloss) => {
      const z = logSum(logits, temperature);
      body.replaceChildren(
        ...next.ids.slice(0, SHOWN).map((id, i) => {
          const p = Math.exp(next.logits.data[i] / temperature - z);
          return h(
            "tr",
            null,
            h(
              "th",
              { scope: "row" },
              ...glossed(answerOf(text, next.pieces[i], eos.includes(id)), gloss(next.pieces[i])),
            ),
            h("td.st-track", null, h("span.st-bar", { style: `width: ${100 * p}%` })),
            h("td.st-share", { title: exact(p, 6) }, percent(text, p, language)),
          );
        }),
      );
      body.dataset.first = exact(Math.exp(next.logits.data[0] / temperature - z));
    },
  );
  return {
    name: "choice",
    behind: ["choice", "sampling"],
    element,
    has: ({ parts: { stack } }) => stack !== "encoder",
    draw() {
      const { trace, language } = state;
      const found = trace?.next && glass.detail("logits", {});
      if (!trace?.next || !found) return null;
      const { temperature } = view;
      paint(trace.next, found.logits.data, temperature, language, trace.model.eos_ids, glossOf(glass));
      heat.show(temperature, temperature.toFixed(1));
      const [id] = trace.next.ids;
      return {
        words: {
          answer: bold(answerOf(text, trace.next.pieces[0], trace.model.eos_ids.includes(id))),
          vocabulary: bold(count(trace.model.vocab_size, language)),
        },
        value: `temperature ${temperature.toFixed(1)} first ${id} probability=${body.dataset.first}`,
      };
    },
  };
}
