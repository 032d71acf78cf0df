// The lists beside the thumbnails: heads that a measurement names, on held-out texts or random tokens, and the leaders
// on this very run.

import { shown } from "../../dom.js";
import { memo } from "../../reads.js";
import { CLEAR, leaders, MEASURED, MEASURES } from "../../readings/habits.js";
import { shownIn } from "../../run-for.js";
import { html, nothing } from "../../vendor/lit-html.js";
import { selecting } from "../glance/words.js";
import { done, isMeasuring, isPartial, labelOf, meaningOf, measure, promptOf, undone } from "./known.js";
import { oneLine } from "../../one-line.js";
import { runPrompt } from "./run-prompt.js";

const LEADERS = 3;
const LISTED = 8; // heads of a job
const COPYING = ["copying", "ov_copying"];

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../vendor/lit-html.js").TemplateResult} Template
 *
 * @typedef {import("./known.js").Names | null} Names null until they have come
 *
 * @typedef {import("../../readings/habits.js").Survey} Survey
 *
 * @typedef {{ layer: number; head: number }} Place
 *
 * @typedef {object} Job a job and the heads that do it, in words
 * @property {string} title
 * @property {string} meaning
 * @property {(Place & { words: string })[]} chips
 * @property {string} unclear that no head does it clearly; "" where one does
 * @property {string} more that other heads do it, too; "" where none does
 * @property {string | null} prompt the text that shows it best
 */

/**
 * What a named head scores, and how far this run bears that out, where it is known.
 *
 * @param {Place & { score: number }} one
 * @param {string} name of the job
 * @param {Survey} survey
 * @param {Say} text
 */
function scoreWords({ layer, head, score }, name, survey, text) {
  const one = survey.heads[layer][head];
  const here = one.done ? one[MEASURED[name]] : NaN;
  const scored = text(score < CLEAR ? "chip_weak" : "chip", { layer, head, score: shown(score, 3) });
  return Number.isFinite(here) ? text("chip_here", { chip: scored, here: shown(here, 2) }) : scored;
}

/**
 * @param {Glass} glass
 * @param {import("./known.js").Kind} kind
 * @param {boolean} isRandom
 * @param {Survey} survey
 * @param {Say} text
 * @returns {Job}
 */
function jobOf(glass, kind, isRandom, survey, text) {
  const { name, best } = kind;
  const others = best.length - LISTED;
  return {
    title: labelOf(name, glass.text),
    meaning: meaningOf(kind, glass.text, isRandom),
    more: others > 0 ? text("more", { count: others, least: CLEAR }) : "",
    chips: best.slice(0, LISTED).map((one) => ({ ...one, words: scoreWords(one, name, survey, text) })),
    unclear: best.length && best[0].score < CLEAR ? text("unclear", { least: CLEAR }) : "",
    prompt: best.length ? promptOf(kind, glass.state.language) : null,
  };
}

/**
 * That no head does a job, and how that is measured: of copying, why the model may copy all the same.
 *
 * @param {import("./known.js").Kind} kind
 * @param {Glass} glass
 * @param {boolean} isRandom
 * @param {Say} text
 */
function nobodyDoes(kind, glass, isRandom, text) {
  const said = text("nobody", { jobs: labelOf(kind.name, glass.text) });
  const also = COPYING.includes(kind.name) ? [text("nobody_copying")] : [];
  return [oneLine([said, meaningOf(kind, glass.text, isRandom)]), ...also];
}

/**
 * The heads that do most of a measure on this run.
 *
 * @param {"first" | "previous"} name
 * @param {Survey} survey
 * @param {Say} text
 * @returns {Job}
 */
function leadersOf(name, survey, text) {
  /** @type {(one: Place & { score: number }) => string} */
  const wordsOf = ({ layer, head, score }) => text("chip", { layer, head, score: shown(score, 3) });
  return {
    title: text(`measure_${name}`),
    meaning: text(`measure_${name}_means`),
    chips: leaders(survey.heads, name, LEADERS).map((one) => ({ ...one, words: wordsOf(one) })),
    unclear: "",
    more: "",
    prompt: null,
  };
}

/**
 * What both lists say, of so many heads that are measured.
 *
 * @param {Glass} glass
 * @param {Names} names
 * @param {Survey} survey
 * @param {number} measured
 * @param {Say} text
 */
function describe(glass, names, survey, measured, text) {
  const { T, model } = shownIn(glass).trace;
  const total = model.n_layers * model.n_heads;
  const isRandom = names !== null && names.done !== null;
  return {
    heading: isRandom ? text("named_random", { ...names }) : text("named"),
    jobs: done(names).map((kind) => jobOf(glass, kind, isRandom, survey, text)),
    nobody: undone(names).flatMap((kind) => nobodyDoes(kind, glass, isRandom, text)),
    title: measured < total ? text("measured_part", { done: measured, total }) : text("measured"),
    leading: T < 3 ? null : MEASURES.map((name) => leadersOf(name, survey, text)),
  };
}

/** @param {string} words */
const note = (words) => (words ? html`<p class="gp-note" .textContent=${words}></p>` : nothing);

/**
 * A head as a button that selects it.
 *
 * @param {Glass} glass
 * @param {Job["chips"][number]} chip
 */
function chipView(glass, { layer, head, words }) {
  const chosen = layer === glass.state.layer && head === glass.state.head;
  const act = selecting(glass, { layer, head });
  return html`<button
    class=${chosen ? "at-chip gp-holds is-chosen" : "at-chip gp-holds"}
    @pointerenter=${act.pointerenter}
    @click=${act.click}
    .textContent=${words}
  ></button>`;
}

/**
 * The button that runs the text that shows a job best.
 *
 * @param {Glass} glass
 * @param {string} prompt
 * @param {Place} place
 * @param {Say} text
 */
const offerView = (glass, prompt, { layer, head }, text) =>
  html`<div class="at-chips gp-offer">
    <button
      class="at-chip"
      @click=${() => runPrompt(glass, prompt, { layer, head })}
      .textContent=${text("run_prompt")}
    ></button>
    <span class="gp-note at-best-text" dir="auto" .textContent=${`“${prompt}”`}></span>
  </div>`;

/** @type {(glass: Glass, job: Job, text: Say) => Template} */
const jobView = (glass, { title, meaning, chips, unclear, more, prompt }, text) =>
  html`<div class="at-job">
    <p><strong .textContent=${title}></strong> <span class="gp-note" .textContent=${meaning}></span></p>
    <div class="at-chips">${chips.map((one) => chipView(glass, one))}</div>
    ${note(more)} ${note(unclear)} ${prompt ? offerView(glass, prompt, chips[0], text) : nothing}
  </div>`;

/**
 * What measures the heads' jobs where they are not known, and how far that is.
 *
 * @param {Glass} glass
 * @param {Names} names
 * @param {Say} text
 */
function measuringView(glass, names, text) {
  if (!isPartial(names)) return nothing;
  const now = isMeasuring(glass);
  const button = html`<button
    class="at-chip"
    @click=${() => measure(glass, !now)}
    .textContent=${text(now ? "measure_stop" : "measure")}
  ></button>`;
  if (!now)
    return html`<p class="gp-note" .textContent=${text("measure_means")}></p>
      <div class="at-chips">${button}</div>`;
  return html`<div class="at-chips">
    <progress max=${names.total} value=${names.done} aria-label=${text("measuring_label")}></progress>
    <span class="gp-note" .textContent=${text("measuring", { ...names })}></span>${button}
  </div>`;
}

/**
 * Both lists as templates, of the detail "head_names" and of a run's survey, in which so many heads are measured;
 * `named` is lit's `nothing` where no head's job is known.
 *
 * @param {Glass} glass
 * @returns {(
 *   names: Names,
 *   survey: Survey,
 *   measured: number,
 * ) => { named: Template | typeof nothing; measured: Template }}
 */
export function createJobs(glass) {
  /** @type {Say} */
  const text = (name, params) => glass.text(`heads.${name}`, params);
  /** @type {ReturnType<typeof describe>} */
  let found;
  const read = memo((/** @type {Names} */ names, /** @type {Survey} */ survey, /** @type {number} */ measured) => {
    found = describe(glass, names, survey, measured, text);
  });
  const jobsIn = (/** @type {Job[]} */ list) => list.map((job) => jobView(glass, job, text));
  return (...given) => {
    read(...given);
    const { jobs, nobody, title, leading } = found;
    const measuring = measuringView(glass, given[0], text);
    const heading = jobs.length ? html`<h3 class="gp-subtitle" .textContent=${found.heading}></h3>` : nothing;
    const isThere = jobs.length || nobody.length || measuring !== nothing;
    return {
      named: isThere ? html`${measuring} ${heading} ${jobsIn(jobs)} ${nobody.map(note)}` : nothing,
      measured: html`
        <h3 class="gp-subtitle" .textContent=${title}></h3>
        ${leading ? jobsIn(leading) : note(text("too_short"))}
      `,
    };
  };
}
