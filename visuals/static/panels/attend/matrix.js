// One head's whole map in one of three views, made a few rows at a time, so that no map holds up the pointer. Pure.

import { eachRow } from "../../compute.js";

/** scores: q·k/√head_dim; weights: their softmax; weighted: α·‖v‖, how much each key really hands over. */
export const VIEWS = ["scores", "weights", "weighted"];
const ROWS = 8; // query rows between two looks at the clock
const KEPT = 24;

/** @type {{ layer: object, name: string, matrix: Matrix }[]} the maps that were looked at last, of any layer */
const recent = [];

/**
 * @typedef {{ side: number, block: number, values: Float32Array, limit: number, done: boolean, work: (end: number) => boolean }} Matrix
 * values: side × side, each the value of largest magnitude among block × block; NaN where the mask hides all of them.
 * limit: the largest magnitude of all; work(end): goes on until that time, says whether the map is complete
 */

/** @returns {Matrix} */
function makeMatrix(layer, model, head, view, block, norms) {
  const tokens = layer.q.shape[1];
  const side = Math.ceil(tokens / block);
  const made = { side, block, values: new Float32Array(side * side).fill(NaN), limit: 0, done: false };
  let rows = 0;
  function keep(query, scores, weights) {
    const start = Math.floor(query / block) * side;
    for (let key = 0; key <= query; key++) {
      const value = view === "scores" ? scores[key] : view === "weights" ? weights[key] : weights[key] * norms[key];
      const cell = start + Math.floor(key / block);
      if (!(Math.abs(made.values[cell]) >= Math.abs(value))) made.values[cell] = value;
      if (Math.abs(value) > made.limit) made.limit = Math.abs(value);
    }
  }
  made.work = (end) => {
    while (rows < tokens && performance.now() < end) {
      const to = Math.min(tokens, rows + ROWS);
      eachRow(layer, model, head, rows, to, keep);
      rows = to;
    }
    made.done = rows === tokens;
    return made.done;
  };
  return made;
}

/**
 * The map of a head, the same one for the same arguments. @param {Float64Array|null} norms ‖v‖ of each key, for "weighted"
 * @returns {Matrix}
 */
export function matrixOf(layer, model, head, view, block, norms) {
  const name = `${head} ${view} ${block}`;
  const at = recent.findIndex((one) => one.layer === layer && one.name === name);
  const found = at < 0 ? { layer, name, matrix: makeMatrix(layer, model, head, view, block, norms) } : recent[at];
  if (at >= 0) recent.splice(at, 1);
  recent.push(found);
  if (recent.length > KEPT) recent.shift();
  return found.matrix;
}

/** @type {WeakMap<object, { b: object, made: object }>} the last difference of each map */
const differences = new WeakMap();

/** A − B of two complete maps of one size, made once for a pair. @returns {{ side: number, values: Float32Array, limit: number }} */
export function differenceOf(a, b) {
  const last = differences.get(a);
  if (last?.b === b) return last.made;
  const made = subtracted(a, b);
  differences.set(a, { b, made });
  return made;
}

function subtracted(a, b) {
  const values = a.values.map((value, i) => value - b.values[i]);
  const limit = values.reduce((most, value) => (Math.abs(value) > most ? Math.abs(value) : most), 0);
  return { side: a.side, block: a.block, values, limit };
}
