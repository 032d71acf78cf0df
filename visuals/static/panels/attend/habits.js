// Where a head's attention goes on one run, as a mean: what its known job can be held against.

import { eachRow } from "../../compute.js";

const means = new WeakMap();

/**
 * Mean weight of queries 2 … T − 1 on key 0 and on the key just before; NaN for fewer than three tokens. Kept by layer and head.
 * @param {import("../../decode.js").Layer} held @param {import("../../decode.js").Trace} trace @returns {{ first: number, previous: number }}
 */
export function habitsOf(held, { model, T }, head) {
  if (!means.has(held)) means.set(held, new Map());
  const known = means.get(held);
  if (!known.has(head)) {
    const found = T < 3 ? { first: NaN, previous: NaN } : { first: 0, previous: 0 };
    eachRow(held, model, head, 0, T, (query, _, weights) => {
      if (query < 2) return;
      found.first += weights[0] / (T - 2);
      found.previous += weights[query - 1] / (T - 2);
    });
    known.set(head, found);
  }
  return known.get(head);
}

/** The measure on a run that says how far a head does its job there, by the job's name. */
export const MEASURED = { previous_token: "previous", first_token: "first" };
