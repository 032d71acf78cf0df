// What is read off a decoder's look at its source: every head's weights of one token, and one cell of a head taken
// apart.

import { dot } from "../arrays.js";
import { crossRow, vectorOf } from "../compute.js";

/**
 * @typedef {import("../decode.js").Layer} Layer
 *
 * @typedef {import("../decode.js").Trace} Trace
 *
 * @typedef {Layer & { cross: NonNullable<Layer["cross"]> }} CrossLayer a layer that looks at a source
 *
 * @typedef {Trace & { encoder: Trace }} CrossTrace a run of a network whose layers do
 *
 * @typedef {object} CrossCell
 * @property {ArrayLike<number>} q of the decoder's token
 * @property {ArrayLike<number>} k of the source's
 * @property {Float64Array} terms their products, dimension by dimension
 * @property {number} dot q·k
 * @property {number} score
 * @property {number} weight
 * @property {number} top the largest score of the row
 * @property {number} total the softmax's sum of powers
 */

/**
 * @param {CrossLayer} held
 * @param {ReturnType<typeof crossRow>} row
 * @param {{ head: number; query: number; source: number }} cell
 * @returns {CrossCell}
 */
function cellOf({ cross }, { scores, weights, top, total }, { head, query, source }) {
  const [q, k] = [vectorOf(cross.q, head, query), vectorOf(cross.k, head, source)];
  const terms = Float64Array.from(q, (x, i) => x * k[i]);
  return { q, k, terms, dot: dot(q, k), score: scores[source], weight: weights[source], top, total };
}

/** The source token that gets most of a row. @param {Float64Array} weights */
export const mostSeen = (weights) => weights.indexOf(Math.max(...weights));

/**
 * A row for each head and source token.
 *
 * @param {import("./reading.js").Run} run
 * @param {CrossSelection} selection
 */
function headsTable({ trace, held }, { layer, query }) {
  const { model, encoder, tokens } = /** @type {CrossTrace} */ (trace);
  const { pieces } = encoder.tokens;
  const rows = Array.from({ length: model.n_heads }, (_, head) => crossRow(held, model, head, query));
  /**
   * @template Value
   * @param {(head: number, source: number, piece: string) => Value} value
   */
  const each = (value) => rows.flatMap((_, head) => pieces.map((piece, source) => value(head, source, piece)));
  return {
    keys: {
      layer: each(() => layer),
      head: each((head) => head),
      query: each(() => query),
      query_piece: each(() => tokens.pieces[query]),
      source: each((_, source) => source),
      source_piece: each((_head, _source, piece) => piece),
    },
    columns: {
      score: each((head, source) => rows[head].scores[source]),
      weight: each((head, source) => rows[head].weights[source]),
    },
  };
}

/**
 * A token's look at the source, and one source token's part of it: where none is chosen, the one that gets most.
 *
 * @typedef {{ layer: number; head: number; query: number; source: number | null }} CrossSelection
 *
 * @typedef {import("./reading.js").Reading<CrossSelection & { source: number }> & {
 *   row: ReturnType<typeof crossRow>;
 *   cell: CrossCell;
 * }} CrossReading
 * @type {import("./reading.js").Reader<CrossReading, CrossSelection>}
 */
export const crossReader = {
  layer: true,
  read(run, given) {
    const { held } = run;
    const trace = /** @type {CrossTrace} */ (run.trace);
    const { layer, head, query } = given;
    const row = crossRow(held, trace.model, head, query);
    const chosen = given.source !== null && given.source < row.weights.length ? given.source : null;
    const source = chosen ?? mostSeen(row.weights);
    const selection = { layer, head, query, source };
    const cell = cellOf(held, row, selection);
    return {
      selection,
      row,
      cell,
      at: `layer ${layer} head ${head} query ${query} source ${source}`,
      values: { qk: cell.dot, score: cell.score, weight: cell.weight },
      rows: {
        heads: () => headsTable(run, selection),
        row: () => ({
          keys: { source: [...row.weights.keys()], piece: trace.encoder.tokens.pieces },
          columns: { score: row.scores, weight: row.weights },
        }),
        products: () => ({
          keys: { dimension: [...cell.terms.keys()] },
          columns: { q: cell.q, k: cell.k, qk_terms: cell.terms },
        }),
      },
    };
  },
};
