// Where a head's attention goes on one run, as a mean: what its known job can be held against.

import { eachRow } from "../../compute.js";

const means = new WeakMap();

/**
 * @typedef {{ first: number, previous: number }} Habits
 * Mean weight of queries 2 … T − 1 on key 0 and on the key just before; NaN for fewer than three tokens.
 */

/** What rows are to be added to. @returns {Habits} */
export const usual = (tokens) => (tokens < 3 ? { first: NaN, previous: NaN } : { first: 0, previous: 0 });

/** Adds a row's weights to the means. @param {Habits} found */
export function tally(found, tokens, query, weights) {
  if (query < 2) return;
  found.first += weights[0] / (tokens - 2);
  found.previous += weights[query - 1] / (tokens - 2);
}

/** Kept by layer and head. @param {import("../../decode.js").Layer} held @param {import("../../decode.js").Trace} trace @returns {Habits} */
export function habitsOf(held, { model, T }, head) {
  if (!means.has(held)) means.set(held, new Map());
  const known = means.get(held);
  if (!known.has(head)) {
    const found = usual(T);
    eachRow(held, model, head, 0, T, (query, _, weights) => tally(found, T, query, weights));
    known.set(head, found);
  }
  return known.get(head);
}

/** The measure on a run that says how far a head does its job there, by the job's name. */
export const MEASURED = { previous_token: "previous", first_token: "first" };
