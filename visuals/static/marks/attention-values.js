// Whole attention maps, made a few rows at a time so that none holds up the pointer: of one run its values, of two
// their change. Pure.

import { eachRow, spanSeen } from "../compute.js";

/**
 * @typedef {import("../compute.js").Heads} Heads
 *
 * @typedef {import("../compute.js").Model} Model
 *
 * @typedef {"scores" | "weights" | "weighted"} View what is shown of a head
 */

/**
 * scores: q·k/√head_dim; weights: their softmax; weighted: α·‖v‖, how much each key really hands over.
 *
 * @type {View[]}
 */
export const VIEWS = ["scores", "weights", "weighted"];
const ROWS = 8; // query rows between two looks at the clock

/**
 * @typedef {{
 *   tokens: number;
 *   span: (query: number) => import("../readings/masks.js").Span;
 *   each: (from: number, to: number, use: (query: number, value: (key: number) => number) => void) => void;
 * }} Reader
 *   the cells of a map in one run, for queries from … to − 1; span: of which keys
 *
 * @typedef {{
 *   side: number;
 *   block: number;
 *   tokens: number;
 *   values: Float32Array;
 *   limit: number;
 *   done: boolean;
 *   work: (end: number) => boolean;
 *   rows: () => number[][];
 * }} CellMap
 *   values: side × side, of each block × block cells the value of largest magnitude; NaN where the mask hides all of
 *   them; limit: the largest magnitude; work(end): goes on until that time, says whether the map is complete; rows:
 *   query and key of the cell that each dot shows, its value in every run, and of two runs the change
 */

/**
 * One head's cells.
 *
 * @param {Heads} held
 * @param {Model} model
 * @param {number} head
 * @param {View} [view]
 * @param {ArrayLike<number> | null} [norms] of each key the length ‖v‖, for "weighted"
 * @returns {Reader}
 */
export function readHead(held, model, head, view = "weights", norms = null) {
  /** @type {Reader["each"]} */
  const each = (from, to, use) =>
    eachRow(held, model, head, from, to, (query, scores, weights) => {
      use(
        query,
        view === "scores"
          ? (key) => scores[key]
          : view === "weighted" && norms
            ? (key) => weights[key] * norms[key]
            : (key) => weights[key],
      );
    });
  const tokens = held.q.shape[1];
  return { tokens, span: (query) => spanSeen(model, query, tokens), each };
}

/**
 * What the first reader's head gives a key more than the second's.
 *
 * @param {Reader} first
 * @param {Reader} second
 * @returns {Reader}
 */
export const readApart = (first, second) => ({
  tokens: first.tokens,
  span: first.span,
  each(from, to, use) {
    const others = held(second, from, to);
    first.each(from, to, (query, value) => use(query, (key) => value(key) - others[query - from][key]));
  },
});

/**
 * The rows of a reader, kept.
 *
 * @param {Reader} reader
 * @param {number} from
 * @param {number} to
 */
function held(reader, from, to) {
  /** @type {Float64Array[]} */
  const rows = [];
  reader.each(from, to, (query, value) =>
    rows.push(Float64Array.from({ length: reader.span(query)[1] }, (_, key) => value(key))),
  );
  return rows;
}

/**
 * @param {Reader[]} readers one, or two of as many tokens: A's and B's
 * @param {number} block
 * @returns {CellMap}
 */
export function makeMap(readers, block) {
  const [{ tokens }, b] = readers;
  if (b && b.tokens !== tokens)
    throw new RangeError(`cannot subtract maps of ${tokens} tokens from maps of ${b.tokens}`);
  const side = Math.ceil(tokens / block);
  const values = new Float32Array(side * side).fill(NaN);
  /** @type {CellMap} */
  const made = { side, block, tokens, values, limit: 0, done: false, work, rows: strongestRows };
  const reader = b ? readApart(b, readers[0]) : readers[0];
  let rows = 0;
  /**
   * Makes the queries from … to − 1.
   *
   * @param {number} from
   * @param {number} to
   */
  function advance(from, to) {
    reader.each(from, to, (query, value) => {
      const start = Math.floor(query / block) * side;
      const [first, end] = reader.span(query);
      for (let key = first; key < end; key++) {
        const [now, cell] = [value(key), start + Math.floor(key / block)];
        if (!(Math.abs(made.values[cell]) >= Math.abs(now))) made.values[cell] = now;
        if (Math.abs(now) > made.limit) made.limit = Math.abs(now);
      }
    });
  }
  /** @param {number} end */
  function work(end) {
    while (rows < tokens && performance.now() < end) {
      const to = Math.min(tokens, rows + ROWS);
      advance(rows, to);
      rows = to;
    }
    return (made.done = rows === tokens);
  }
  function strongestRows() {
    /** @type {number[][]} */
    const found = new Array(side * side);
    /** @type {(row: number[]) => number} */
    const sizeOf = (row) => Math.abs(row[row.length - 1]);
    const runs = readers.map((one) => held(one, 0, tokens));
    for (let query = 0; query < tokens; query++) {
      const [first, end] = readers[0].span(query);
      for (let key = first; key < end; key++) {
        const ofRuns = runs.map((every) => every[query][key]);
        const row = [query, key, ...ofRuns, ...(b ? [ofRuns[1] - ofRuns[0]] : [])];
        const cell = Math.floor(query / block) * side + Math.floor(key / block);
        if (!found[cell] || sizeOf(row) > sizeOf(found[cell])) found[cell] = row;
      }
    }
    return found.filter(Boolean);
  }
  return made;
}

/**
 * The maps of many heads, made in slices.
 *
 * @param {{ layer: number; head: number }[]} heads
 * @param {(layer: number, head: number) => CellMap | null} make null while the layer is not here
 * @returns {{
 *   at: (layer: number, head: number) => CellMap | undefined;
 *   work: (end: number, first?: { layer: number; head?: number }) => boolean;
 *   done: () => CellMap[];
 * }}
 *   work: goes on until that time, the head or layer `first` before the others; whether all that is here is done
 */
export function makeMaps(heads, make) {
  /** @type {Map<string, CellMap>} by layer and head */
  const maps = new Map();
  /** @type {(layer: number, head: number) => CellMap | undefined} */
  const at = (layer, head) => maps.get(`${layer} ${head}`);
  /**
   * @param {number} end
   * @param {{ layer?: number; head?: number }} [first]
   */
  function work(end, first = {}) {
    /** @type {(place: { layer: number; head: number }) => number} */
    const rank = ({ layer, head }) =>
      layer === first.layer && (first.head === undefined || head === first.head) ? 0 : 1;
    for (const { layer, head } of [...heads].sort((a, b) => rank(a) - rank(b))) {
      const map = at(layer, head) ?? make(layer, head);
      if (!map) continue;
      maps.set(`${layer} ${head}`, map);
      if (!map.done && !map.work(end)) return false;
    }
    return true;
  }
  return { at, work, done: () => [...maps.values()].filter((map) => map.done) };
}
