// The sums of one token on its way to the draw: softmax with a temperature, what the filters leave, and the race that
// draws.

import { fraction, h, shown, sub, tinted } from "../../dom.js";
import { visible } from "../../draw.js";
import { probabilityAfter, sumAfter } from "./filters.js";

const name = () => tinted("output", "p");
const line = (...parts) => h("p", null, ...parts);
const result = (value) => h("strong", null, shown(value, 5));

/** e to the power of a logit below the largest, divided by the temperature. */
const power = ({ values }, rank, t) => `e^((${shown(values[rank], 6)} − ${shown(values[0], 6)}) / ${t})`;

/** What a filter makes of a probability: it is divided by what the filter keeps, or is 0. */
function filtered(text, label, { after }, rank, [from, to], { topK, topP }) {
  const kept = after.kept[to];
  if (rank >= kept) return line(label, " = 0   ", text(`out_${to}`, { rank: rank + 1, kept, k: topK, p: topP }));
  const mass = sumAfter(after, to) / sumAfter(after, from);
  const before = after.weights[rank] / sumAfter(after, from);
  const sum = fraction(shown(before, 5), shown(mass, 6));
  return line(label, " = ", sum, " = ", result(before / mass), `   ${text(`mass_${to}`, { kept })}`);
}

/**
 * How the probability of the token of a rank after a stage comes about, in lines.
 *
 * @param {Function} text the panel's own
 * @param {import("./sampling.js").Result} of
 * @param {{ rank: number; stage: string }} place
 * @param {{ temperature: number; topK: number; topP: number }} settings
 * @returns {HTMLElement[]}
 */
export function stepsOf(text, of, { rank, stage }, settings) {
  const { ranked, plain, after } = of;
  if (stage === "softmax") {
    const all = sumAfter(plain, "all");
    const sum = fraction(power(ranked, rank, 1), shown(all, 6));
    return [
      line(
        name(),
        " = ",
        fraction("e^(l − max)", "Σ"),
        " = ",
        sum,
        " = ",
        result(probabilityAfter(plain, "all", rank)),
      ),
    ];
  }
  if (after.greedy) return [line(text("greedy"))];
  const all = sumAfter(after, "all");
  const sum = fraction(power(ranked, rank, settings.temperature), shown(all, 6));
  const lines = [line(name(), sub("T"), " = ", sum, " = ", result(after.weights[rank] / all))];
  const share = (letter, stages) =>
    lines.push(filtered(text, h("span", null, name(), sub(letter)), of, rank, stages, settings));
  if (stage !== "all") share("k", ["all", "topK"]);
  if (stage === "topP" && rank < after.kept.topK) share("p", ["topK", "topP"]);
  return lines;
}

/**
 * Why the drawn token won: its p / E is the largest.
 *
 * @param {Function} text the panel's own
 * @param {object | null} drawn the answer "draw"
 * @returns {HTMLElement[]}
 */
export function raceOf(text, drawn) {
  if (!drawn?.race) return [];
  const { winner, second } = drawn.race;
  const one = ({ piece, probability: p, throw: e }) => [
    `“${visible(piece)}” `,
    fraction("p", "E"),
    " = ",
    fraction(shown(p, 5), shown(e, 5)),
    " = ",
    result(p / e),
  ];
  const beaten = second ? ["   ", text("beat"), " ", ...one(second)] : [];
  return [line(text("race_why")), line(text("won"), " ", ...one(winner), ...beaten)];
}
