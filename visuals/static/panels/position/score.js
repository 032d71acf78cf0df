// The numbers of the score panel: q·k at the run's positions and moved, by pair, and of all the run's pairs by
// distance.

import { onceFor } from "../../arrays.js";
import { kvHead, rotatedHead, scaledByRoot } from "../../compute.js";
import { wavelength } from "../../rotation.js";
import { fraction, inBrackets, line, phrase, root, shown, strong, tinted } from "../../dom.js";
import { small } from "./place.js";
import { turnsPart } from "../../readings/rope-place.js";
import { byDistance, product, singleTerms, sum } from "../../readings/turning.js";

/**
 * @typedef {import("../../readings/rope-place.js").RopePlace} Place
 *
 * @typedef {ReturnType<typeof scoreOf>} Score
 */

/**
 * Everything the panel shows.
 *
 * @param {Place} place
 * @param {number} both what both positions are moved by
 * @param {number} distance of the query from the key
 */
export function scoreOf({ q, k, rest, m, n, model, frequencies }, both, distance) {
  const [key, query] = [n + both, n + both + distance];
  const here = singleTerms(q, k, m, n, frequencies);
  const moved = singleTerms(q, k, query, key, frequencies);
  const [sumHere, sumMoved] = [sum(here, true), sum(moved, true)];
  const precise = product(q, k, query, key, frequencies) - product(q, k, m, n, frequencies);
  const scores = [sumHere, sumMoved].map((s) => (s + rest) * model.parts.scale);
  return { here, moved, sumHere, sumMoved, deviation: sumMoved - sumHere, precise, query, key, scores };
}

/**
 * q·k of all the run's pairs of one head by distance; computed once a head.
 *
 * @type {(
 *   layer: import("../../decode.js").Layer,
 *   head: number,
 *   model: import("../../decode.js").Model,
 * ) => ReturnType<typeof byDistance>}
 */
export const runOf = onceFor((layer, head, model) =>
  byDistance(rotatedHead(layer, model, "q", head), rotatedHead(layer, model, "k", kvHead(model, head)), model.head_dim),
);

/**
 * The lines under the sliders.
 *
 * @param {Score} found
 * @param {Place} place
 * @param {number} pair
 * @param {number} frequency
 * @param {import("../../types.d.ts").Say} text
 * @returns {HTMLElement[]}
 */
export function arithmetic(found, { m, n, model, rest }, pair, frequency, text) {
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
      ? [strong(sum, 6), ` + ${shown(rest, 6)} (${text("unrotated")}) = `, strong(sum + rest, 6)]
      : [strong(sum, 6)];
  const atRun = query === m && key === n;
  const was = atRun ? "" : `   ${text("was", { value: shown(here[pair], 5) })}`;
  const turning = { pair, frequency: shown(frequency, 5), wavelength: shown(wavelength(frequency), 4) };
  const summed = text("sum", { pairs: here.length });
  const [score, scoreMoved] = [sumHere, sumMoved].map((sum, i) => [scaled(sum + rest), " = ", strong(scores[i])]);
  const inDouble = same ? `   ${text("precise", { deviation: small(precise) })}` : "";
  return [
    line`${text("pair_line", turning)}   ${strong(moved[pair])}${was}`,
    line`${text("real", { m, n })}   ${qk()} = ${summed} = ${whole(sumHere)},   ${score} = ${text("score")}`,
    ...(atRun
      ? []
      : [
          line`${text("moved", { m: query, n: key })}   ${qk()} = ${whole(sumMoved)},   ${scoreMoved}`,
          line`${text(same ? "stays" : "changes")}   ${text("by", { deviation: small(deviation) })}${inDouble}`,
          ...(query < model.max_context ? [] : [line`${text("beyond", { m: query, context: model.max_context })}`]),
        ]),
  ];
}
