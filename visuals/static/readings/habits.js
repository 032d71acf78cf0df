// Where a head's attention goes on one run, as a mean: what its known job can be held against. Of all heads it is told
// while their maps are made.

import { once, onceFor } from "../arrays.js";
import { readHead } from "../marks/attention-values.js";

/**
 * @typedef {import("../decode.js").Layer} Layer
 *
 * @typedef {import("../decode.js").Trace} Trace
 *
 * @typedef {import("../marks/attention-values.js").Reader} MapReader
 *
 * @typedef {{ first: number; previous: number }} Habits Mean weight of queries 2 … T − 1 on key 0 and on the key
 *   just before; NaN for fewer than three tokens.
 */

/**
 * What rows are to be added to.
 *
 * @param {number} tokens
 * @returns {Habits}
 */
const usual = (tokens) => (tokens < 3 ? { first: NaN, previous: NaN } : { first: 0, previous: 0 });

/**
 * Adds a row's weights to the means.
 *
 * @param {Habits} found
 * @param {number} tokens
 * @param {number} query
 * @param {(key: number) => number} weight
 */
function tally(found, tokens, query, weight) {
  if (query < 2) return;
  found.first += weight(0) / (tokens - 2);
  found.previous += weight(query - 1) / (tokens - 2);
}

/**
 * Of one head.
 *
 * @param {Layer} held
 * @param {Trace} trace
 * @param {number} head
 * @returns {Habits}
 */
export const habitsOf = (held, trace, head) => meansOf(held, head, trace);
/** @type {(held: Layer, head: number, trace: Trace) => Habits} */
const meansOf = onceFor((held, head, { model, T }) => {
  const found = usual(T);
  readHead(held, model, head).each(0, T, (query, weight) => tally(found, T, query, weight));
  return found;
});

/**
 * The measure on a run that says how far a head does its job there, by the job's name.
 *
 * @type {Record<string, keyof Habits>}
 */
export const MEASURED = { previous_token: "previous", first_token: "first" };

/** @type {("first" | "previous")[]} */
export const MEASURES = ["first", "previous"];

/**
 * @typedef {Habits & { rows: number; done: boolean }} Head of which so many rows were read
 *
 * @typedef {object} Survey
 * @property {Head[][]} heads
 * @property {(layer: number, head: number) => MapReader | null} read a head's weights, for its map; null while the
 *   layer is not here
 */

/** @param {Trace} trace @returns {Survey} */
export function createSurvey(trace) {
  const { n_layers, n_heads } = trace.model;
  const heads = Array.from({ length: n_layers }, () =>
    Array.from({ length: n_heads }, () => ({ ...usual(trace.T), rows: 0, done: false })),
  );

  /** @type {Survey["read"]} */
  function read(layer, head) {
    const held = trace.layers.get(layer);
    if (!held) return null;
    const [one, reader] = [heads[layer][head], readHead(held, trace.model, head)];
    /** @type {MapReader["each"]} */
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
 * A run's own: one for all that read of it.
 *
 * @type {(trace: Trace) => Survey}
 */
export const surveyOf = once(createSurvey);

/**
 * The means of every head that is measured so far, NaN for the others.
 *
 * @param {Head[][]} heads
 * @returns {import("./reading.js").Table}
 */
function tableOf(heads) {
  const all = heads.flat();
  const means = (/** @type {keyof Habits} */ name) => all.map((one) => (one.done ? one[name] : NaN));
  return {
    keys: {
      layer: heads.flatMap((row, layer) => row.map(() => layer)),
      head: heads.flatMap((row) => [...row.keys()]),
    },
    columns: { mean_weight_on_first_token: means("first"), mean_weight_on_previous_token: means("previous") },
  };
}

/**
 * A head's means, and those of all heads: as far as their maps are made, or measured at once in a layer that comes
 * with the run.
 *
 * @typedef {import("./reading.js").Reading<{ layer: number; head: number }> & { done: boolean }} HabitsReading
 *   `done`: whether this head is measured
 * @type {import("./reading.js").Reader<HabitsReading>}
 */
export const headHabits = {
  read({ trace, held }, selection) {
    const { layer, head } = selection;
    const { heads } = surveyOf(trace);
    const { first, previous, done } = held ? { ...habitsOf(held, trace, head), done: true } : heads[layer][head];
    return {
      selection,
      done,
      at: `layer ${layer} head ${head}`,
      values: done ? { first, previous } : { first: NaN, previous: NaN },
      rows: { heads: () => tableOf(heads) },
    };
  },
};

/**
 * The heads that do most of a measure, best first.
 *
 * @param {Head[][]} heads
 * @param {"first" | "previous"} name
 * @param {number} count
 */
export function leaders(heads, name, count) {
  return heads
    .flatMap((row, layer) => row.map((one, head) => ({ layer, head, score: one.done ? one[name] : NaN })))
    .filter(({ score }) => Number.isFinite(score))
    .sort((a, b) => b.score - a.score)
    .slice(0, count);
}

export const CLEAR = 0.3; // from this score on a head is called by its job
const AT_ONCE = 5e7; // products of a run's q and k that are added up without a wait

/**
 * The heads that leave most of their weight on the first token, best first: of every layer that is here where the
 * run is short, else of the heads whose maps are made.
 *
 * @param {Trace} trace
 * @param {number} count
 */
export function onFirst(trace, count) {
  const { model, T, layers } = trace;
  const { n_layers, n_heads, head_dim } = model;
  const short = n_layers * n_heads * T * T * head_dim < AT_ONCE;
  const measured = surveyOf(trace).heads.map((row, layer) => {
    const held = short ? layers.get(layer) : undefined;
    return row.map((one, head) => (held && !one.done ? { ...one, ...habitsOf(held, trace, head), done: true } : one));
  });
  return leaders(measured, "first", count);
}
