// @ts-check
// How the loaded model was trained and what was measured of it, from the files beside its weights.

import { createChart } from "../../chart.js";
import { h } from "../../dom.js";
import { frame } from "../../frame.js";
import { inView } from "../../pointing.js";
import { shownIn } from "../../run-for.js";

/**
 * @typedef {import("../../decoded.d.ts").Detail<"training">} Training
 *
 * @typedef {import("../../types.d.ts").Say} Say
 */

const DASHES = { solid: "solid", dash: "dashed", dot: "dotted" }; // by plotly's name, CSS'

const percent = (/** @type {number} */ value) => `${Number((100 * value).toFixed(1))}%`;

/**
 * One row a skill, one column a language, with what is aimed at.
 *
 * @param {Training["measured"]} measured
 * @param {Say} text
 */
function skillRows(measured, text) {
  const languages = [...new Set(measured.map(({ language }) => language))];
  const skills = [...new Set(measured.map(({ name }) => name))];
  const head = [text("skill"), ...languages.map((language) => text(`language_${language}`)), text("aim")];
  const rows = skills.map((name) => {
    const lines = measured.filter((line) => line.name === name);
    const cells = languages.map((language) => {
      const line = lines.find((one) => one.language === language);
      return line
        ? h("td.gp-number", null, percent(line.right / line.cases), h("small", null, ` ${line.right}/${line.cases}`))
        : h("td");
    });
    return h(
      "tr",
      null,
      h("th.gp-token", { scope: "row" }, text(`skill_${name}`)),
      ...cells,
      h("td.gp-number", null, percent(lines[0].bar)),
    );
  });
  return [
    h("thead", null, h("tr", null, ...head.map((name, i) => h(i ? "th" : "th.is-left", { scope: "col" }, name)))),
    h("tbody", null, ...rows),
  ];
}

/**
 * What each line of the chart of answers is: its stroke and its skill.
 *
 * @param {NonNullable<Training["answers"]>} answers
 * @param {Say} text
 */
function legend({ data }, text) {
  return data.map(({ name, line }) => {
    const stroke = h("span.ov-stroke");
    stroke.style.borderTop = `3px ${DASHES[line.dash]} ${line.color}`;
    return h("span.gp-sample", null, stroke, text(name.replace("text:training.", "")));
  });
}

/**
 * Which stage has which number in the chart, and where it begins.
 *
 * @param {Training["stages"]} stages
 * @param {Say} text
 * @param {(name: string) => string} name what a stage is called
 * @param {string} language
 */
function stageRows(stages, text, name, language) {
  const count = new Intl.NumberFormat(language, { notation: "compact", maximumFractionDigits: 1 }); // "8M", "800万"
  return stages.map((stage) =>
    h(
      "li",
      null,
      h("strong", null, String(stage.number)),
      " ",
      name(stage.name),
      " ",
      h("small", null, text("stage_from", { tokens: count.format(stage.tokens) })),
    ),
  );
}

/**
 * The log, the answers while training went on, and what the finished model was measured to do.
 *
 * @param {Training} found
 * @returns {(string | number)[][]}
 */
function table({ log, answers, measured }) {
  const losses = log.flatMap(([stage, tokens, loss, heldout]) => [
    ["training_loss", stage, "", tokens, loss],
    ["heldout_loss", stage, "", tokens, heldout],
  ]);
  const lines = (answers?.data ?? []).flatMap(({ name, x, y }) =>
    x.map((millions, i) => [
      "right_answers",
      name.replace("text:training.skill_", ""),
      "",
      Math.round(millions * 1e6),
      y[i],
    ]),
  );
  const skills = measured.map(({ name, language, right, cases }) => [
    "measured",
    name,
    language,
    "",
    right / cases,
    right,
    cases,
  ]);
  const widths = [...losses, ...lines].map((row) => [...row, "", ""]);
  return [["what", "stage_or_skill", "language", "tokens_read", "value", "right", "cases"], ...widths, ...skills];
}

export const about = { namesChanges: false };

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function training(element, glass) {
  const state = shownIn(glass);
  const charts = {
    loss: createChart(glass, { label: "training.loss" }),
    answers: createChart(glass, { label: "training.answers" }),
  };
  /** @type {Training | null} */
  let known = null;
  const csv = () => (known ? table(known) : []);
  const panel = frame(element, glass, "training", { csv, pointed: false });
  const empty = h("p.gp-note");
  const skills = h("table.gp-table.ov-skills");
  const stages = h("ul.ov-stages");
  const [begin, leap] = [h("p.gp-note", { "data-text": "training.stages" }), h("p.gp-note")];
  const named = (/** @type {string} */ name) =>
    name.startsWith("text:") ? glass.text(name.slice("text:".length)) : name;
  const samples = h("div.gp-samples");
  const aim = h("p.gp-note", { "data-text": "training.aim_meaning" });
  const part = (/** @type {string} */ name, /** @type {HTMLElement[]} */ ...content) =>
    h(`div.ov-${name}`, { "data-part": name }, h("h3.gp-subtitle", { "data-text": `training.${name}` }), ...content);
  const parts = {
    loss: part("loss", charts.loss.element, begin, stages, leap),
    answers: part("answers", charts.answers.element, samples),
    measured: part(
      "measured",
      h("div.ov-scroll", { tabindex: "0", role: "region", "data-text-label": "training.measured" }, skills),
      aim,
    ),
  };
  panel.body.append(empty, parts.loss, parts.answers, parts.measured);
  glass.translate(element);

  /**
   * Under the chart of the loss its stages, and where the one in which answers leap begins.
   *
   * @param {Training} found
   */
  function drawStages(found) {
    stages.replaceChildren(...stageRows(found.stages, panel.text, named, state.language));
    begin.hidden = stages.hidden = !found.stages.length;
    const back = found.stages.find(({ name }) => name === "text:training.stage_backwards");
    leap.textContent = back ? panel.text("leap", { number: back.number }) : "";
  }

  return inView(element, function draw() {
    const found = glass.detail("training");
    known = found;
    panel.title.textContent = panel.text("title", { model: glass.modelName(state.trace.model.name) });
    const nothing = !found?.log.length && !found?.measured.length;
    empty.hidden = !nothing;
    empty.textContent = panel.text(found ? "empty" : "waiting");
    parts.measured.hidden = !found?.measured.length;
    for (const name of /** @type {const} */ (["loss", "answers"])) {
      const figure = found?.[name];
      parts[name].hidden = !figure;
      if (figure)
        charts[name].draw(figure, name).catch((error) => {
          empty.hidden = false;
          empty.textContent = String(error.message);
        });
    }
    if (found?.loss) drawStages(found);
    if (found?.answers) samples.replaceChildren(...legend(found.answers, panel.text));
    if (found?.measured.length) skills.replaceChildren(...skillRows(found.measured, panel.text));
    const last = found?.log.at(-1);
    panel.tell(last ? `tokens=${last[1]} heldout=${last[3]}` : "");
  });
}
