// Logits → temperature → top-k → top-p → the draw, redrawn from the run's own logits while a slider moves.

import { exact, h, share, shown } from "../../dom.js";
import { visible } from "../../draw.js";
import { choices } from "../../controls.js";
import { frame } from "../../frame.js";
import { askedOf, momentOf, offeredOf } from "../../chosen-step.js";
import { noChoice } from "../../parts.js";
import { inView } from "../../pointing.js";
import { createControls } from "./controls.js";
import { filter, probabilityAfter, rank, rest, weigh } from "./filters.js";
import { raceOf, stepsOf } from "./sampling-sums.js";
import { createStages, STAGES } from "./stages.js";

const ROWS = 12;

/** Everything the panel shows of one run and one setting. */
function createCalculation() {
  let logits = null;
  let ranked = null;
  let plain = null;
  let [temperature, weighed] = [NaN, null];
  return (next, settings) => {
    if (next !== logits) {
      logits = next;
      ranked = rank(next);
      plain = filter(ranked, { temperature: 1, topK: 0, topP: 1 });
      temperature = NaN;
    }
    if (settings.temperature !== temperature) {
      temperature = settings.temperature;
      weighed = weigh(ranked, temperature);
    }
    return { ranked, plain, after: filter(ranked, settings, weighed) };
  };
}

/** The token that was written at a moment, where the server's own arithmetic draws another: rounding can tip a draw. */
const asWritten = (drawn, { token }, step) =>
  drawn && (drawn.id === token.id ? drawn : { ...token, probability: step.drawnProbability, race: null });

/** @typedef {ReturnType<ReturnType<typeof createCalculation>>} Result */

/**
 * The probability of the token of a rank after a stage.
 *
 * @param {Result} result
 */
const probabilityIn = ({ plain, after }, stage, rank) =>
  stage === "softmax" ? probabilityAfter(plain, "all", rank) : probabilityAfter(after, stage, rank);

/** The token of a rank in words; one that nobody has named by its id. */
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
 * @returns {(string | number)[][]}
 */
function tableOf(result, { ids, pieces }) {
  const rows = (result ? ids : []).map((_, rank) => {
    const { order, values } = result.ranked;
    const after = STAGES.map((stage) => probabilityIn(result, stage, rank));
    return [rank + 1, order[rank], pieces[rank], values[rank], ...after];
  });
  return [["rank", "id", "piece", "logit", ...STAGES], ...rows];
}

export const about = { tensors: ["logits"], difference: "detail", absent: noChoice };

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function sampling(element, glass) {
  const { state } = glass;
  const calculate = createCalculation();
  const view = { rank: 0, stage: "topP", locked: null };
  let result = null;
  let drawn = null;
  let offered = { ids: [], pieces: [] };
  let step = null; // how the token was drawn that is written here, while that is looked at

  const pieceOf = (rank) => nameOfRank(result, rank, offered, drawn);
  const panel = frame(element, glass, "sampling", {
    csv: () => tableOf(result, offered),
    parts: ["what", "formula", "draw", "myth"],
  });
  const controls = createControls(glass, panel);
  const how = choices(glass, "moment", "draw", ["then", "sliders"]);
  const stages = createStages(panel, ROWS, (place, lock) => {
    if (lock) view.locked = { ...place };
    Object.assign(view, place ?? view.locked ?? { rank: 0, stage: "topP" });
    if (result) tell();
  });
  const sums = h("div.gp-formula.ch-sums");
  panel.body.append(how.element, controls.element, h("div.ch-wide", null, stages.element), sums);

  /** The number under the pointer with its operands. */
  function tell() {
    const { rank, stage } = view;
    const { values } = result.ranked;
    const settings = controls.settings(step);
    const p = probabilityIn(result, stage, rank);
    const piece = pieceOf(rank);
    const greedy = result.after.greedy && stage !== "softmax";
    const reading = greedy ? (p > 0 ? "read_taken" : "read_passed") : p > 0 ? `read_${stage}` : "read_out";
    panel.tell(
      `'${piece}' rank ${rank + 1} ${stage} p=${exact(p)} logit=${exact(values[rank])}`,
      panel.text(reading, { piece, rank: rank + 1, p: share(p), logit: shown(values[rank], 6) }),
    );
    sums.replaceChildren(...stepsOf(panel.text, result, view, settings), ...raceOf(panel.text, drawn));
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
    drawn = step ? asWritten(made, moment, step) : made;
    result = calculate(answer.logits.data, settings);
    const drawnRank = drawn ? result.ranked.order.indexOf(drawn.id) : -1;
    const { pieces } = state.trace.tokens;
    const about = {
      piece: visible(pieces[moment.at + 1] ?? pieces[moment.at]),
      position: moment.at + 1,
      after: visible(pieces[moment.at]),
      count: result.ranked.values.length,
    };
    panel.title.textContent = panel.text(moment.kind === "end" ? "title" : `title_${moment.kind}`, about);
    controls.show(drawn, moment, step);
    const probability = (stage, rank) => probabilityIn(result, stage, rank);
    const others = (stage, from) =>
      stage === "softmax" ? rest(result.plain, "all", from) : rest(result.after, stage, from);
    stages.show({ result, drawn, drawnRank, settings, pieceOf, probability, others });
    tell();
  });
}
