// What is read off one score of a head: a sum over what wrote to the query's stream and to the key's, and the bias by
// distance, which is added to the score itself and is written to no stream.

import { strongest } from "../arrays.js";

/**
 * @typedef {{ kind: string; layer: number | null; head: number | null }} Source as model/analysis/score_terms.py
 *   has them
 *
 * @typedef {{ sources: Source[]; terms: { data: ArrayLike<number> } }} Terms
 *
 * @typedef {{ q: Source; k: Source; value: number }} Term
 *
 * @typedef {{ source: Source; value: number }} Writer
 */

/**
 * Every pair of sources with its term.
 *
 * @param {Terms} found
 * @returns {Term[]}
 */
const pairsIn = ({ sources, terms: { data } }) =>
  Array.from(data, (value, i) => ({
    value,
    q: sources[Math.floor(i / sources.length)],
    k: sources[i % sources.length],
  }));

/**
 * What the bias by distance adds to the score; null where there is none.
 *
 * @param {Terms} found
 * @returns {number | null}
 */
export function biasIn({ sources, terms: { data } }) {
  const at = sources.findIndex(({ kind }) => kind === "position");
  return at < 0 ? null : data[at * sources.length + at];
}

/**
 * Each writer to one side's stream with all that it meets on the other.
 *
 * @param {Terms} found
 * @param {"q" | "k"} side
 * @returns {Writer[]}
 */
export function writersOf({ sources, terms: { data } }, side) {
  const count = sources.length;
  const sums = sources.map((source, i) => {
    let value = 0;
    for (let j = 0; j < count; j++) value += side === "q" ? data[i * count + j] : data[j * count + i];
    return { source, value };
  });
  return sums.filter(({ source }) => source.kind !== "position");
}

/** A source as files name it: "embedding", "head 0.3", "ffn 1". @param {Source} source */
const nameOf = ({ kind, layer, head }) =>
  [kind, [layer, head].filter((at) => at !== null && at !== undefined).join(".")].filter(Boolean).join(" ");

/** @param {Writer[]} writers */
const writersTable = (writers) => ({
  keys: { source: writers.map(({ source }) => nameOf(source)) },
  columns: { sum: writers.map(({ value }) => value) },
});

/** @param {Term[]} terms */
const termsTable = (terms) => ({
  keys: { query_source: terms.map(({ q }) => nameOf(q)), key_source: terms.map(({ k }) => nameOf(k)) },
  columns: { term: terms.map(({ value }) => value) },
});

/**
 * The score as its terms. `first` is what counts most on the key's side.
 *
 * @typedef {{ layer: number; head: number; query: number; key: number }} ScoreSelection
 *
 * @typedef {import("./reading.js").Reading<ScoreSelection> & {
 *   terms: Term[];
 *   writers: { q: Writer[]; k: Writer[] };
 *   bias: number | null;
 * }} ScoreReading
 * @type {import("./reading.js").Reader<ScoreReading>}
 */
export const scoreTermsReader = {
  needs: (_trace, selection) => ({ found: ["score_terms", selection] }),
  read({ details: { found } }, selection) {
    const { layer, head, query, key } = selection;
    const [terms, writers] = [pairsIn(found), { q: writersOf(found, "q"), k: writersOf(found, "k") }];
    const sums = writers.k.map(({ value }) => value);
    return {
      selection,
      terms,
      writers,
      bias: biasIn(found),
      at: `layer ${layer} head ${head} query ${query} key ${key}`,
      values: { score: found.score, sum: found.total, first: sums[strongest(sums, 1)[0]] },
      rows: {
        terms: () => termsTable(terms),
        at_key: () => writersTable(writers.k),
        at_query: () => writersTable(writers.q),
      },
    };
  },
};
