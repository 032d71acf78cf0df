// Attention maps of heads, B − A: cell by cell where there is room, else of every block the largest change. Pure.

import { eachRow } from "../compute.js";

const ROWS = 8; // query rows between two looks at the clock

/**
 * @typedef {(from: number, to: number, use: (query: number, value: (key: number) => number) => void) => void} Rows
 *   the cells of a map in one run, for queries from … to − 1
 * @typedef {{ side: number, block: number, values: Float32Array, limit: number, done: boolean, work: (end: number) => boolean, rows: () => number[][] }} Change
 *   values: side × side, of block × block changes the one of largest magnitude; NaN where the mask hides all of them;
 *   rows: query, key, A and B of each of these, and the change
 */

/** One head's cells. @param {"scores"|"weights"|"weighted"} view @param {ArrayLike<number>|null} norms ‖v‖ of each key, for "weighted" @returns {Rows} */
const rowsOf = (held, model, head, view, norms) => (from, to, use) =>
  eachRow(held, model, head, from, to, (query, scores, weights) => {
    use(query, (key) => (view === "scores" ? scores[key] : view === "weights" ? weights[key] : weights[key] * norms[key]));
  });

/** What one head gives a key more than another head does. @param {object} other the other head's layer in the same run @returns {Rows} */
const rowsApart = (held, head, other, otherHead, model) => (from, to, use) => {
  const seconds = new Map();
  eachRow(other, model, otherHead, from, to, (query, _, weights) => seconds.set(query, weights.slice(0, query + 1)));
  eachRow(held, model, head, from, to, (query, _, weights) => use(query, (key) => weights[key] - seconds.get(query)[key]));
};

/** B − A of a map, made a few rows at a time. @param {Rows} inA @param {Rows} inB @returns {Change} */
function changeIn(inA, inB, tokens, block) {
  const side = Math.ceil(tokens / block);
  const made = { side, block, values: new Float32Array(side * side).fill(NaN), limit: 0, done: false };
  const [cells, firsts, seconds] = [Uint32Array, Float32Array, Float32Array].map((Values) => new Values(side * side)); // of what `values` shows
  let rows = 0;
  function advance(to) {
    const first = new Map();
    inA(rows, to, (query, value) => first.set(query, Float64Array.from({ length: query + 1 }, (_, key) => value(key))));
    inB(rows, to, (query, value) => {
      const start = Math.floor(query / block) * side;
      for (let key = 0; key <= query; key++) {
        const [before, after] = [first.get(query)[key], value(key)];
        const change = after - before;
        const cell = start + Math.floor(key / block);
        if (!(Math.abs(made.values[cell]) >= Math.abs(change))) {
          made.values[cell] = change;
          [cells[cell], firsts[cell], seconds[cell]] = [query * tokens + key, before, after];
        }
        if (Math.abs(change) > made.limit) made.limit = Math.abs(change);
      }
    });
    rows = to;
  }
  made.work = (end) => {
    while (rows < tokens && performance.now() < end) advance(Math.min(tokens, rows + ROWS));
    made.done = rows === tokens;
    return made.done;
  };
  made.rows = () =>
    Array.from(made.values, (change, i) => [Math.floor(cells[i] / tokens), cells[i] % tokens, firsts[i], seconds[i], change]).filter(([, , , , change]) => !Number.isNaN(change));
  return made;
}

/** How many tokens both runs have. */
function lengthOf(a, b) {
  const [first, tokens] = [a.q.shape[1], b.q.shape[1]];
  if (first !== tokens) throw new RangeError(`cannot subtract maps of ${first} tokens from maps of ${tokens}`);
  return tokens;
}

/**
 * One head's change. @param {object} a @param {object} b the layer in both runs, with as many tokens
 * @param {[ArrayLike<number>, ArrayLike<number>]} [norms] ‖v‖ of each key in both runs, for "weighted" @returns {Change}
 */
export const changeOf = (a, b, model, head, view, block, norms = [null, null]) =>
  changeIn(...[a, b].map((held, run) => rowsOf(held, model, head, view, norms[run])), lengthOf(a, b), block);

/** The change of what one head's weights are more than another's. @param {[object, object]} a @param {[object, object]} b the two heads' layers in each run @returns {Change} */
export const changeApart = (a, b, model, [head, other], block) =>
  changeIn(...[a, b].map((held) => rowsApart(held[0], head, held[1], other, model)), lengthOf(a[0], b[0]), block);
