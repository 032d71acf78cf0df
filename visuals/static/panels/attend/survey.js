// Every head of every layer, looked at once: a small map of its weights, and where its attention goes on this run.
// Made in slices while the browser is idle, layer by layer as they arrive. Pure but for the clock.

import { eachRow } from "../../compute.js";

const ROWS = 8; // query rows between two looks at the clock
export const MEASURES = ["first", "previous"];

/**
 * @typedef {{ map: Float32Array|null, rows: number, first: number, previous: number, done: boolean }} Head
 * first, previous: mean weight of queries 2 … T - 1 on key 0, on the key just before; NaN for fewer than three tokens
 * @param {object} trace @param {number} block tokens a dot stands for, in each direction
 * @returns {{ side: number, block: number, heads: Head[][], work: (end: number, first: number) => boolean, waiting: () => number }}
 */
export function createSurvey(trace, block) {
  const { n_layers, n_heads } = trace.model;
  const side = Math.ceil(trace.T / block);
  const heads = Array.from({ length: n_layers }, () =>
    Array.from({ length: n_heads }, () => ({ map: null, rows: 0, first: 0, previous: 0, done: false })),
  );

  function advance(held, layer, head) {
    const one = heads[layer][head];
    one.map ??= new Float32Array(side * side).fill(NaN);
    const to = Math.min(trace.T, one.rows + ROWS);
    eachRow(held, trace.model, head, one.rows, to, (query, _, weights) => {
      const start = Math.floor(query / block) * side;
      for (let key = 0; key <= query; key++) {
        const cell = start + Math.floor(key / block);
        if (!(one.map[cell] >= weights[key])) one.map[cell] = weights[key];
      }
      if (query < 2) return;
      one.first += weights[0] / (trace.T - 2);
      one.previous += weights[query - 1] / (trace.T - 2);
    });
    one.rows = to;
    one.done = to === trace.T;
    if (one.done && trace.T < 3) one.first = one.previous = NaN;
  }

  /** Goes on until `end`, the layer `first` before the others; whether all that has arrived is done. */
  function work(end, first) {
    const order = [first, ...heads.keys()];
    for (const layer of order) {
      const held = trace.layers.get(layer);
      if (!held) continue;
      for (let head = 0; head < n_heads; head++) {
        while (!heads[layer][head].done) {
          advance(held, layer, head);
          if (performance.now() >= end) return false;
        }
      }
    }
    return true;
  }

  /** Layers that have not arrived. */
  const waiting = () => n_layers - trace.layers.size;
  return { side, block, heads, work, waiting };
}

/** The heads that do most of a measure, best first. @param {Head[][]} heads @param {"first"|"previous"} name */
export function leaders(heads, name, count) {
  return heads
    .flatMap((row, layer) => row.map((one, head) => ({ layer, head, score: one.done ? one[name] : NaN })))
    .filter(({ score }) => Number.isFinite(score))
    .sort((a, b) => b.score - a.score)
    .slice(0, count);
}
