// DeepSeek's sparse attention on a layer as it ran: the k keys that its heads together look at most stand for what an
// indexer would choose, beside the formula filled with the layer's own q and k, and beside the last k tokens.

import { dot, once } from "../arrays.js";
import { eachRow, keysSeen, kvHead, rotatedPair, row, spanSeen, vectorOf } from "../compute.js";
import { pairsOf } from "./masks.js";
import { atCell } from "./attend.js";
import { bytesOf } from "./attention-kinds.js";

/**
 * @typedef {{ layer: number; head: number; query: number; key: number; k: number }} SparseSelection `k`: 0 where a
 *   reader has chosen none
 *
 * @typedef {"best" | "formula" | "window"} Chooser `best`: the indexer's goal; `formula`: its formula with the
 *   layer's own q and k; `window`: the last tokens
 *
 * @typedef {{ lost: number; lostByAll: number; changed: number; changedInAll: number; weights: Float64Array }} Choice
 *   of the selected query: the weight that the head loses, and all heads on average; how far the head's output, and
 *   that of all heads side by side, is from what it was, as a share of it; and the head's weights, NaN where not
 *   chosen
 *
 * @typedef {import("./reading.js").Reading<SparseSelection> & {
 *   tokens: number;
 *   causal: boolean;
 *   index: Float64Array;
 *   heads: number[];
 *   weights: Float64Array;
 *   choices: Record<Chooser, Choice>;
 *   chosen: Float32Array;
 *   recent: Float32Array;
 *   lost: { best: number; window: number };
 *   pairs: { all: number; read: number };
 *   bytes: { own: number; added: number };
 * }} SparseReading
 *   `index`: the mean of the heads' weights at the query, by key; `heads`: what each gives the selected key;
 *   `chosen`, `recent` (T, T): that mean where a pair is read, NaN elsewhere; `lost`: over all queries; `bytes` a
 *   token
 */

export const KEY_BYTES = 128 + 4; // a token and layer: FP8 and one float32 scale (model/replaced/sparse_attention.py)
const CHOOSERS = /** @type {Chooser[]} */ (["best", "formula", "window"]);

/** @typedef {import("./reading.js").Run} Run */
/** @typedef {import("./masks.js").Span} Span */

/** Of a layer, the mean of its heads' weights. @type {(held: object) => { mean: Float32Array | null }} */
const kept = once(() => ({ mean: null }));

/** @param {Run} run */
function meanOf({ trace: { model, T }, held }) {
  const known = kept(held);
  if (known.mean) return known.mean;
  const mean = new Float32Array(T * T);
  for (let head = 0; head < model.n_heads; head++)
    eachRow(held, model, head, 0, T, (query, _scores, weights) => {
      for (let key = 0; key < keysSeen(model, query, T); key++) mean[query * T + key] += weights[key] / model.n_heads;
    });
  return (known.mean = mean);
}

/**
 * The keys with the k highest scores of those that a query sees.
 *
 * @param {ArrayLike<number>} scores
 * @param {Span} span
 * @param {number} k
 */
function highest(scores, [first, end], k) {
  const keys = Array.from({ length: end - first }, (_, i) => first + i);
  return new Set(keys.sort((a, b) => scores[b] - scores[a] || a - b).slice(0, k));
}

/**
 * The last k tokens that a query sees; in an encoder those before it, so far as there are any.
 *
 * @param {number} query
 * @param {Span} span
 * @param {number} k
 */
function latest(query, [first, end], k) {
  const from = Math.max(first, Math.min(query + 1, end) - k);
  return new Set(Array.from({ length: Math.min(k, end - first) }, (_, i) => from + i));
}

/**
 * Σ over heads of ReLU(q·k): the indexer's formula with the layer's own heads, each w being 1.
 *
 * @param {Run} run
 * @param {number} query
 */
function formulaOf({ trace: { model, T }, held }, query) {
  return Float64Array.from({ length: keysSeen(model, query, T) }, (_, key) => {
    let sum = 0;
    for (let head = 0; head < model.n_heads; head++) {
      const [q, k] = rotatedPair(held, model, { head, query, key });
      sum += Math.max(0, dot(q, k));
    }
    return sum;
  });
}

/**
 * Weights of the chosen keys, divided by their sum; NaN for the others.
 *
 * @param {Float64Array} weights
 * @param {Set<number>} chosen
 */
function left(weights, chosen) {
  const sum = weights.reduce((all, weight, key) => all + (chosen.has(key) ? weight : 0), 0);
  return { weights: weights.map((weight, key) => (chosen.has(key) ? weight / sum : NaN)), lost: Math.max(0, 1 - sum) };
}

/**
 * Σ weight · v.
 *
 * @param {Float64Array} weights NaN counts nothing
 * @param {import("../decoded.d.ts").NumArray} v
 * @param {number} head of those in `v`
 */
function mixed(weights, v, head) {
  const sum = new Float64Array(v.shape[2]);
  weights.forEach((weight, key) => weight > 0 && vectorOf(v, head, key).forEach((x, i) => (sum[i] += weight * x)));
  return sum;
}

const squares = (/** @type {Float64Array} */ x) => dot(x, x);

/**
 * What a choice of keys leaves of a query's row.
 *
 * @param {Run} run
 * @param {SparseSelection} selection
 * @param {Set<number>} chosen
 * @returns {Choice}
 */
function choiceOf({ trace: { model }, held, details: { values } }, { head: selected, query }, chosen) {
  let [size, change, lostByAll] = [0, 0, 0];
  /** @type {Choice | null} */
  let own = null;
  for (let head = 0; head < model.n_heads; head++) {
    const { weights } = row(held, model, head, query);
    const [set, kv] = [left(weights, chosen), kvHead(model, head)];
    const [before, after] = [weights, set.weights].map((each) => mixed(each, values.v, kv));
    const far = squares(after.map((x, i) => x - before[i]));
    [size, change, lostByAll] = [size + squares(before), change + far, lostByAll + set.lost / model.n_heads];
    if (head === selected) own = { ...set, changed: Math.sqrt(far / squares(before)), lostByAll: 0, changedInAll: 0 };
  }
  return { .../** @type {Choice} */ (/** @type {unknown} */ (own)), lostByAll, changedInAll: Math.sqrt(change / size) };
}

/**
 * The mean weights where a pair is read, NaN elsewhere, how many those are, and what all heads lose on average.
 *
 * @param {Float32Array} mean
 * @param {Run["trace"]} trace
 * @param {(query: number, span: Span) => Set<number>} choose
 */
function mapOf(mean, { model, T }, choose) {
  const map = new Float32Array(T * T).fill(NaN);
  let [keptWeight, read] = [0, 0];
  for (let query = 0; query < T; query++)
    for (const key of choose(query, spanSeen(model, query, T))) {
      map[query * T + key] = mean[query * T + key];
      keptWeight += mean[query * T + key];
      read++;
    }
  return { map, read, lost: Math.max(0, 1 - keptWeight / T) };
}

/**
 * @param {SparseReading} reading
 * @param {string[]} pieces
 * @returns {import("./reading.js").Table}
 */
function weightsTable({ selection: { layer, head, query }, index, weights, choices }, pieces) {
  const keys = [...weights.keys()];
  const every = (/** @type {number} */ value) => keys.map(() => value);
  const of = (/** @type {Chooser} */ name) => choices[name].weights.map((weight) => weight || 0);
  return {
    keys: {
      layer: every(layer),
      head: every(head),
      query: every(query),
      key: keys,
      piece: pieces.slice(0, keys.length),
    },
    columns: {
      weight: weights,
      index,
      weight_top_k: of("best"),
      weight_formula: of("formula"),
      weight_window: of("window"),
    },
  };
}

/** @type {import("./reading.js").Reader<SparseReading>} */
export const sparseReader = {
  layer: true,
  needs: (_trace, { layer }) => ({ values: ["values", { layer }] }),
  read(run, selection) {
    const { trace, held } = run;
    const { model, T: tokens } = trace;
    const { head, query, key } = selection;
    const k = Math.max(1, Math.min(tokens, Math.round(selection.k) || Math.ceil(tokens / 4)));
    const mean = meanOf(run);
    const span = spanSeen(model, query, tokens);
    const index = Float64Array.from(mean.subarray(query * tokens, query * tokens + span[1]));
    const sets = { best: highest(index, span, k), formula: highest(formulaOf(run, query), span, k) };
    const chosen = { ...sets, window: latest(query, span, k) };
    const choices = /** @type {Record<Chooser, Choice>} */ (
      Object.fromEntries(CHOOSERS.map((name) => [name, choiceOf(run, selection, chosen[name])]))
    );
    const rowOf = (/** @type {number} */ at) => mean.subarray(at * tokens, (at + 1) * tokens);
    const best = mapOf(mean, trace, (at, seen) => highest(rowOf(at), seen, k));
    const recent = mapOf(mean, trace, (at, seen) => latest(at, seen, k));
    const all = pairsOf((of) => spanSeen(model, of, tokens), tokens);
    const bytes = { own: bytesOf(model), added: model.n_layers * KEY_BYTES };
    /** @type {SparseReading} */
    const reading = {
      selection: { ...selection, k },
      tokens,
      causal: model.parts.causal !== false,
      index,
      heads: Array.from({ length: model.n_heads }, (_, one) => row(held, model, one, query).weights[key] ?? 0),
      weights: row(held, model, head, query).weights,
      choices,
      chosen: best.map,
      recent: recent.map,
      lost: { best: best.lost, window: recent.lost },
      pairs: { all, read: best.read },
      bytes,
      at: `${atCell(selection)} k ${k}`,
      values: {
        index: index[key] ?? NaN,
        pairs: all,
        pairs_read: best.read,
        bytes: bytes.own,
        bytes_added: bytes.added,
        run_lost: best.lost,
        window_run_lost: recent.lost,
      },
      rows: { weights: () => weightsTable(reading, trace.tokens.pieces) },
    };
    for (const name of CHOOSERS) {
      const { lost, lostByAll, changed, changedInAll } = choices[name];
      const numbers = { lost, lost_by_all: lostByAll, changed, changed_in_all: changedInAll };
      for (const [told, value] of Object.entries(numbers)) reading.values[`${name}_${told}`] = value;
    }
    return reading;
  },
};
