// What is read off one cell of a head: q·k, the score, its weight, what the key hands over, what the head writes.

import { dot, once, onceFor } from "../arrays.js";
import { biasAt, eachRow, kvHead, rotatedPair, row, spanSeen, vectorOf } from "../compute.js";

/**
 * @typedef {import("../decoded.d.ts").NumArray} NumArray
 *
 * @typedef {import("../decode.js").Trace} Trace
 *
 * @typedef {import("../decode.js").Model} Model
 *
 * @typedef {import("../compute.js").Heads} Heads
 *
 * @typedef {import("./reading.js").Table} Table
 *
 * @typedef {{ v: NumArray }} Values the detail "values"
 */

/** @param {ArrayLike<number>} vector */
export const norm = (vector) => Math.sqrt(dot(vector, vector));

/**
 * The angle between two vectors as its cosine; NaN where one of them is 0, since there is no angle then.
 *
 * @param {ArrayLike<number>} a
 * @param {ArrayLike<number>} b
 */
export const cosine = (a, b) => dot(a, b) / (norm(a) * norm(b));

/**
 * The value vector that a query head reads at a key.
 *
 * @param {Values} held
 * @param {Model} model
 * @param {number} head
 * @param {number} key
 */
export const valueOf = (held, model, head, key) => vectorOf(held.v, kvHead(model, head), key);

/**
 * ‖v‖ of every token for a query head, worked out once.
 *
 * @param {Values} held
 * @param {Model} model
 * @param {number} head
 * @returns {Float64Array}
 */
export const valueNorms = (held, model, head) => normsOf(held, kvHead(model, head));
/** @type {(held: Values, kv: number) => Float64Array} */
const normsOf = onceFor(({ v }, kv) => Float64Array.from({ length: v.shape[1] }, (_, t) => norm(vectorOf(v, kv, t))));

/**
 * A head's output at one query: Σ α·v over the keys that it may see.
 *
 * @param {Values} held
 * @param {Model} model
 * @param {number} head
 * @param {Float64Array} weights
 * @returns {Float64Array}
 */
export function mix(held, model, head, weights) {
  const out = new Float64Array(held.v.shape[2]); // values have a width of their own under MLA
  weights.forEach((weight, key) => {
    const v = valueOf(held, model, head, key);
    for (let i = 0; i < out.length; i++) out[i] += weight * v[i];
  });
  return out;
}
/**
 * The same of a row of `row`, worked out once.
 *
 * @type {(weights: Float64Array, held: Values, model: Model, head: number) => Float64Array}
 */
const outputOf = onceFor((weights, held, model, head) => mix(held, model, head, weights));

/**
 * How much weight each query gives one key, 0 where it does not see it, worked out once.
 *
 * @param {Heads} held
 * @param {Model} model
 * @param {number} head
 * @param {number} key
 * @returns {Float64Array}
 */
export const columnOf = (held, model, head, key) => columnsOf(held, `${head} ${key}`, model, head, key);
/** @type {(held: Heads, name: string, model: Model, head: number, key: number) => Float64Array} */
const columnsOf = onceFor((held, _, model, head, key) => {
  const T = held.q.shape[1];
  const column = new Float64Array(T);
  eachRow(held, model, head, 0, T, (query, _scores, weights) => {
    const [first, end] = spanSeen(model, query, T); // elsewhere the row holds no weights
    if (key >= first && key < end) column[query] = weights[key];
  });
  return column;
});

/**
 * Everything about a cell that needs no request.
 *
 * @param {{ trace: Trace; head: number; query: number; key: number }} place
 * @param {import("../compute.js").Heads} held
 */
export function cellOf({ trace, head, query, key }, held) {
  const { model } = trace;
  const [q, k] = rotatedPair(held, model, { head, query, key });
  const terms = q.map((x, i) => x * k[i]);
  const { scores, weights, top, total } = row(held, model, head, query);
  return {
    q,
    k,
    terms,
    dot: dot(q, k),
    bias: biasAt(model, head, query - key),
    score: scores[key],
    weight: weights[key],
    weights,
    top,
    total,
    width: model.head_dim,
    head,
    query,
    key,
    tokens: trace.T,
  };
}

/**
 * What a key hands over.
 *
 * @typedef {object} Carried
 * @property {ArrayLike<number>} v
 * @property {Float64Array} part α·v
 * @property {Float64Array} out the head's whole output o = Σ α·v
 * @property {number} size ‖v‖
 * @property {number} along α·v · o
 * @property {number} square o · o
 * @property {number} share of the output: along / square, 0 where there is no output
 * @property {Float64Array} norms ‖v‖ of every token
 */

/**
 * @param {ReturnType<typeof cellOf>} cell
 * @param {Values} values
 * @param {Model} model
 * @returns {Carried}
 */
function carriedOf({ weight, weights, head, key }, values, model) {
  const v = valueOf(values, model, head, key);
  const part = Float64Array.from(v, (x) => weight * x);
  const out = outputOf(weights, values, model, head);
  const [along, square] = [dot(part, out), dot(out, out)];
  const norms = valueNorms(values, model, head);
  return { v, part, out, size: norms[key], along, square, share: square ? along / square : 0, norms };
}

/**
 * The detail "head_write" (app/chapters/attend.py) with the lengths and the angle of what is written and of the
 * stream.
 *
 * @typedef {import("../decoded.d.ts").Detail<"head_write">} HeadWrite
 *
 * @typedef {HeadWrite & { sizes: { written: number; stream: number; product: number; cosine: number } }} Written
 */

/** @type {(write: HeadWrite) => Written} */
const writtenOf = once((write) => {
  const [w, x] = [write.written.data, write.stream.data];
  return { ...write, sizes: { written: norm(w), stream: norm(x), product: dot(w, x), cosine: cosine(w, x) } };
});

/** @param {Written} written */
const writtenValues = ({ sizes: { written, stream, cosine: angle } }) => ({ written, stream, written_cosine: angle });

/**
 * All of the row that the cell is in, with what each key hands over where the values are here.
 *
 * @param {import("./reading.js").Run} run
 * @param {Writer} selection
 */
function rowTable({ trace, held, details: { values } }, { layer, head, query }) {
  const { scores, weights } = row(held, trace.model, head, query);
  const norms = values && valueNorms(values, trace.model, head);
  const keys = [...weights.keys()];
  return {
    keys: {
      layer: keys.map(() => layer),
      head: keys.map(() => head),
      query: keys.map(() => query),
      key: keys,
      piece: keys.map((t) => trace.tokens.pieces[t]),
    },
    columns: {
      score: scores,
      weight: weights,
      value_norm: keys.map((t) => (norms ? norms[t] : NaN)),
      weight_times_value_norm: keys.map((t) => (norms ? weights[t] * norms[t] : NaN)),
    },
  };
}

/** Numbers along the dimensions of a head. @param {Table["columns"]} columns @returns {Table} */
const byDimension = (columns) => ({ keys: { dimension: Array.from(Object.values(columns)[0], (_, i) => i) }, columns });

/** @param {Carried} carried */
const valuesTable = ({ v, part, out }) => byDimension({ v, carried: part, out });

/** @param {Written} written */
function sizesTable(written) {
  const sizes = writtenValues(written);
  return { keys: { size: Object.keys(sizes) }, columns: { value: Object.values(sizes) } };
}

/** @param {Written} found */
const channelsTable = ({ written, attn_out: all, stream }) => ({
  keys: { channel: [...written.data.keys()] },
  columns: { written: written.data, all_heads: all.data, stream: stream.data },
});

/**
 * A cell, and what is written by the head and at the token that are locked, which need not be the cell's.
 *
 * @typedef {{ layer: number; head: number; query: number }} Writer
 *
 * @typedef {Writer & { key: number; locked: Writer | null }} CellSelection `locked`: null where what is handed over
 *   and written is not asked
 *
 * @typedef {import("./reading.js").Reading<CellSelection> & {
 *   cell: ReturnType<typeof cellOf>;
 *   carried: Carried | null;
 *   written: Written | null;
 * }} CellReading
 *   `carried`: null until the values are here; `written`: null until it is here, and where the cell is of another
 *   head or token
 * @type {import("./reading.js").Reader<CellReading>}
 */
export const cellReader = {
  layer: true,
  /** @returns {import("./reading.js").Questions} */
  later(_trace, { layer, locked }) {
    if (!locked) return {};
    const writer = { layer: locked.layer, head: locked.head, query: locked.query };
    return { values: ["values", { layer }], write: ["head_write", writer] };
  },
  read(run, selection) {
    const { trace, held, details } = run;
    const { layer, head, query, key, locked } = selection;
    const cell = cellOf({ trace, head, query, key }, held);
    const carried = details.values ? carriedOf(cell, details.values, trace.model) : null;
    const wrote = details.write ? writtenOf(details.write) : null;
    const written = locked?.layer === layer && locked.head === head && locked.query === query ? wrote : null;
    return {
      selection,
      cell,
      carried,
      written,
      at: `layer ${layer} head ${head} query ${query} key ${key}`,
      values: {
        qk: cell.dot,
        ...(trace.model.parts.bias ? { bias: cell.bias } : {}),
        score: cell.score,
        weight: cell.weight,
        ...(carried ? { carried_norm: cell.weight * carried.size, part: carried.share } : {}),
        ...(written ? writtenValues(written) : {}),
      },
      rows: {
        row: () => rowTable(run, selection),
        products: () => byDimension({ q: cell.q, k: cell.k, qk_terms: cell.terms }),
        ...(carried ? { values: () => valuesTable(carried) } : {}),
        ...(wrote ? { head_sizes: () => sizesTable(wrote), head_channels: () => channelsTable(wrote) } : {}),
      },
    };
  },
};
