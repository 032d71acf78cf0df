// Where in the run the story looks: from the last token at the one that its answer is brought from, with one head for
// all scenes. It is the head that tells that token from its rival where it gives the token most of its weight, so that
// the same head looks, matches and carries; else the one that the answer misses of those that add most from there.

import { askRests, restsOf } from "../readings/rests.js";

/**
 * @typedef {import("../types.d.ts").Glass} Glass
 *
 * @typedef {import("../decoded.d.ts").Decoded<import("../messages.d.ts").LooksBackDetail>} LooksBack
 *
 * @typedef {import("../messages.d.ts").ToldApartDetail} ToldApart
 *
 * @typedef {import("../messages.d.ts").LookingMessage} Looking
 *
 * @typedef {{ layer: number; head: number; query: number; key: number; look?: Looking; rival?: number }} Place
 *   `look`: what the answer takes from it; none of what is selected. `rival`: the token from which the head tells the
 *   key
 */

const MOST = 0.5; // of a head's weight

/**
 * What the answer takes from the tokens that it needs; null while that has not come, and where it needs none.
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
 * How a head tells the token that the answer needs from its rival; null while that has not come, and nothing of it
 * where no head does.
 *
 * @param {Glass} glass
 * @returns {ToldApart | import("../messages.d.ts").Nothing | null}
 */
export const toldApart = ({ state, detail }) => state.trace && detail("told_apart", { token: state.trace.T - 1 });

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
  const selected = { layer, head, query, key };
  if (trace.generating || status === "generating") return selected;
  const { found } = askRests(glass, { token: trace.T - 1 });
  if (found && !restsOf(found)?.tokens.length) return selected;
  const back = found && looksBack(glass);
  const apart = back && toldApart(glass);
  if (!apart && glass.asking()) return null;
  if (!back) return selected; // what was refused does not come
  const own = { query: trace.T - 1, key: back.key };
  if (apart && "rival" in apart && apart.weight >= MOST)
    return { ...own, layer: apart.layer, head: apart.head, look: apart, rival: apart.rival };
  return { ...own, layer: back.head.layer, head: back.head.head, look: back.head };
}
