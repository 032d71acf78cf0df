// How the loaded model was trained and what was measured of it, from the files beside its weights.

import { createChart } from "../../chart.js";
import { shortCount } from "../../counts.js";
import { frame } from "../../frame.js";
import { inView } from "../../pointing.js";
import { trainingReader } from "../../readings/training.js";
import { reactive } from "../../reads.js";
import { readHere, shownIn } from "../../run-for.js";
import { html, nothing, render } from "../../vendor/lit-html.js";

/**
 * @typedef {import("../../readings/training.js").Training} Training
 *
 * @typedef {import("../../types.d.ts").Glass} Glass
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
function skillTable(measured, text) {
  const languages = [...new Set(measured.map(({ language }) => language))];
  const skills = [...new Set(measured.map(({ name }) => name))];
  const heads = [...languages.map((language) => text(`language_${language}`)), text("aim")];
  const cell = (/** @type {Training["measured"][number] | undefined} */ line) =>
    line
      ? html`<td class="gp-number">
          ${line.right / line.cases < line.bar ? "↓ " : ""}${percent(line.right / line.cases)}<small
            .textContent=${` ${line.right}/${line.cases}`}
          ></small>
        </td>`
      : html`<td></td>`;
  const row = (/** @type {string} */ name) => {
    const lines = measured.filter((line) => line.name === name);
    return html`<tr>
      <th class="gp-token" scope="row" .textContent=${text(`skill_${name}`)}></th>
      ${languages.map((language) => cell(lines.find((one) => one.language === language)))}
      <td class="gp-number" .textContent=${percent(lines[0].bar)}></td>
    </tr>`;
  };
  return html`<table class="gp-table ov-skills">
    <thead>
      <tr>
        <th class="is-left" scope="col" .textContent=${text("skill")}></th>
        ${heads.map((name) => html`<th scope="col" .textContent=${name}></th>`)}
      </tr>
    </thead>
    <tbody>
      ${skills.map(row)}
    </tbody>
  </table>`;
}

/**
 * What each line of the chart of answers is: its stroke and its skill.
 *
 * @param {NonNullable<Training["answers"]>} answers
 * @param {Say} text
 */
const legend = ({ data }, text) =>
  data.map(
    ({ name, line }) =>
      html`<span class="gp-sample"
        ><span class="ov-stroke" style=${`border-top: 3px ${DASHES[line.dash]} ${line.color}`}></span
        >${text(name.replace("text:training.", ""))}</span
      >`,
  );

/**
 * Which stage has which number in the chart, where it begins, and which is the one in which answers leap.
 *
 * @param {Training["stages"]} stages
 * @param {Say} text
 * @param {Glass} glass
 */
function stageList(stages, text, glass) {
  const named = (/** @type {string} */ name) =>
    name.startsWith("text:") ? glass.text(name.slice("text:".length)) : name;
  const leap = stages.find(({ name }) => name === "text:training.stage_backwards");
  if (!stages.length) return nothing;
  return html`<p class="gp-note" .textContent=${text("stages")}></p>
    <ul class="ov-stages">
      ${stages.map(
        ({ number, name, tokens }) =>
          html`<li>
            <strong>${number}</strong> ${named(name)}
            <small .textContent=${text("stage_from", { tokens: shortCount(tokens, glass.state.language, 3) })}></small>
          </li>`,
      )}
    </ul>
    <p class="gp-note" .textContent=${leap ? text("leap", { number: leap.number }) : ""}></p>`;
}

export const about = { namesChanges: false, ofModel: true };

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function training(element, glass) {
  const state = shownIn(glass);
  const charts = {
    loss: createChart(glass, { label: "training.loss" }),
    answers: createChart(glass, { label: "training.answers" }),
  };
  const panel = frame(element, glass, "training", { pointed: false });
  const { text } = panel;
  const told = reactive({ failed: "" }, glass.repaint);

  /**
   * A part under its heading; it stays where it is while it has nothing to show, so that its chart keeps its room.
   *
   * @param {string} name
   * @param {unknown} shown whether there is something
   * @param {unknown} content
   */
  const part = (name, shown, content) =>
    html`<div class=${`ov-${name}`} data-part=${name} ?hidden=${!shown}>
      <h3 class="gp-subtitle" .textContent=${text(name)}></h3>
      ${content}
    </div>`;

  /** @param {Training | null} found null before it has come */
  function view(found) {
    const none = found ? "empty" : "waiting";
    const note = told.failed || (found?.log.length || found?.measured.length ? "" : text(none));
    const { loss, answers, measured = [], stages = [] } = found ?? {};
    return html`
      <p class="gp-note" ?hidden=${!note} .textContent=${note}></p>
      ${part("loss", loss, html`${charts.loss.element}${stageList(stages, text, glass)}`)}
      ${part(
        "answers",
        answers,
        html`${charts.answers.element}
          <div class="gp-samples">${answers ? legend(answers, text) : nothing}</div>`,
      )}
      ${part(
        "measured",
        measured.length,
        html`<div class="ov-scroll" tabindex="0" role="region" aria-label=${text("measured")}>
            ${measured.length ? skillTable(measured, text) : nothing}
          </div>
          <p class="gp-note" .textContent=${text("aim_meaning")}></p>`,
      )}
    `;
  }

  return inView(element, function draw() {
    const reading = readHere(glass, trainingReader, {});
    const found = reading?.found ?? null;
    panel.title.textContent = text("title", { model: glass.modelName(state.trace.model.name) });
    render(view(found), panel.body);
    const figures = state.language === "zh" ? found?.in_ten_thousands : found;
    for (const name of /** @type {const} */ (["loss", "answers"])) {
      const figure = figures?.[name];
      if (figure)
        charts[name].draw(figure, name).catch((error) => {
          told.failed = String(error.message);
        });
    }
    if (reading) panel.show(reading, "");
    else panel.tell("");
  });
}
