// The copied sum of the myth, factor by factor.

/** @typedef {import("./question.js").Answer} Answer */

/**
 * The copied sum: heads times the width of all heads, and one tensor where there are two.
 *
 * @param {Pick<Answer["card"], "n_layers" | "n_heads" | "d_model">} card
 * @param {Pick<Answer, "tokens" | "batch">} asked
 * @returns {import("./format.js").Factor[]}
 */
export const copiedFactors = ({ n_layers: layers, n_heads: heads, d_model }, { tokens, batch: sequences }) => [
  ...Object.entries({ sequences, tokens, layers, heads, d_model }).map(([code, value]) => ({ value, code })),
  { value: 2, code: "bytes", params: { format: "fp16" } },
];
