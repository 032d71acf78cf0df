// The arithmetic of the score panel, line by line.

import { scaledByRoot } from "../../compute.js";
import { fraction, inBrackets, line, phrase, root, shown, strong, tinted } from "../../dom.js";
import { small, turnText } from "./place.js";
import { turnsPart } from "../../readings/rope-place.js";

/**
 * The lines under the sliders.
 *
 * @param {import("../../readings/rope-score.js").ScoreReading} reading
 * @param {import("../../types.d.ts").Say} text
 * @returns {HTMLElement[]}
 */
export function arithmetic({ found, place: { m, n, model, rest }, selection: { pair }, values }, text) {
  const qk = () => phrase`${tinted("q", "q")}·${tinted("k", "k")}`;
  const { query, key, sumHere, sumMoved, deviation, precise, here, moved, scores } = found;
  const same = query - key === m - n;
  const scaled = (/** @type {number} */ sum) =>
    scaledByRoot(model)
      ? fraction(shown(sum, 6), root(String(model.head_dim)))
      : `${inBrackets(sum, 6)} · ${shown(model.parts.scale, 6)}`;
  // What channels outside the pairs add is the same wherever both stand.
  const whole = (/** @type {number} */ sum) =>
    turnsPart(model)
      ? [strong(sum, 6), ` + ${shown(rest, 6)} ${text("unrotated")} = `, strong(sum + rest, 6)]
      : [strong(sum, 6)];
  const atRun = query === m && key === n;
  const was = atRun ? "" : `   ${text("was", { value: shown(here[pair], 5) })}`;
  const turning = { pair, frequency: shown(values.inv_freq, 3), wavelength: turnText(values.wavelength) };
  const summed = text("sum", { pairs: here.length });
  const [score, scoreMoved] = [sumHere, sumMoved].map((sum, i) => [scaled(sum + rest), " = ", strong(scores[i])]);
  const by = same ? { deviation: small(deviation), precise: small(precise) } : { deviation: small(deviation) };
  return [
    line`${text("pair_line", turning)}   ${strong(moved[pair])}${was}`,
    line`${text("real", { m, n })}   ${qk()} = ${summed} = ${whole(sumHere)}   ${score} = ${text("score")}`,
    ...(atRun
      ? []
      : [
          line`${text("moved", { m: query, n: key })}   ${qk()} = ${whole(sumMoved)}   ${scoreMoved}`,
          line`${text(same ? "stays" : "changes")}   ${text(same ? "rounding" : "by", by)}`,
          ...(query < model.max_context ? [] : [line`${text("beyond", { m: query, context: model.max_context })}`]),
        ]),
  ];
}

/**
 * The sum and the score in the run and as moved, for a class that compares them.
 *
 * @param {import("../../readings/rope-score.js").ScoreReading} reading
 * @param {import("../../types.d.ts").Say} text
 * @returns {HTMLElement[]}
 */
export function sums({ found: { query, key, sumHere, sumMoved, scores }, place: { m, n, rest } }, text) {
  const qk = () => phrase`${tinted("q", "q")}·${tinted("k", "k")}`;
  /** @type {(name: string, at: { m: number; n: number }, sum: number, score: number) => HTMLElement} */
  const said = (name, at, sum, score) =>
    line`${text(name, at)}   ${qk()} = ${strong(sum + rest, 6)}${text("and_score")} ${strong(score, 5)}`;
  const both = [said("real", { m, n }, sumHere, scores[0]), said("moved", { m: query, n: key }, sumMoved, scores[1])];
  for (const one of both) one.dataset.result = "";
  return both;
}
