// The list beside the thumbnails: heads that a measurement on held-out texts names, and the leaders on this very run.

import { h, shown, watcher } from "../../dom.js";
import { CLEAR, labelOf, meaningOf } from "./names.js";
import { runPrompt } from "./run-prompt.js";
import { leaders, MEASURES } from "./survey.js";

const LEADERS = 3;

/** @param {object} glass */
export function createJobs(glass) {
  const text = (name, params) => glass.text(`heads.${name}`, params);
  const named = h("div");
  const measured = h("div");
  const element = h("div.at-jobs", null, named, measured);
  const chips = [];

  /** A head as a button that selects it. */
  function chip({ layer, head, score }, weak = false) {
    const button = h(
      "button.at-chip.gp-holds",
      { type: "button" },
      text(weak ? "chip_weak" : "chip", { layer, head, score: shown(score, 3) }),
    );
    button.addEventListener("click", () => glass.select({ layer, head }));
    chips.push({ button, layer, head });
    return button;
  }

  function jobOf(kind) {
    const { name, best, prompt } = kind;
    const parts = [
      h(
        "p",
        null,
        h("strong", null, labelOf(name, glass.text)),
        " ",
        h("span.gp-note", null, meaningOf(kind, glass.text)),
      ),
    ];
    parts.push(h("div.at-chips", null, ...best.map((one) => chip(one, one.score < CLEAR))));
    if (best.length && best[0].score < CLEAR) parts.push(h("p.gp-note", null, text("unclear", { least: CLEAR })));
    if (prompt && best.length) {
      const button = h("button.at-chip", { type: "button" }, text("run_prompt"));
      button.addEventListener("click", () => runPrompt(glass, prompt, { layer: best[0].layer, head: best[0].head }));
      parts.push(h("div.at-chips.gp-offer", null, button, h("span.gp-note", { dir: "auto" }, `“${prompt}”`)));
    }
    return h("div.at-job", null, ...parts);
  }

  function measureOf(survey, name) {
    const best = leaders(survey.heads, name, LEADERS);
    return h(
      "div.at-job",
      null,
      h(
        "p",
        null,
        h("strong", null, text(`measure_${name}`)),
        " ",
        h("span.gp-note", null, text(`measure_${name}_means`)),
      ),
      h("div.at-chips", null, ...best.map((one) => chip(one))),
    );
  }

  const anew = watcher();
  /** @param {object|null} names the detail "head_names" @param {object} survey @param {number} done heads that are measured */
  function draw(names, survey, done) {
    const { language, layer, head, trace } = glass.state;
    if (anew(names, survey, done, language)) {
      chips.length = 0;
      const kinds = names?.kinds ?? [];
      named.replaceChildren(...(kinds.length ? [h("h3.gp-subtitle", null, text("named"))] : []), ...kinds.map(jobOf));
      const total = trace.model.n_layers * trace.model.n_heads;
      measured.replaceChildren(
        h(kinds.length ? "h3.gp-subtitle.at-after" : "h3.gp-subtitle", null, done < total ? text("measured_part", { done, total }) : text("measured")),
        ...(trace.T < 3 ? [h("p.gp-note", null, text("too_short"))] : MEASURES.map((name) => measureOf(survey, name))),
      );
    }
    for (const one of chips) one.button.classList.toggle("is-chosen", one.layer === layer && one.head === head);
  }
  return { element, draw };
}
