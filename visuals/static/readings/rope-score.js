// What RoPE makes of a score: q·k pair by pair, at the run's positions and moved, over the distance, and of all the
// run's pairs of a head by distance.

import { onceFor } from "../arrays.js";
import { kvHead, rotatedHead } from "../compute.js";
import { wavelength } from "../rotation.js";
import { atCell } from "./attend.js";
import { farOf, placeOf, turnsPart } from "./rope-place.js";
import { byDistance, product, singleTerms, sum } from "./turning.js";

/**
 * @typedef {import("./rope-place.js").RopePlace} RopePlace
 *
 * @typedef {ReturnType<typeof scoreOf>} Score
 *
 * @typedef {import("./attend.js").CellSelection & { pair: number; distance: number }} PairAt
 */

/**
 * Everything the panel shows.
 *
 * @param {RopePlace} place
 * @param {number} both what both positions are moved by
 * @param {number} distance of the query from the key
 */
export function scoreOf({ q, k, rest, m, n, model, frequencies }, both, distance) {
  const [key, query] = [n + both, n + both + distance];
  const here = singleTerms(q, k, m, n, frequencies);
  const moved = singleTerms(q, k, query, key, frequencies);
  const [sumHere, sumMoved] = [sum(here, true), sum(moved, true)];
  const precise = product(q, k, query, key, frequencies) - product(q, k, m, n, frequencies);
  const scores = [sumHere, sumMoved].map((s) => (s + rest) * model.parts.scale);
  return { here, moved, sumHere, sumMoved, deviation: sumMoved - sumHere, precise, query, key, scores };
}

/**
 * q·k of all the run's pairs of one head by distance; computed once a head.
 *
 * @type {(
 *   layer: import("../decode.js").Layer,
 *   head: number,
 *   model: import("../decode.js").Model,
 * ) => ReturnType<typeof byDistance>}
 */
export const runOf = onceFor((layer, head, model) =>
  byDistance(rotatedHead(layer, model, "q", head), rotatedHead(layer, model, "k", kvHead(model, head)), model.head_dim),
);

/**
 * Every pair: what it adds at the run's positions, and moved.
 *
 * @param {Score} found
 * @param {RopePlace} place
 * @returns {import("./reading.js").Table}
 */
const pairsOf = ({ here, moved }, { frequencies: { inv_freq } }) => ({
  keys: { pair: [...here.keys()] },
  columns: { inv_freq, wavelength: Array.from(inv_freq, wavelength), term: here, term_moved: moved },
});

/**
 * @typedef {PairAt & { shift: number }} ScoreSelection the distance of the query from the key, and what both
 *   positions are moved by
 *
 * @typedef {import("./reading.js").Reading<ScoreSelection> & { place: RopePlace; found: Score }} ScoreReading
 */

/**
 * The score at the run's positions and moved.
 *
 * @type {import("./reading.js").Reader<ScoreReading>}
 */
export const scoreReader = {
  layer: true,
  read({ trace, held }, selection) {
    const { layer, head, query, key, pair, shift, distance } = selection;
    const place = placeOf(held, { trace, head, query, key });
    const found = scoreOf(place, shift, distance);
    const frequency = place.frequencies.inv_freq[pair];
    const here = `layer ${layer} head ${head} kv ${place.kv} query ${query} key ${key}`;
    return {
      selection,
      place,
      found,
      at: `${here} pair ${pair} moved=(${found.query}, ${found.key})`,
      digits: 6,
      values: {
        inv_freq: frequency,
        wavelength: wavelength(frequency),
        term: found.here[pair],
        sum: found.sumHere,
        moved_term: found.moved[pair],
        moved_sum: found.sumMoved,
        ...(turnsPart(place.model) ? { unrotated: place.rest } : {}),
        score: found.scores[0],
        deviation: found.deviation,
        precise: found.precise,
      },
      rows: { pairs: () => pairsOf(found, place) },
    };
  },
};

/**
 * The score at the run's positions and at a distance, and q·k at `count` distances: what two runs have in common,
 * whose positions are moved alike.
 *
 * @type {import("./reading.js").Reader<import("./reading.js").Reading<PairAt & { count: number }>>}
 */
export const distanceReader = {
  layer: true,
  read({ trace, held }, selection) {
    const { head, query, key, pair, distance, count } = selection;
    const place = placeOf(held, { trace, head, query, key });
    const { here, sumHere, scores } = scoreOf(place, 0, query - key);
    const { inv_freq } = place.frequencies;
    return {
      selection,
      at: `${atCell(selection)} pair ${pair} distance ${distance}`,
      values: {
        term: here[pair],
        sum: sumHere,
        score: scores[0],
        far: place.rest + product(place.q, place.k, distance, 0, place.frequencies),
      },
      rows: {
        pairs: () => ({
          keys: { pair: [...here.keys()], wavelength: Array.from(inv_freq, wavelength) },
          columns: { term: here },
        }),
        distances: () => ({
          keys: { distance: Array.from({ length: count }, (_, i) => i) },
          columns: { qk: farOf(place, place.frequencies, count) },
        }),
      },
    };
  },
};
