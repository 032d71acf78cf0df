// The sums of one token on its way to the draw: softmax with a temperature, what the filters leave, and the race that
// draws.

import { formula, fraction, h, percent, shown, sub, tinted } from "../../dom.js";
import { visible } from "../../draw.js";
import { bracketed, writtenOut } from "../../equation.js";
import { sumAfter } from "../../readings/filters.js";

/**
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../readings/filters.js").Stage} Stage
 *
 * @typedef {import("../../readings/sampling.js").SamplingReading} SamplingReading
 *
 * @typedef {import("../../readings/filters.js").Settings} Settings
 */

const name = () => tinted("output", "p");
/** @param {string} text */
const result = (text) => h("strong", null, text);
/** Probabilities, with all digits that a sum is checked by. */
const CHANCE = { digits: 5, write: percent };
const POINT = { digits: 6, write: shown };

/**
 * Everything that the sums print, in digits that come out: a logit and the largest, the sum of all powers, what is
 * left after each stage (`all`, `topK`, `topP`) and how much of the mass a filter keeps.
 *
 * @param {import("../../readings/filters.js").Ranked} ranked
 * @param {import("../../readings/filters.js").Filtered} after
 * @param {number} rank
 * @param {number} t the temperature
 */
function written({ values }, after, rank, t) {
  const all = sumAfter(after, "all");
  const [first, second] = [sumAfter(after, "topK"), sumAfter(after, "topP")];
  const weight = after.weights[rank];
  return writtenOut(
    {
      logit: values[rank],
      max: values[0],
      sum: all,
      all: weight / all,
      mass_topK: first / all,
      topK: weight / first,
      mass_topP: second / first,
      topP: weight / second,
    },
    [
      ["all", ["logit", "max", "sum"], (logit, max, sum) => Math.exp((logit - max) / t) / sum],
      ["topK", ["all", "mass_topK"], (p, mass) => p / mass],
      ["topP", ["topK", "mass_topP"], (p, mass) => p / mass],
    ],
    { ...CHANCE, of: { logit: POINT, max: POINT, sum: POINT } },
  );
}

/**
 * What a filter makes of a probability: it is divided by what the filter keeps, or is 0; one that is off leaves it.
 *
 * @param {Say} text the panel's own
 * @param {Node} label
 * @param {{ said: ReturnType<typeof written>; kept: number; rank: number }} of
 * @param {[Stage, Exclude<Stage, "all">]} stages before and after the filter
 * @param {Settings} settings
 */
function filtered(text, label, { said, kept, rank }, [from, to], { topK, topP }) {
  const letter = h("span", null, name(), sub(from === "all" ? "T" : "k"));
  if (to === "topK" ? topK === 0 : topP === 1)
    return formula(label, " = ", letter, " = ", result(said[to]), `   ${text(`off_${to}`)}`);
  if (rank >= kept) return formula(label, " = 0   ", text(`out_${to}`, { rank: rank + 1, kept, k: topK, p: topP }));
  const sum = fraction(said[from], said[`mass_${to}`]);
  return formula(label, " = ", sum, " = ", result(said[to]), `   ${text(`mass_${to}`, { kept })}`);
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
  const isOwn = stage === "softmax" || after.greedy;
  const t = isOwn ? 1 : settings.temperature;
  const said = written(ranked, isOwn ? plain : after, rank, t);
  const sum = fraction(`e^((${said.logit} − ${bracketed(said.max)}) / ${t})`, said.sum);
  const own = result(said.all);
  if (isOwn) {
    const start = text("step", { stage: text("stage_softmax") });
    return [formula(start, "  ", name(), " = ", fraction("e^(l − max)", "Σ"), " = ", sum, " = ", own)];
  }
  const lines = [formula(name(), sub("T"), " = ", sum, " = ", own)];
  /** @type {(letter: string, stages: [Stage, Exclude<Stage, "all">]) => void} */
  const share = (letter, stages) => {
    const { [stages[1]]: kept } = after.kept;
    lines.push(filtered(text, h("span", null, name(), sub(letter)), { said, kept, rank }, stages, settings));
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
  const one = (/** @type {import("../../messages.d.ts").Runner} */ { piece, probability: p, throw: e }) => {
    const steps = /** @type {import("../../equation.js").Step<"p" | "e" | "ratio">[]} */ ([
      ["ratio", ["p", "e"], (a, b) => a / b],
    ]);
    const said = writtenOut({ p, e, ratio: p / e }, steps, { of: { p: CHANCE } });
    return [`“${visible(piece)}” `, fraction("p", "E"), " = ", fraction(said.p, said.e), " = ", result(said.ratio)];
  };
  const beaten = second ? ["   ", text("beat"), " ", ...one(second)] : [];
  return [formula(text("race_why")), formula(text("won"), " ", ...one(winner), ...beaten)];
}
