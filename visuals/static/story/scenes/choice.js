// The choice: scores become probabilities; a temperature makes them more or less even.

import { topCandidates } from "../../compute.js";
import { slider } from "../../controls.js";
import { exact, h } from "../../dom.js";
import { glossed, glossOf } from "../../gloss.js";
import { heatedIn } from "../../readings/next.js";
import { memo, reactive } from "../../reads.js";
import { samplingOf } from "../../sampling.js";
import { shareBar } from "../bars.js";
import { kept } from "../kept.js";
import { answerBeside, answerOf, bold, chanceSaid, count } from "../words.js";

const [SHOWN, LEAST, MOST, STEP] = [6, 0.1, 3, 0.1]; // candidates, and temperatures

/** @typedef {import("../../readings/next.js").Heated} Heated */

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
  const apart = h("p.st-note");
  const element = h("div", null, h("table.st-choices", null, body), heat.element, apart);
  const readingOf = kept(heatedIn);
  let of = ""; // whose temperature it is: another text, or network, begins at 1
  glass.on("run", ({ prompt, model }) => {
    const now = `${model.name} ${prompt}`;
    if (now !== of) view.temperature = 1;
    of = now;
  });
  /**
   * @param {(Node | string)[]} name
   * @param {number} p
   */
  const rowOf = (name, p, isRest = false) =>
    h(
      `tr${isRest ? ".is-others" : ""}`,
      null,
      h("th", { scope: "row" }, ...name),
      h("td.st-track", null, shareBar(p)),
      h("td.st-share", { title: exact(p, 6) }, chanceSaid(text, p)),
    );
  const paint = memo((/** @type {Heated[]} */ candidates, /** @type {number} */ others, language, eos, gloss) => {
    const left = Math.max(0, 1 - candidates.reduce((sum, { probability }) => sum + probability, 0));
    body.replaceChildren(
      ...candidates.map(({ id, piece, probability }, i) => {
        const earlier = candidates.slice(0, i).map((one) => one.piece);
        return rowOf(glossed(answerBeside(text, piece, earlier, eos.includes(id)), gloss(piece)), probability);
      }),
      ...(others ? [rowOf([text("story.choice_others", { count: count(others, language) })], left, true)] : []),
    );
  });
  /** @type {(trace: import("../../decode.js").Trace, id: number, piece: string) => HTMLElement} */
  const nameOf = ({ model }, id, piece) =>
    bold(answerOf(text, piece, model.eos_ids.includes(id)) + glossOf(glass)(piece));
  return {
    name: "choice",
    behind: ["choice", "sampling"],
    element,
    has: ({ parts: { stack } }) => stack !== "encoder",
    asks() {
      const { trace } = state;
      if (!trace?.next) return {};
      const [{ id, piece }] = topCandidates(trace.next, 1).rows;
      return { words: { answer: nameOf(trace, id, piece) } };
    },
    draw() {
      const { trace, language } = state;
      const found = trace?.next && glass.detail("logits", {});
      if (!trace?.next || !found) return null;
      const { temperature } = view;
      const candidates = readingOf(trace.next, found.logits.data, temperature, SHOWN);
      paint(candidates, found.logits.data.length - candidates.length, language, trace.model.eos_ids, glossOf(glass));
      heat.show(temperature, temperature.toFixed(1));
      apart.textContent = text("story.choice_apart", { set: samplingOf(glass.settings).temperature });
      const [{ id, piece, probability }] = candidates;
      return {
        words: {
          answer: nameOf(trace, id, piece),
          vocabulary: bold(count(trace.model.vocab_size, language)),
          temperature: bold(temperature.toFixed(1)),
        },
        select: { query: trace.T - 1 },
        value: `temperature ${temperature.toFixed(1)} first ${id} probability=${exact(probability)}`,
      };
    },
  };
}
