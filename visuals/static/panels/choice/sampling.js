// Logits → temperature → top-k → top-p → the draw, redrawn from the run's own logits while a slider moves.

import { exact, fraction, h, share, shown, sub, tinted } from "../../dom.js";
import { visible } from "../../draw.js";
import { choices } from "../../controls.js";
import { frame } from "../../frame.js";
import { askedOf, momentOf, offeredOf } from "../../chosen-step.js";
import { noChoice } from "../../parts.js";
import { inView } from "../../pointing.js";
import { createControls } from "./controls.js";
import { filter, probabilityAfter, rank, rest, sumAfter, weigh } from "./filters.js";
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

  const pieceOf = (rank) => {
    const id = result.ranked.order[rank];
    const at = offered.ids.indexOf(id);
    if (at >= 0) return visible(offered.pieces[at]);
    return drawn?.id === id ? visible(drawn.piece) : `#${id}`;
  };
  const probability = (stage, rank) =>
    stage === "softmax" ? probabilityAfter(result.plain, "all", rank) : probabilityAfter(result.after, stage, rank);
  const others = (stage, from) =>
    stage === "softmax" ? rest(result.plain, "all", from) : rest(result.after, stage, from);

  const table = () => [
    ["rank", "id", "piece", "logit", ...STAGES],
    ...(result ? offered.ids : []).map((_, rank) => [
      rank + 1,
      result.ranked.order[rank],
      offered.pieces[rank],
      result.ranked.values[rank],
      ...STAGES.map((stage) => probability(stage, rank)),
    ]),
  ];
  const panel = frame(element, glass, "sampling", { csv: table, parts: ["what", "formula", "draw", "myth"] });
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
    const p = probability(stage, rank);
    const piece = pieceOf(rank);
    const greedy = result.after.greedy && stage !== "softmax";
    const reading = greedy ? (p > 0 ? "read_taken" : "read_passed") : p > 0 ? `read_${stage}` : "read_out";
    panel.tell(
      `'${piece}' rank ${rank + 1} ${stage} p=${exact(p)} logit=${exact(values[rank])}`,
      panel.text(reading, { piece, rank: rank + 1, p: share(p), logit: shown(values[rank], 6) }),
    );
    sums.replaceChildren(...arithmetic(rank, stage, settings), ...race());
  }

  function arithmetic(rank, stage, { temperature, topK, topP }) {
    const { ranked, plain, after } = result;
    const name = () => tinted("output", "p");
    const line = (...parts) => h("p", null, ...parts);
    const power = (t) => `e^((${shown(ranked.values[rank], 6)} − ${shown(ranked.values[0], 6)}) / ${t})`;
    if (stage === "softmax") {
      return [
        line(
          name(),
          " = ",
          fraction("e^(l − max)", "Σ"),
          " = ",
          fraction(power(1), shown(sumAfter(plain, "all"), 6)),
          " = ",
          h("strong", null, shown(probability(stage, rank), 5)),
        ),
      ];
    }
    if (after.greedy) return [line(panel.text("greedy"))];
    const weight = after.weights[rank];
    const lines = [
      line(
        name(),
        sub("T"),
        " = ",
        fraction(power(temperature), shown(sumAfter(after, "all"), 6)),
        " = ",
        h("strong", null, shown(weight / sumAfter(after, "all"), 5)),
      ),
    ];
    const share = (label, from, to) => {
      if (rank >= after.kept[to])
        return lines.push(
          line(label, " = 0   ", panel.text(`out_${to}`, { rank: rank + 1, kept: after.kept[to], k: topK, p: topP })),
        );
      const mass = sumAfter(after, to) / sumAfter(after, from);
      const before = weight / sumAfter(after, from);
      lines.push(
        line(
          label,
          " = ",
          fraction(shown(before, 5), shown(mass, 6)),
          " = ",
          h("strong", null, shown(before / mass, 5)),
          `   ${panel.text(`mass_${to}`, { kept: after.kept[to] })}`,
        ),
      );
    };
    if (stage !== "all") share(h("span", null, name(), sub("k")), "all", "topK");
    if (stage === "topP" && rank < after.kept.topK) share(h("span", null, name(), sub("p")), "topK", "topP");
    return lines;
  }

  /** Why the drawn token won: its p / E is the largest. */
  function race() {
    if (!drawn?.race) return [];
    const { winner, second } = drawn.race;
    const one = ({ piece, probability: p, throw: e }) => [
      `“${visible(piece)}” `,
      fraction("p", "E"),
      " = ",
      fraction(shown(p, 5), shown(e, 5)),
      " = ",
      h("strong", null, shown(p / e, 5)),
    ];
    return [
      h("p", null, panel.text("race_why")),
      h(
        "p",
        null,
        panel.text("won"),
        " ",
        ...one(winner),
        ...(second ? ["   ", panel.text("beat"), " ", ...one(second)] : []),
      ),
    ];
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
    stages.show({ result, drawn, drawnRank, settings, pieceOf, probability, others });
    tell();
  });
}
