// The neuron that does most for an answer, in the layer whose feed-forward does most: its gate through SiLU, times up.

import { silu } from "../activations.js";
import { once } from "../arrays.js";

/**
 * @typedef {import("../messages.d.ts").NeuronWrites} Writes
 *
 * @typedef {Pick<Writes, "neuron" | "raised"> & {
 *   gate: number;
 *   up: number;
 *   open: number;
 *   product: number;
 *   adds: number;
 * }} AnswerNeuron
 *   `open`: SiLU(gate); `product`: SiLU(gate) · up; `adds`: to the answer's logit
 */

/**
 * The layer whose feed-forward adds most to the answer's logit.
 *
 * @param {import("../decoded.d.ts").Detail<"logit_terms">} terms
 */
export const layerForAnswer = ({ ffn: { data } }) => data.indexOf(Math.max(...data));

/**
 * The neuron that adds most to the logit that was asked for; null where none has a gate.
 *
 * @type {(written: import("../decoded.d.ts").Detail<"ffn_written">) => AnswerNeuron | null} `written`: of the
 *   layer, most for that logit first
 */
export const answerNeuron = once(({ rows: [row] }) => {
  if (!row || row.gate === null || row.up === null || row.adds === null) return null;
  const { neuron, raised, gate, up, adds } = row;
  const open = silu(gate);
  return { neuron, raised, gate, up, open, product: open * up, adds };
});
