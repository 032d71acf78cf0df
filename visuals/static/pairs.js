// Which of RoPE's pairs panels speak of where a reader has chosen none: the one that counts most in the score they
// show.

import { strongest } from "./arrays.js";
import { rotatedPair } from "./compute.js";
import { pairTerms } from "./rotation.js";

/**
 * @typedef {import("./decode.js").Trace} Trace
 *
 * @typedef {{ trace: Trace | null; layer: number; head: number; query: number; key: number }} Cell a head's score
 *   of a key
 */

/**
 * The pair that adds most to a score, or takes most away; 0 where nothing is turned, and until the layer has come.
 *
 * @param {Cell} cell
 * @returns {number}
 */
function strongestPair({ trace, layer, head, query, key }) {
  const held = trace?.layers.get(layer);
  const rotary = trace?.model.parts.rotary;
  if (!trace || !held || !rotary) return 0;
  const [q, k] = rotatedPair(held, trace.model, { head, query, key });
  return strongest(pairTerms(q, k, rotary), 1)[0];
}

/**
 * The pair of a selection: the chosen one, or the strongest of its cell, which is worked out once for each.
 *
 * @returns {(chosen: number | null, cell: Cell) => number}
 */
export function pairFinder() {
  /** @type {{ now: unknown[]; pair: number } | null} */
  let last = null;
  return (chosen, { trace, layer, head, query, key }) => {
    if (chosen !== null) return chosen;
    const now = [trace?.layers.get(layer), head, query, key];
    if (!last?.now.every((value, i) => Object.is(value, now[i])))
      last = { now, pair: strongestPair({ trace, layer, head, query, key }) };
    return last.pair;
  };
}
