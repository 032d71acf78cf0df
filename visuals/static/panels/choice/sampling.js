// Logits → temperature → top-k → top-p → the draw, redrawn from the run's own logits while a slider moves.

import { labelsOf } from "../../characters.js";
import { count, h, percent, shown } from "../../dom.js";
import { visible } from "../../draw.js";
import { choices } from "../../controls.js";
import { frame } from "../../frame.js";
import { momentOf } from "../../chosen-step.js";
import { noChoice } from "../../parts.js";
import { inView } from "../../pointing.js";
import { reactive } from "../../reads.js";
import { nameInEither, namedInEither, tokenReader } from "../../readings/logits.js";
import { nameOfRank, samplingReader } from "../../readings/sampling.js";
import { readHere, shownIn } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";
import { candidatesPart, comparedAt, lastName } from "./candidates.js";
import { createControls, createSliders, settingsOf } from "./controls.js";
import { raceOf, stepsOf } from "./sampling-sums.js";
import { createStages } from "./stages.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../readings/sampling.js").Place} Place
 *
 * @typedef {import("../../readings/sampling.js").SamplingReading} SamplingReading
 */

const ROWS = 12;
/** @type {Place} what is read before a number is pointed at */
const FIRST = { rank: 0, stage: "topP" };

/** The sliders set both runs' filters. @param {Glass} glass */
function filterControls(glass) {
  const { elements, lively, show } = createSliders(glass);
  return {
    elements: [h("div.ch-controls", null, ...elements, h("div", null, lively))],
    show: () => show(settingsOf(glass)),
  };
}

/** @type {import("../../frame.js").About} */
export const about = {
  tensors: ["logits"],
  difference: {
    reader: tokenReader,
    select: (glass) => ({ ...comparedAt(glass), ...settingsOf(glass) }),
    points: "id",
    first: (a, b) => namedInEither(a, b)[0],
    anyLength: true,
    controls: filterControls,
    without: "b_minus_a.without_draw",
    named: lastName,
    of: ({ text, chosen: { id }, a, b }) => text("of_candidate_filtered", { piece: nameInEither(id, a, b) }),
    parts: [
      candidatesPart({ rows: "probabilities", column: "p", title: "after_filters" }),
      candidatesPart({ rows: "logits", column: "logit", title: "before_filters" }),
    ],
  },
  absent: noChoice,
};

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function sampling(element, glass) {
  const state = shownIn(glass);
  const place = reactive({ under: /** @type {Place | null} */ (null), kept: FIRST }, glass.repaint);
  const panel = frame(element, glass, "sampling", { parts: ["what", "formula", "draw", "myth"] });
  const controls = createControls(glass, panel);
  const how = choices(glass, "moment", "draw", ["then", "sliders"]);
  const stages = createStages({ text: panel.text, whole: glass.text }, ROWS, (pointed, keep) => {
    if (pointed && keep) place.kept = pointed;
    place.under = pointed;
  });

  /** @param {SamplingReading} reading */
  const sums = (reading) => [...stepsOf(panel.text, reading), ...raceOf(panel.text, reading)];
  /** @param {SamplingReading | null} reading null before there is one */
  const view = (reading) => html`
    <div ?hidden=${!reading?.moment.step}>${how.element}</div>
    ${controls.element}
    <div class="ch-wide">${stages.element}</div>
    <div class=${`gp-formula ch-sums${reading?.result.after.greedy ? " is-one" : ""}`}>${reading && sums(reading)}</div>
  `;
  render(view(null), panel.body);

  /** @returns {import("../../readings/sampling.js").SamplingSelection} */
  function select() {
    const { kind, at } = momentOf(state);
    return {
      ...settingsOf(glass),
      ...(place.under ?? place.kept),
      token: kind === "end" ? null : at,
      then: how.now() === "then",
      rests: controls.settled(),
    };
  }

  /** @param {SamplingReading} reading */
  function titleOf({ moment: { at, kind }, result }) {
    const pieces = labelsOf(state.trace.tokens.pieces);
    return panel.text(kind === "end" ? "title" : `title_${kind}`, {
      piece: visible(pieces[at + 1] ?? pieces[at]),
      position: at + 1,
      after: visible(pieces[at]),
      count: count(result.ranked.values.length),
    });
  }

  /** @param {SamplingReading} reading */
  function wordsOf(reading) {
    const { result, values, selection, settings } = reading;
    const { rank, stage } = selection;
    const greedy = result.after.greedy && stage !== "softmax";
    const { topK, topP } = settings;
    // a filter that is off is not said to have done anything
    const last = stage === "topP" && topP === 1 ? "drawn" : stage === "topK" && topK === 0 ? "all" : stage;
    const name = greedy ? (values.p > 0 ? "read_taken" : "read_passed") : values.p > 0 ? `read_${last}` : "read_out";
    const piece = nameOfRank(reading, rank);
    return panel.text(name, { piece, rank: rank + 1, p: percent(values.p, 5), logit: shown(values.logit, 6) });
  }

  return inView(element, function draw() {
    const reading = readHere(glass, samplingReader, select());
    element.toggleAttribute("data-loading", !reading);
    if (!reading) return undefined;
    return () => {
      how.show();
      controls.show(reading);
      stages.show(reading);
      panel.title.textContent = titleOf(reading);
      render(view(reading), panel.body);
      panel.show(reading, wordsOf(reading));
    };
  });
}
