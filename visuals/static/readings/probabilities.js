// How probable a token is after a run's end.

import { topCandidates } from "../compute.js";

/**
 * The probability of a token by its id. It is exact for every token once all logits are here; until then it is
 * known of the candidates alone that the run was sent with.
 *
 * @param {import("../decode.js").Next} next
 * @param {ArrayLike<number> | null} all the logits of the whole vocabulary by id, null until they have come
 * @returns {{ of: (id: number) => number | null; least: number }} `of`: null while it is not known; 0 of what is
 *   not in this vocabulary. `least`: what is not known is at most as probable
 */
export function probabilitiesIn(next, all) {
  const known = new Map(topCandidates(next, next.ids.length).rows.map(({ id, probability }) => [id, probability]));
  const least = Math.min(...known.values());
  return { of: (id) => (all ? (id < all.length ? Math.exp(all[id] - next.logZ) : 0) : (known.get(id) ?? null)), least };
}
