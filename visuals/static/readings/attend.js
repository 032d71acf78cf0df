// What the chapter on attention reads off a run: a query's row of weights in one head, in all heads of a layer, and in
// two heads side by side.

import { kvHead, row } from "../compute.js";

/**
 * @typedef {import("./reading.js").Run} Run
 *
 * @typedef {import("./reading.js").Table} Table
 *
 * @typedef {{ layer: number; head: number; query: number; key: number }} CellSelection
 *
 * @typedef {ReturnType<typeof row>} Row
 *
 * @typedef {import("./reading.js").Reading<CellSelection> & { row: Row }} CellReading
 */

/**
 * Where in the run, as value lines begin.
 *
 * @param {CellSelection} cell
 */
export const atCell = ({ layer, head, query, key }) => `layer ${layer} head ${head} query ${query} key ${key}`;

/**
 * A head's row, a row for each key that the query sees.
 *
 * @param {Run} run
 * @param {CellSelection} selection
 * @returns {Table}
 */
function rowOfHead({ trace, held }, { layer, head, query }) {
  const { scores, weights } = row(held, trace.model, head, query);
  const every = (/** @type {number} */ value) => Array.from(weights, () => value);
  return {
    keys: {
      layer: every(layer),
      head: every(head),
      query: every(query),
      key: [...weights.keys()],
      piece: trace.tokens.pieces.slice(0, weights.length),
    },
    columns: { score: scores, weight: weights },
  };
}

/**
 * The same row of every head of the layer, head after head.
 *
 * @param {Run} run
 * @param {CellSelection} selection
 * @returns {Table}
 */
function rowOfLayer(run, selection) {
  const { model } = run.trace;
  const heads = Array.from({ length: model.n_heads }, (_, head) => rowOfHead(run, { ...selection, head }));
  const keyed = (/** @type {string} */ name) => heads.flatMap(({ keys }) => Array.from(keys[name]));
  const column = (/** @type {string} */ name) => heads.flatMap(({ columns }) => Array.from(columns[name]));
  return {
    keys: {
      layer: keyed("layer"),
      head: keyed("head"),
      kv_head: keyed("head").map((head) => kvHead(model, Number(head))),
      query: keyed("query"),
      key: keyed("key"),
      piece: keyed("piece"),
    },
    columns: { score: column("score"), weight: column("weight") },
  };
}

/**
 * What a query gives a key in one head, and all the row.
 *
 * @type {import("./reading.js").Reader<CellReading>}
 */
export const headRow = {
  layer: true,
  read(run, selection) {
    const { head, query, key } = selection;
    const found = row(run.held, run.trace.model, head, query);
    return {
      selection,
      row: found,
      at: atCell(selection),
      values: { weight: found.weights[key], score: found.scores[key] },
      rows: { weights: () => rowOfHead(run, selection) },
    };
  },
};

/**
 * The same, with the row of every other head of the layer.
 *
 * @type {import("./reading.js").Reader<CellReading>}
 */
export const layerRows = {
  layer: true,
  read(run, selection) {
    const reading = headRow.read(run, selection);
    return { ...reading, rows: { heads: () => rowOfLayer(run, selection), ...reading.rows } };
  },
};

/**
 * The second head's layer is named beside the first's.
 *
 * @typedef {CellSelection & { other_layer: number; other_head: number }} PairSelection
 *
 * @typedef {import("./reading.js").Reading<PairSelection> & { complete: boolean }} PairReading `complete`: whether
 *   the layer of the second head is here; without it there are no numbers
 */

/**
 * The rows of two heads, key by key.
 *
 * @param {Run} run
 * @param {PairSelection} selection
 * @param {ArrayLike<number>[]} weights of the first head and of the second, empty where there are none
 * @returns {Table}
 */
function rowsOfPair({ trace }, { layer, head, other_layer, other_head, query }, [first, second]) {
  return {
    keys: {
      query: Array.from(first, () => query),
      key: Array.from(first, (_, key) => key),
      piece: trace.tokens.pieces.slice(0, first.length),
    },
    columns: {
      [`layer_${layer}_head_${head}`]: first,
      [`layer_${other_layer}_head_${other_head}`]: second,
      difference: Array.from(first, (weight, key) => weight - second[key]),
    },
  };
}

/**
 * What a query gives a key in two heads, how much more in the first, and what share of the row's weight the two
 * place differently: half the sum of |a − b| over the keys.
 *
 * @type {import("./reading.js").Reader<PairReading>}
 */
export const twoHeads = {
  layer: true,
  read(run, selection) {
    const { trace, held } = run;
    const { layer, head, other_layer, other_head, query, key } = selection;
    const other = trace.layers.get(other_layer);
    const first = `layer ${layer} head ${head}`;
    const none = { selection, complete: false, at: first, values: {} };
    if (!other) return { ...none, rows: { weights: () => rowsOfPair(run, selection, [[], []]) } };
    const [ofA, ofB] = [row(held, trace.model, head, query), row(other, trace.model, other_head, query)].map(
      ({ weights }) => weights,
    );
    return {
      selection,
      complete: true,
      at: `${first} minus layer ${other_layer} head ${other_head} query ${query} key ${key}`,
      values: {
        a: ofA[key],
        b: ofB[key],
        difference: ofA[key] - ofB[key],
        apart: ofA.reduce((sum, weight, t) => sum + Math.abs(weight - ofB[t]), 0) / 2,
      },
      rows: { weights: () => rowsOfPair(run, selection, [ofA, ofB]) },
    };
  },
};
