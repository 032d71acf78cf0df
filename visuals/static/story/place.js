// Where in the run the story looks: from the last token at the one that its answer needs most, with the head that adds
// most from there to the answer's logit.

import { NEEDED, restsOf } from "../readings/rests.js";

/**
 * @typedef {import("../types.d.ts").Glass} Glass
 *
 * @typedef {import("../decoded.d.ts").Decoded<import("../messages.d.ts").LooksBackDetail>} LooksBack
 *
 * @typedef {"" | "_missed" | "_shared"} Why why this head: it is selected; it adds most, and the answer misses it;
 *   it adds most, but alone it is hardly missed
 *
 * @typedef {{ layer: number; head: number; query: number; key: number; why: Why }} Place
 */

/**
 * What the answer takes from the token that it needs most; null while that has not come, and where it needs none.
 *
 * @param {Glass} glass
 * @returns {LooksBack | null}
 */
export function looksBack({ state, detail }) {
  if (!state.trace) return null;
  const found = detail("looks_back", { token: state.trace.T - 1 });
  return found && "instead" in found ? found : null;
}

/**
 * The place, or null while it is measured. Where an answer rests on no token, or that is not to be measured, it is
 * what is selected.
 *
 * @param {Glass} glass
 * @returns {Place | null}
 */
export function placeOf(glass) {
  const { trace, layer, head, query, key, status } = glass.state;
  if (!trace) return null;
  /** @type {Place} */
  const selected = { layer, head, query, key, why: "" };
  if (trace.generating || status === "generating") return selected;
  const found = glass.detail("rests", { token: trace.T - 1 });
  if (found && !restsOf(found)?.tokens.length) return selected;
  const back = found && looksBack(glass);
  if (back) {
    const why = back.head.missed >= NEEDED ? "_missed" : "_shared";
    return { layer: back.head.layer, head: back.head.head, query: trace.T - 1, key: back.token, why };
  }
  return glass.asking() ? null : selected; // what was refused does not come
}
