// From q·k to the weight: the two lines that every cell's arithmetic has.

import { fraction, inBrackets, line, phrase, root, shown, strong, sub, sup, tinted } from "../../dom.js";

/** The score from q·k. */
export const scoreLine = (dot, width, score, text) =>
  line`${text("score")} = ${fraction(phrase`${tinted("q", "q")}·${tinted("k", "k")}`, root("head_dim"))} = ${fraction(shown(dot, 5), root(String(width)))} = ${strong(score)}`;

/** The softmax of the row: one power over the sum of all. @param {string} [sign] of the weight */
export function weightLine({ score, top, total, weight }, text, sign = " α") {
  const power = (from) => phrase`e${sup(from)}`;
  const all = fraction(power("score − max"), phrase`Σ${sub("j")} e${sup("scoreⱼ − max")}`);
  return line`${text("weight")}${sign} = ${all} = ${fraction(power(`${shown(score, 5)} − ${inBrackets(top)}`), shown(total, 6))} = ${strong(weight)}`;
}
