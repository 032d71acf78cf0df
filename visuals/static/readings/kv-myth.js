// What the copied sum of a cache and the right one are read as: bytes, and how they come about.

import { bytesOf } from "./kv.js";

/**
 * @typedef {import("../decoded.d.ts").Calculation<"kv">} Answer
 *
 * @typedef {{ value: number; code: string; params?: Record<string, unknown> }} Factor
 *
 * @typedef {import("./reading.js").AnswerReading & {
 *   values: { wrong: number; right: number };
 *   copied: Factor[];
 *   ratio: number;
 *   grouped: { bytes: number; group: number } | null;
 * }} MythReading
 *   `copied`: the factors of the copied sum; `ratio`: how many times the right one it is; `grouped`: the right one
 *   where `group` query heads share K and V; null where the model cannot have that
 */

/**
 * The copied sum: heads times the width of all heads, and one tensor where there are two.
 *
 * @param {Pick<Answer["card"], "n_layers" | "n_heads" | "d_model">} card
 * @param {Pick<Answer, "tokens" | "batch">} asked
 * @returns {Factor[]}
 */
const copiedFactors = ({ n_layers: layers, n_heads: heads, d_model }, { tokens, batch: sequences }) => [
  ...Object.entries({ sequences, tokens, layers, heads, d_model }).map(([code, value]) => ({ value, code })),
  { value: 2, code: "bytes", params: { format: "fp16" } },
];

/**
 * Both sums.
 *
 * @param {Answer} answer
 * @returns {MythReading}
 */
export function readMyth(answer) {
  const { card, kinds } = answer;
  const copied = copiedFactors(card, answer);
  const [wrong, right] = [bytesOf(copied), Number(answer.bytes)];
  const gqa = kinds.find(({ kind }) => kind === "GQA");
  return {
    copied,
    ratio: wrong / right,
    grouped: gqa?.bytes ? { bytes: Number(gqa.bytes), group: card.n_heads / gqa.n_kv_heads } : null,
    at: "",
    values: { wrong, right },
    whole: ["wrong", "right"],
    rows: { sums: () => ({ keys: { sum: ["copied", "right"] }, columns: { bytes: [wrong, right] } }) },
  };
}
