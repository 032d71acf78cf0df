// Where a head's attention goes on one run, as a mean: what its known job can be held against. Of all heads it is told
// while their maps are made. Pure.

import { onceFor } from "../../arrays.js";
import { readHead } from "../../marks/attention-values.js";

/**
 * @typedef {{ first: number; previous: number }} Habits Mean weight of queries 2 … T − 1 on key 0 and on the key
 *   just before; NaN for fewer than three tokens.
 */

/**
 * What rows are to be added to.
 *
 * @returns {Habits}
 */
const usual = (tokens) => (tokens < 3 ? { first: NaN, previous: NaN } : { first: 0, previous: 0 });

/**
 * Adds a row's weights to the means.
 *
 * @param {Habits} found
 */
function tally(found, tokens, query, weight) {
  if (query < 2) return;
  found.first += weight(0) / (tokens - 2);
  found.previous += weight(query - 1) / (tokens - 2);
}

/**
 * Of one head.
 *
 * @param {import("../../decode.js").Layer} held
 * @param {import("../../decode.js").Trace} trace
 * @returns {Habits}
 */
export const habitsOf = (held, trace, head) => meansOf(held, head, trace);
const meansOf = onceFor((held, head, { model, T }) => {
  const found = usual(T);
  readHead(held, model, head).each(0, T, (query, weight) => tally(found, T, query, weight));
  return found;
});

/** The measure on a run that says how far a head does its job there, by the job's name. */
export const MEASURED = { previous_token: "previous", first_token: "first" };

export const MEASURES = ["first", "previous"];

/**
 * @typedef {Habits & { rows: number; done: boolean }} Head of which so many rows were read
 * @returns {{
 *   heads: Head[][];
 *   read: (layer: number, head: number) => import("../../marks/attention-values.js").Reader | null;
 * }}
 *   `read`: a head's weights, for its map; null while the layer is not here
 */
export function createSurvey(trace) {
  const { n_layers, n_heads } = trace.model;
  const heads = Array.from({ length: n_layers }, () =>
    Array.from({ length: n_heads }, () => ({ ...usual(trace.T), rows: 0, done: false })),
  );

  function read(layer, head) {
    const held = trace.layers.get(layer);
    if (!held) return null;
    const [one, reader] = [heads[layer][head], readHead(held, trace.model, head)];
    const each = (from, to, use) =>
      reader.each(from, to, (query, weight) => {
        if (query === one.rows) {
          tally(one, trace.T, query, weight);
          one.done = (one.rows += 1) === trace.T;
        }
        use(query, weight);
      });
    return { ...reader, each };
  }
  return { heads, read };
}

/**
 * The heads that do most of a measure, best first.
 *
 * @param {Head[][]} heads
 * @param {"first" | "previous"} name
 */
export function leaders(heads, name, count) {
  return heads
    .flatMap((row, layer) => row.map((one, head) => ({ layer, head, score: one.done ? one[name] : NaN })))
    .filter(({ score }) => Number.isFinite(score))
    .sort((a, b) => b.score - a.score)
    .slice(0, count);
}
