// A neuron that does much for an answer, in the layer whose feed-forward does most: its gate through SiLU, times up.

import { silu } from "../activations.js";
import { onceFor } from "../arrays.js";

/**
 * @typedef {import("../messages.d.ts").NeuronWrites} Writes
 *
 * @typedef {Pick<Writes, "neuron" | "raised"> & {
 *   gate: number;
 *   up: number;
 *   open: number;
 *   product: number;
 *   adds: number;
 *   rank: number;
 *   names: boolean;
 * }} AnswerNeuron
 *   `open`: SiLU(gate); `product`: SiLU(gate) · up; `adds`: to the answer's logit; `rank`: among the layer's by that;
 *   `names`: whether the answer is among the tokens that it raises most
 */

const LARGE = 0.5; // a neuron that adds so large a part of what the first adds does much, too

/**
 * The layer whose feed-forward adds most to the answer's logit.
 *
 * @param {import("../decoded.d.ts").Detail<"logit_terms">} terms
 */
export const layerForAnswer = ({ ffn: { data } }) => data.indexOf(Math.max(...data));

/**
 * Of the neurons that add much to the logit that was asked for, the first that raises the answer itself most of
 * all, or else among the tokens that it raises most; the first of all where none does; null where none has a gate.
 *
 * @type {(written: import("../decoded.d.ts").Detail<"ffn_written">, answer: number) => AnswerNeuron | null} `written`:
 *   of the layer, most for that logit first
 */
export const answerNeuron = onceFor(({ rows }, /** @type {number} */ answer) => {
  const most = rows[0]?.adds ?? 0;
  const large = rows.filter(({ adds }) => adds !== null && adds >= LARGE * most);
  const names = (/** @type {Writes} */ { raised }) => raised.some(({ id }) => id === answer);
  const row = large.find(({ raised }) => raised[0]?.id === answer) ?? large.find(names) ?? large[0];
  if (!row || row.gate === null || row.up === null || row.adds === null) return null;
  const { neuron, raised, gate, up, adds } = row;
  const open = silu(gate);
  return { neuron, raised, gate, up, open, product: open * up, adds, rank: rows.indexOf(row) + 1, names: names(row) };
});
