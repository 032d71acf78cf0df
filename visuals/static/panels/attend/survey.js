// Where each head's attention goes on this run, told while its map is made. Pure.

import { eachRow, keysSeen } from "../../compute.js";
import { tally, usual } from "./habits.js";

export const MEASURES = ["first", "previous"];

/**
 * @typedef {import("./habits.js").Habits & { rows: number, done: boolean }} Head  of which so many rows were read
 * @returns {{ heads: Head[][], read: (layer: number, head: number) => import("../../marks/attention-values.js").Reader|null }}
 * `read`: a head's weights, for its map; null while the layer is not here
 */
export function createSurvey(trace) {
  const { n_layers, n_heads } = trace.model;
  const heads = Array.from({ length: n_layers }, () => Array.from({ length: n_heads }, () => ({ ...usual(trace.T), rows: 0, done: false })));

  function read(layer, head) {
    const held = trace.layers.get(layer);
    if (!held) return null;
    const one = heads[layer][head];
    const each = (from, to, use) =>
      eachRow(held, trace.model, head, from, to, (query, _, weights) => {
        if (query === one.rows) {
          tally(one, trace.T, query, weights);
          one.done = (one.rows += 1) === trace.T;
        }
        use(query, (key) => weights[key]);
      });
    return { tokens: trace.T, seen: (query) => keysSeen(trace.model, query, trace.T), each };
  }
  return { heads, read };
}

/** The heads that do most of a measure, best first. @param {Head[][]} heads @param {"first"|"previous"} name */
export function leaders(heads, name, count) {
  return heads
    .flatMap((row, layer) => row.map((one, head) => ({ layer, head, score: one.done ? one[name] : NaN })))
    .filter(({ score }) => Number.isFinite(score))
    .sort((a, b) => b.score - a.score)
    .slice(0, count);
}
