// The lists beside the thumbnails: heads that a measurement on held-out texts names, and the leaders on this very run.

import { h, shown } from "../../dom.js";
import { memo } from "../../reads.js";
import { leaders, MEASURED, MEASURES } from "../../readings/habits.js";
import { CLEAR, done, labelOf, meaningOf, promptOf, undone } from "./known.js";
import { runPrompt } from "./run-prompt.js";

const LEADERS = 3;

/**
 * @param {object} glass
 * @returns {{ named: HTMLElement; measured: HTMLElement; draw: (...shown: any[]) => void }} `named` is empty where
 *   no head's job is known
 */
export function createJobs(glass) {
  const text = (name, params) => glass.text(`heads.${name}`, params);
  const [named, measured] = [h("div.at-jobs"), h("div.at-jobs")];
  const chips = [];

  /**
   * A head as a button that selects it.
   *
   * @param {{ layer: number; head: number; score: number }} head
   * @param {boolean} [weak] whether its score is no clear one
   * @param {number} [here] how far this run bears its score out, where that is known
   */
  function chip({ layer, head, score }, weak = false, here = NaN) {
    const scored = text(weak ? "chip_weak" : "chip", { layer, head, score: shown(score, 3) });
    const words = Number.isFinite(here) ? text("chip_here", { chip: scored, here: shown(here, 2) }) : scored;
    const button = h("button.at-chip.gp-holds", { click: () => glass.select({ layer, head }) }, words);
    chips.push({ button, layer, head });
    return button;
  }

  const titled = (title, meaning) => h("p", null, h("strong", null, title), " ", h("span.gp-note", null, meaning));

  function jobOf(kind, survey) {
    const { name, best } = kind;
    const prompt = promptOf(kind, glass.state.language);
    const here = ({ layer, head }) =>
      survey.heads[layer][head].done ? survey.heads[layer][head][MEASURED[name]] : NaN;
    const parts = [
      titled(labelOf(name, glass.text), meaningOf(kind, glass.text)),
      h("div.at-chips", null, ...best.map((one) => chip(one, one.score < CLEAR, here(one)))),
    ];
    if (best.length && best[0].score < CLEAR) parts.push(h("p.gp-note", null, text("unclear", { least: CLEAR })));
    if (prompt && best.length) {
      const button = h(
        "button.at-chip",
        { click: () => runPrompt(glass, prompt, { layer: best[0].layer, head: best[0].head }) },
        text("run_prompt"),
      );
      parts.push(h("div.at-chips.gp-offer", null, button, h("span.gp-note", { dir: "auto" }, `“${prompt}”`)));
    }
    return h("div.at-job", null, ...parts);
  }

  function measureOf(survey, name) {
    const chosen = leaders(survey.heads, name, LEADERS).map((one) => chip(one));
    return h(
      "div.at-job",
      null,
      titled(text(`measure_${name}`), text(`measure_${name}_means`)),
      h("div.at-chips", null, ...chosen),
    );
  }

  /**
   * @param {object | null} names the detail "head_names"
   * @param {object} survey
   * @param {number} measuredHeads how many of its heads are measured
   */
  const fill = memo((names, survey, measuredHeads) => {
    const { trace } = glass.state;
    chips.length = 0;
    const kinds = done(names);
    const nobody = undone(names).map(({ name }) => labelOf(name, glass.text));
    named.replaceChildren(
      ...(kinds.length ? [h("h3.gp-subtitle", null, text("named"))] : []),
      ...kinds.map((kind) => jobOf(kind, survey)),
      ...(nobody.length ? [h("p.gp-note", null, text("nobody", { jobs: nobody.join(", ") }))] : []),
    );
    const total = trace.model.n_layers * trace.model.n_heads;
    measured.replaceChildren(
      h(
        "h3.gp-subtitle",
        null,
        measuredHeads < total ? text("measured_part", { done: measuredHeads, total }) : text("measured"),
      ),
      ...(trace.T < 3 ? [h("p.gp-note", null, text("too_short"))] : MEASURES.map((name) => measureOf(survey, name))),
    );
  });

  function draw(...shownOnes) {
    const { layer, head } = glass.state;
    fill(...shownOnes);
    for (const one of chips) one.button.classList.toggle("is-chosen", one.layer === layer && one.head === head);
  }
  return { named, measured, draw };
}
