// A row of a head under every kind of position, as written and with the other tokens in another order: a map of kinds ×
// keys, each token in its own column in both.

import { createDepthMap } from "../../marks/depth.js";
import { WEIGHTS } from "../../marks/scales.js";
import { across } from "../../pointing.js";

/**
 * @typedef {import("../../readings/position-kinds.js").KindRow} KindRow
 *
 * @typedef {import("../../marks/runs.js").RunWith<{ rows: KindRow[]; places: number[] }>} KindsRun
 */

/**
 * The kind of a line of the map, from the lowest up, and whether it is the other order's.
 *
 * @param {KindRow[]} rows
 * @param {number} line
 */
const lineOf = (rows, line) => ({ row: rows[rows.length - 1 - (line >> 1)], other: line % 2 === 0 });

/**
 * The weights of every line, the lowest first.
 *
 * @param {KindsRun} run
 */
function weightsOf({ details: { rows } }) {
  const lines = Array.from({ length: 2 * rows.length }, (_, line) => lineOf(rows, line));
  return Float64Array.from(lines.flatMap(({ row, other }) => [...(other ? row.shuffled : row.weights)]));
}

/**
 * @param {import("../../types.d.ts").Glass} glass
 * @param {(name: string, params?: Record<string, unknown>) => string} text of the panel
 */
export const createKindsMap = (glass, text) =>
  createDepthMap(glass, {
    label: "position-kinds.map",
    left: 104,
    cell: () => 22,
    values: weightsOf,
    scale: () => ({ ...WEIGHTS, name: text("map_scale") }),
    pieces: (/** @type {KindsRun} */ { trace, details: { places } }) => trace.tokens.pieces.slice(0, places.length),
    second: ({ details: { places } }) => places.map((place, token) => (place === token ? "" : `→${place}`)),
    axis: () => text("map_axis"),
    name(line, { details: { rows } }) {
      const { row, other } = lineOf(rows, line);
      return other ? text("map_other") : text(`kind_${row.kind}`);
    },
    word: (run) => {
      const [values, count] = [weightsOf(run), run.details.places.length];
      return (line, token) => values[line * count + token].toFixed(2);
    },
    at: ({ key }) => ({ row: -1, token: key }),
    pick: ({ token }) => ({ key: token }),
    moves: { ...across("key"), ArrowUp: () => null, ArrowDown: () => null },
  });
