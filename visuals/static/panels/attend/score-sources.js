// Who a score's terms are from: the writers to the two streams, and the bias by distance, which is added to the score itself and
// is written to no stream. Pure.

/**
 * @typedef {{ kind: string, layer: number|null, head: number|null }} Source  as model/analysis/score_terms.py has them
 * @typedef {{ sources: Source[], terms: { data: ArrayLike<number> } }} Terms
 */

/** A source's text in section "score-terms". Biases in the score's own layer are those of its norm, of q and of k; in a layer below, W_O's. */
export const sourceKey = ({ kind, layer }, ofLayer) => `source_${kind === "bias" && layer < ofLayer ? "bias_below" : kind}`;

/** Every pair of sources with its term. @param {Terms} found @returns {{ q: Source, k: Source, value: number }[]} */
export const pairsIn = ({ sources, terms: { data } }) =>
  Array.from(data, (value, i) => ({ value, q: sources[Math.floor(i / sources.length)], k: sources[i % sources.length] }));

/** What the bias by distance adds to the score; null where there is none. @param {Terms} found @returns {number|null} */
export const biasIn = (found) => pairsIn(found).find(({ q, k }) => q.kind === "position" && k.kind === "position")?.value ?? null;

/** Each writer to one side's stream with all that it meets on the other. @param {Terms} found @param {"q"|"k"} side */
export function writersOf(found, side) {
  const sums = new Map(found.sources.filter(({ kind }) => kind !== "position").map((source) => [source, 0]));
  for (const one of pairsIn(found)) if (sums.has(one[side])) sums.set(one[side], sums.get(one[side]) + one.value);
  return [...sums].map(([source, value]) => ({ source, value }));
}
