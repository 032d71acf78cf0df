// The arithmetic of the score panel, line by line.

import { scaledByRoot } from "../../compute.js";
import { fraction, line, phrase, root, shown, strong, tinted } from "../../dom.js";
import { added, bracketed, writtenOut } from "../../equation.js";
import { small, turnText } from "./place.js";
import { turnsPart } from "../../readings/rope-place.js";

/** @typedef {import("../../readings/rope-score.js").ScoreReading} ScoreReading */

/**
 * q·k of the pairs, with the channels outside them, and the score: in the run, as moved, and what the move makes of
 * it; a pair's turning. In digits that come out.
 *
 * @param {ScoreReading} reading
 */
function written({ found, place, values: { inv_freq: frequency, wavelength } }) {
  const { sumHere, sumMoved, deviation, scores } = found;
  const { model, rest } = place;
  const { head_dim, parts } = model;
  const scaled = (/** @type {number} */ whole, /** @type {number} */ by) =>
    scaledByRoot(model) ? whole / Math.sqrt(head_dim) : whole * by;
  const plus = (/** @type {number} */ pairs, /** @type {number} */ others) => pairs + others;
  const values = {
    rest,
    factor: parts.scale,
    sum: sumHere,
    whole: sumHere + rest,
    score: scores[0],
    sum_moved: sumMoved,
    whole_moved: sumMoved + rest,
    score_moved: scores[1],
    deviation,
    frequency,
    wavelength,
  };
  /** @type {import("../../equation.js").Step<keyof typeof values>[]} */
  const steps = [
    ["whole", ["sum", "rest"], plus],
    ["score", ["whole", "factor"], scaled],
    ["whole_moved", ["sum_moved", "rest"], plus],
    ["score_moved", ["whole_moved", "factor"], scaled],
    ["wavelength", ["frequency"], (theta) => (2 * Math.PI) / theta],
  ];
  if (!isSame(found, place)) steps.push(["deviation", ["whole_moved", "whole"], (to, from) => to - from]);
  const six = { digits: 6 };
  return writtenOut(values, steps, {
    of: {
      rest: six,
      factor: six,
      sum: six,
      whole: six,
      sum_moved: six,
      whole_moved: six,
      deviation: { digits: 3, write: small },
      frequency: { digits: 3 },
      wavelength: { write: turnText },
    },
  });
}

/**
 * Whether query and key are as far apart as in the run.
 *
 * @param {ScoreReading["found"]} found
 * @param {ScoreReading["place"]} place
 */
const isSame = ({ query, key }, { m, n }) => query - key === m - n;

/**
 * The lines under the sliders.
 *
 * @param {ScoreReading} reading
 * @param {import("../../types.d.ts").Say} text
 * @returns {HTMLElement[]}
 */
export function arithmetic(reading, text) {
  const { found, place, selection } = reading;
  const { m, n, model } = place;
  const { pair } = selection;
  const qk = () => phrase`${tinted("q", "q")}·${tinted("k", "k")}`;
  const { query, key, deviation, precise, here, moved } = found;
  const same = isSame(found, place);
  const said = written(reading);
  const scaled = (/** @type {string} */ whole) =>
    scaledByRoot(model) ? fraction(whole, root(String(model.head_dim))) : `${bracketed(whole)} · ${said.factor}`;
  // What channels outside the pairs add is the same wherever both stand.
  const whole = (/** @type {string} */ sum, /** @type {string} */ all) =>
    turnsPart(model) ? [strong(sum), ` ${added(said.rest)} ${text("unrotated")} = `, strong(all)] : [strong(all)];
  const atRun = query === m && key === n;
  const was = atRun ? "" : `   ${text("was", { value: shown(here[pair], 5) })}`;
  const turning = { pair, frequency: said.frequency, wavelength: said.wavelength };
  const summed = text("sum", { pairs: here.length });
  /** @type {(sum: string, all: string, score: string) => (Node | string)[]} */
  const scored = (sum, all, score) => [...whole(sum, all), ";   ", scaled(all), " = ", strong(score)];
  const inRun = scored(said.sum, said.whole, said.score);
  const afterMove = scored(said.sum_moved, said.whole_moved, said.score_moved);
  const by = same ? { deviation: small(deviation), precise: small(precise) } : { deviation: said.deviation };
  return [
    line`${text("pair_line", turning)}   ${strong(moved[pair])}${was}`,
    line`${text("real", { m, n })}   ${qk()} = ${summed} = ${inRun} = ${text("score")}`,
    ...(atRun
      ? []
      : [
          line`${text("moved", { m: query, n: key })}   ${qk()} = ${afterMove}`,
          line`${text(same ? "stays" : "changes")}   ${text(same ? "rounding" : "by", by)}`,
          ...(query < model.max_context ? [] : [line`${text("beyond", { m: query, context: model.max_context })}`]),
        ]),
  ];
}

/**
 * The sum and the score in the run and as moved, for a class that compares them.
 *
 * @param {ScoreReading} reading
 * @param {import("../../types.d.ts").Say} text
 * @returns {HTMLElement[]}
 */
export function sums(reading, text) {
  const { query, key } = reading.found;
  const { m, n } = reading.place;
  const qk = () => phrase`${tinted("q", "q")}·${tinted("k", "k")}`;
  const said = written(reading);
  /** @type {(name: string, at: { m: number; n: number }, whole: string, score: string) => HTMLElement} */
  const one = (name, at, whole, score) =>
    line`${text(name, at)}   ${qk()} = ${strong(whole)}${text("and_score")} ${strong(score)}`;
  const both = [
    one("real", { m, n }, said.whole, said.score),
    one("moved", { m: query, n: key }, said.whole_moved, said.score_moved),
  ];
  for (const element of both) element.dataset.result = "";
  return both;
}
