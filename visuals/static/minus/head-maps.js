// Attention maps of heads, B − A: cell by cell where there is room, else of every block the largest change. Pure.

import { eachRow } from "../compute.js";

const ROWS = 8; // query rows between two looks at the clock

/**
 * One head's change, made a few rows at a time.
 * @param {object} a @param {object} b the layer in both runs, with as many tokens @param {"scores"|"weights"|"weighted"} view
 * @param {[ArrayLike<number>, ArrayLike<number>]|null} norms ‖v‖ of each key in both runs, for "weighted"
 * @returns {{ side: number, block: number, values: Float32Array, limit: number, done: boolean, work: (end: number) => boolean }}
 * values: side × side, of block × block changes the one of largest magnitude; NaN where the mask hides all of them
 */
export function changeOf(a, b, model, head, view, block, norms = null) {
  const tokens = b.q.shape[1];
  if (a.q.shape[1] !== tokens) throw new RangeError(`cannot subtract maps of ${a.q.shape[1]} tokens from maps of ${tokens}`);
  const side = Math.ceil(tokens / block);
  const made = { side, block, values: new Float32Array(side * side).fill(NaN), limit: 0, done: false };
  let rows = 0;
  const read = (held, to, run, use) =>
    eachRow(held, model, head, rows, to, (query, scores, weights) => {
      const value = (key) => (view === "scores" ? scores[key] : view === "weights" ? weights[key] : weights[key] * norms[run][key]);
      use(query, value);
    });
  function advance(to) {
    const first = new Map();
    read(a, to, 0, (query, value) => first.set(query, Float64Array.from({ length: query + 1 }, (_, key) => value(key))));
    read(b, to, 1, (query, value) => {
      const start = Math.floor(query / block) * side;
      for (let key = 0; key <= query; key++) {
        const change = value(key) - first.get(query)[key];
        const cell = start + Math.floor(key / block);
        if (!(Math.abs(made.values[cell]) >= Math.abs(change))) made.values[cell] = change;
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
  return made;
}
