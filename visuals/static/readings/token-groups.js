// A head's weights where its tokens are cut into groups that do not see each other: what a query loses, what the head
// loses in all, and how many scores there are.

import { once } from "../arrays.js";
import { eachRow, firstKey, kvHead, row, spanSeen } from "../compute.js";
import { atCell } from "./attend.js";
import { bidirectional, grouped, groupEdges, overlap, pairsOf, within } from "./masks.js";

/**
 * @typedef {{ layer: number; head: number; query: number; key: number; groups: number }} GroupsSelection
 *
 * @typedef {{ all: number; within: number; seen: number; seenWithin: number }} Counts scores of all pairs, and of
 *   those that the network's mask lets through
 *
 * @typedef {import("./reading.js").Reading<GroupsSelection> & {
 *   edges: number[];
 *   tokens: number;
 *   kv: number;
 *   causal: boolean;
 *   matrix: Float32Array;
 *   weights: { own: Float64Array; set: Float64Array };
 *   lost: number;
 *   counts: Counts;
 * }} GroupsReading
 *   `matrix` (T, T): the head's weights, NaN where it sees nothing
 */

/** Of a layer the head that was looked at last. */
const kept = once(() => ({ head: -1, matrix: new Float32Array() }));

/**
 * @param {import("./reading.js").Run} run
 * @param {number} head
 */
function matrixOf({ trace: { model, T }, held }, head) {
  const last = kept(held);
  if (last.head === head) return last.matrix;
  const matrix = new Float32Array(T * T).fill(NaN);
  eachRow(held, model, head, 0, T, (query, _scores, weights) =>
    matrix.set(weights.subarray(...spanSeen(model, query, T)), query * T + firstKey(model, query)),
  );
  Object.assign(last, { head, matrix });
  return matrix;
}

/**
 * The share of all weight of the head that stands on other groups, over all queries.
 *
 * @param {Float32Array} matrix
 * @param {number} tokens
 * @param {import("./masks.js").Mask} mask
 */
function lostOf(matrix, tokens, mask) {
  let lost = 0;
  for (let query = 0; query < tokens; query++) {
    const [from, to] = mask(query);
    for (let key = 0; key < tokens; key++) {
      const weight = matrix[query * tokens + key];
      if ((key < from || key >= to) && weight > 0) lost += weight;
    }
  }
  return lost / tokens;
}

/**
 * @param {GroupsReading} reading
 * @param {string[]} pieces
 * @returns {import("./reading.js").Table}
 */
function weightsTable({ selection: { layer, head, query }, edges, weights }, pieces) {
  const keys = [...weights.own.keys()];
  const every = (/** @type {number} */ value) => keys.map(() => value);
  return {
    keys: {
      layer: every(layer),
      head: every(head),
      query: every(query),
      key: keys,
      piece: pieces.slice(0, keys.length),
      group: keys.map((key) => edges.findIndex((edge) => edge > key) - 1),
    },
    columns: { weight: weights.own, weight_in_group: weights.set.map((weight) => weight || 0) },
  };
}

/** @type {import("./reading.js").Reader<GroupsReading>} */
export const groupsReader = {
  layer: true,
  read(run, selection) {
    const { trace, held } = run;
    const { model, T: tokens } = trace;
    const { head, query } = selection;
    const groups = Math.max(1, Math.min(tokens, Math.round(selection.groups)));
    const edges = groupEdges(tokens, groups);
    const isCausal = model.parts.causal !== false;
    /** @type {import("./masks.js").Mask} */
    const own = (of) => spanSeen(model, of, tokens);
    /** @type {import("./masks.js").Mask} */
    const mask = (of) => overlap(grouped(edges, false)(of), own(of));
    const { weights } = row(held, model, head, query);
    const set = within(weights, mask(query));
    const matrix = matrixOf(run, head);
    const counts = {
      all: pairsOf(bidirectional(tokens), tokens),
      within: pairsOf(grouped(edges, false), tokens),
      seen: pairsOf(own, tokens),
      seenWithin: pairsOf(mask, tokens),
    };
    /** @type {GroupsReading} */
    const reading = {
      selection: { ...selection, groups },
      edges,
      tokens,
      matrix,
      counts,
      kv: kvHead(model, head),
      causal: isCausal,
      weights: { own: weights, set: set.weights },
      lost: lostOf(matrix, tokens, mask),
      at: `${atCell(selection)} groups ${groups}`,
      values: {
        lost: set.lost,
        head_lost: 0,
        scores: counts.all,
        scores_in_groups: counts.within,
        seen: counts.seen,
        seen_in_groups: counts.seenWithin,
      },
      rows: { weights: () => weightsTable(reading, trace.tokens.pieces) },
    };
    reading.values.head_lost = reading.lost;
    return reading;
  },
};
