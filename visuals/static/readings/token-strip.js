// The run's tokens, and how much attention the selected head's query gives to each.

import { attention } from "../compute.js";

/**
 * @typedef {{ layer: number; head: number; query: number; key: number }} StripSelection
 *
 * @typedef {import("./reading.js").Reading<StripSelection> & { weights: Float64Array | null }} StripReading
 *   `weights`: of the tokens that the query sees, null until the layer is here
 */

/** The column of the weights. @param {number} query */
export const weightColumn = (query) => `attention_weight_from_${query}`;

/** @type {import("./reading.js").Reader<StripReading>} */
export const tokensReader = {
  read({ trace }, selection) {
    const { layer, head, query } = selection;
    const { tokens, nPrompt, model } = trace;
    const held = trace.layers.get(layer);
    const weights = held ? attention(held, model, head, query) : null;
    return {
      selection,
      weights,
      at: `token ${query} id ${tokens.ids[query]} '${tokens.pieces[query]}'`,
      values: {},
      rows: {
        tokens: () => ({
          keys: {
            position: tokens.ids.map((_, t) => t),
            id: tokens.ids,
            piece: tokens.pieces,
            origin: tokens.ids.map((_, t) => (t < nPrompt ? "prompt" : "generated")),
          },
          columns: { [weightColumn(query)]: tokens.ids.map((_, t) => weights?.[t] ?? NaN) },
        }),
      },
    };
  },
};
