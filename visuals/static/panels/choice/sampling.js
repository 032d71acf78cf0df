// Logits → temperature → top-k → top-p → the draw, redrawn from the run's own logits while a slider moves.

import { once } from "../../arrays.js";
import { exact, h, share, shown } from "../../dom.js";
import { visible } from "../../draw.js";
import { choices } from "../../controls.js";
import { frame } from "../../frame.js";
import { askedOf, momentOf, offeredOf } from "../../chosen-step.js";
import { noChoice } from "../../parts.js";
import { inView } from "../../pointing.js";
import { shownIn } from "../../run-for.js";
import { createControls } from "./controls.js";
import { filter, probabilityAfter, rank, rest, weigh } from "./filters.js";
import { raceOf, stepsOf } from "./sampling-sums.js";
import { createStages, STAGES } from "./stages.js";

/**
 * @typedef {import("./filters.js").Ranked} Ranked
 *
 * @typedef {import("./filters.js").Filtered} Filtered
 *
 * @typedef {import("./filters.js").Weighed} Weighed
 *
 * @typedef {import("./filters.js").Settings} Settings
 *
 * @typedef {import("./stages.js").Column} Column
 *
 * @typedef {{ ranked: Ranked; plain: Filtered; after: Filtered }} Result `plain`: by softmax alone, `after`: by the
 *   settings
 *
 * @typedef {Pick<import("../../decoded.d.ts").Detail<"draw">, "id" | "piece" | "probability" | "race">} Drawn
 *
 * @typedef {{ ids: number[]; pieces: string[] }} Named the candidates that have a name
 */

const ROWS = 12;
/** @type {import("./stages.js").Place} what is read before a number is pointed at */
const FIRST = { rank: 0, stage: "topP" };

/**
 * Everything the panel shows of one run's logits and one setting; what stays the same is not worked out again.
 *
 * @returns {(logits: ArrayLike<number>, settings: Settings) => Result}
 */
function createCalculation() {
  const ranking = once((/** @type {ArrayLike<number>} */ logits) => {
    const ranked = rank(logits);
    return { ranked, plain: filter(ranked, { temperature: 1, topK: 0, topP: 1 }) };
  });
  /** @type {{ of: Ranked; temperature: number; weighed: Weighed } | null} the last one: a slider passes many */
  let last = null;
  return (logits, settings) => {
    const { ranked, plain } = ranking(logits);
    const { temperature } = settings;
    if (last?.of !== ranked || last.temperature !== temperature)
      last = { of: ranked, temperature, weighed: weigh(ranked, temperature) };
    return { ranked, plain, after: filter(ranked, settings, last.weighed) };
  };
}

/**
 * The token that was written at a moment, where the server's own arithmetic draws another: rounding can tip a draw.
 *
 * @param {Drawn | null} drawn
 * @param {import("../../chosen-step.js").Moment} moment
 * @param {import("../../decode.js").Step} step
 * @returns {Drawn | null}
 */
const asWritten = (drawn, { token }, step) =>
  drawn && (!token || drawn.id === token.id ? drawn : { ...token, probability: step.drawnProbability, race: null });

/**
 * The probability of the token of a rank after a stage.
 *
 * @param {Result} result
 * @param {Column} stage
 * @param {number} rank
 */
const probabilityIn = ({ plain, after }, stage, rank) =>
  stage === "softmax" ? probabilityAfter(plain, "all", rank) : probabilityAfter(after, stage, rank);

/**
 * The token of a rank in words; one that nobody has named by its id.
 *
 * @param {Result} result
 * @param {number} rank
 * @param {Named} named
 * @param {Drawn | null} drawn
 */
function nameOfRank({ ranked }, rank, { ids, pieces }, drawn) {
  const id = ranked.order[rank];
  const at = ids.indexOf(id);
  if (at >= 0) return visible(pieces[at]);
  return drawn?.id === id ? visible(drawn.piece) : `#${id}`;
}

/**
 * Each candidate with its probability after each stage; the heads alone before they have come.
 *
 * @param {Result | null} result
 * @param {Named} named
 * @returns {(string | number)[][]}
 */
function tableOf(result, { pieces }) {
  const heads = ["rank", "id", "piece", "logit", ...STAGES];
  if (!result) return [heads];
  const { order, values } = result.ranked;
  const rows = pieces.map((piece, rank) => {
    const after = STAGES.map((stage) => probabilityIn(result, stage, rank));
    return [rank + 1, order[rank], piece, values[rank], ...after];
  });
  return [heads, ...rows];
}

/** @type {import("../../frame.js").About} */
export const about = { tensors: ["logits"], difference: "detail", absent: noChoice };

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function sampling(element, glass) {
  const state = shownIn(glass);
  const calculate = createCalculation();
  /** @type {import("./stages.js").Place} */
  let view = FIRST;
  let locked = FIRST;
  /** @type {Result | null} */
  let result = null;
  /** @type {Drawn | null} */
  let drawn = null;
  /** @type {Named} */
  let offered = { ids: [], pieces: [] };
  /** @type {import("../../decode.js").Step | null} how the token here was drawn, while that is looked at */
  let step = null;

  const panel = frame(element, glass, "sampling", {
    csv: () => tableOf(result, offered),
    parts: ["what", "formula", "draw", "myth"],
  });
  const controls = createControls(glass, panel);
  const how = choices(glass, "moment", "draw", ["then", "sliders"]);
  const stages = createStages(panel, ROWS, (place, lock) => {
    if (place && lock) locked = place;
    view = place ?? locked;
    if (result) tell(result);
  });
  const sums = h("div.gp-formula.ch-sums");
  panel.body.append(how.element, controls.element, h("div.ch-wide", null, stages.element), sums);

  /**
   * The number under the pointer with its operands.
   *
   * @param {Result} of
   */
  function tell(of) {
    const { rank, stage } = view;
    const { values } = of.ranked;
    const settings = controls.settings(step);
    const p = probabilityIn(of, stage, rank);
    const piece = nameOfRank(of, rank, offered, drawn);
    const greedy = of.after.greedy && stage !== "softmax";
    const reading = greedy ? (p > 0 ? "read_taken" : "read_passed") : p > 0 ? `read_${stage}` : "read_out";
    panel.tell(
      `'${piece}' rank ${rank + 1} ${stage} p=${exact(p)} logit=${exact(values[rank])}`,
      panel.text(reading, { piece, rank: rank + 1, p: share(p), logit: shown(values[rank], 6) }),
    );
    sums.replaceChildren(...stepsOf(panel.text, of, view, settings), ...raceOf(panel.text, drawn));
  }

  return inView(element, function draw() {
    const moment = momentOf(state);
    const answer = glass.detail("logits", askedOf(moment));
    const next = offeredOf(glass, moment);
    element.toggleAttribute("data-loading", !answer || !next);
    if (!answer || !next) return;
    how.element.hidden = !moment.step;
    how.show();
    step = how.now() === "then" ? moment.step : null;
    const settings = controls.settings(step);
    const made = step || controls.settled() ? glass.detail("draw", controls.asked(moment, step)) : null;
    offered = next;
    const draws = (drawn = step ? asWritten(made, moment, step) : made);
    const of = (result = calculate(answer.logits.data, settings));
    const drawnRank = draws ? of.ranked.order.indexOf(draws.id) : -1;
    const { pieces } = state.trace.tokens;
    const about = {
      piece: visible(pieces[moment.at + 1] ?? pieces[moment.at]),
      position: moment.at + 1,
      after: visible(pieces[moment.at]),
      count: of.ranked.values.length,
    };
    panel.title.textContent = panel.text(moment.kind === "end" ? "title" : `title_${moment.kind}`, about);
    controls.show(draws, moment, step);
    stages.show({
      result: of,
      drawn: draws,
      drawnRank,
      settings,
      pieceOf: (rank) => nameOfRank(of, rank, next, draws),
      probability: (stage, rank) => probabilityIn(of, stage, rank),
      others: (stage, from) => (stage === "softmax" ? rest(of.plain, "all", from) : rest(of.after, stage, from)),
    });
    tell(of);
  });
}
