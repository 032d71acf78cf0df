// The sums of one token on its way to the draw: softmax with a temperature, what the filters leave, and the race that
// draws.

import { formula, fraction, h, percent, shown, sub, tinted } from "../../dom.js";
import { visible } from "../../draw.js";
import { sumAfter } from "../../readings/filters.js";

/**
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../readings/filters.js").Stage} Stage
 *
 * @typedef {import("../../readings/sampling.js").SamplingReading} SamplingReading
 *
 * @typedef {import("../../readings/logits.js").Result} Result
 *
 * @typedef {import("../../readings/filters.js").Settings} Settings
 */

const name = () => tinted("output", "p");
/** A probability with all digits that a sum is checked by. @param {number} p */
const chance = (p) => percent(p, 5);
/** @param {string} text */
const result = (text) => h("strong", null, text);

/**
 * The exponential of how far a logit lies below the largest, divided by the temperature.
 *
 * @param {import("../../readings/filters.js").Ranked} ranked
 * @param {number} rank
 * @param {number} t
 */
const power = ({ values }, rank, t) => `e^((${shown(values[rank], 6)} − ${shown(values[0], 6)}) / ${t})`;

/**
 * What a filter makes of a probability: it is divided by what the filter keeps, or is 0.
 *
 * @param {Say} text the panel's own
 * @param {Node} label
 * @param {Result} of
 * @param {number} rank
 * @param {[Stage, Exclude<Stage, "all">]} stages before and after the filter
 * @param {Settings} settings
 */
function filtered(text, label, { after }, rank, [from, to], { topK, topP }) {
  const kept = after.kept[to];
  if (rank >= kept) return formula(label, " = 0   ", text(`out_${to}`, { rank: rank + 1, kept, k: topK, p: topP }));
  const mass = sumAfter(after, to) / sumAfter(after, from);
  const before = after.weights[rank] / sumAfter(after, from);
  const sum = fraction(chance(before), chance(mass));
  return formula(label, " = ", sum, " = ", result(chance(before / mass)), `   ${text(`mass_${to}`, { kept })}`);
}

/**
 * How the probability that is read comes about, in lines.
 *
 * @param {Say} text the panel's own
 * @param {SamplingReading} reading
 * @returns {HTMLElement[]}
 */
export function stepsOf(text, { result: of, selection: { rank, stage }, settings }) {
  const { ranked, plain, after } = of;
  // at T = 0 nothing is left to work out but what the model itself gives
  if (stage === "softmax" || after.greedy) {
    const whole = sumAfter(plain, "all");
    const sum = fraction(power(ranked, rank, 1), shown(whole, 6));
    const own = chance(plain.weights[rank] / whole);
    return [
      formula(
        text("step", { stage: text("stage_softmax") }),
        "  ",
        name(),
        " = ",
        fraction("e^(l − max)", "Σ"),
        " = ",
        sum,
        " = ",
        result(own),
      ),
    ];
  }
  const all = sumAfter(after, "all");
  const sum = fraction(power(ranked, rank, settings.temperature), shown(all, 6));
  const lines = [formula(name(), sub("T"), " = ", sum, " = ", result(chance(after.weights[rank] / all)))];
  /** @type {(letter: string, stages: [Stage, Exclude<Stage, "all">]) => void} */
  const share = (letter, stages) => {
    lines.push(filtered(text, h("span", null, name(), sub(letter)), of, rank, stages, settings));
  };
  if (stage !== "all") share("k", ["all", "topK"]);
  if (stage === "topP" && rank < after.kept.topK) share("p", ["topK", "topP"]);
  return lines;
}

/**
 * Why the drawn token won: its p / E is the largest.
 *
 * @param {Say} text the panel's own
 * @param {SamplingReading} reading
 * @returns {HTMLElement[]}
 */
export function raceOf(text, { drawn }) {
  if (!drawn?.race) return [];
  const { winner, second } = drawn.race;
  const one = (/** @type {import("../../messages.d.ts").Runner} */ { piece, probability: p, throw: e }) => [
    `“${visible(piece)}” `,
    fraction("p", "E"),
    " = ",
    fraction(chance(p), shown(e, 5)),
    " = ",
    result(shown(p / e, 5)),
  ];
  const beaten = second ? ["   ", text("beat"), " ", ...one(second)] : [];
  return [formula(text("race_why")), formula(text("won"), " ", ...one(winner), ...beaten)];
}
