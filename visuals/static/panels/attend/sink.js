// What is said of a first token that takes much of a row.

import { share, shown } from "../../dom.js";
import { oneLine } from "../../one-line.js";

const SINK = 0.3; // from this weight on key 0 is explained as a sink

/**
 * Where the first token takes much of the row: that it does, and whether its value is small, as measured here.
 *
 * @param {ArrayLike<number>} weights
 * @param {Float64Array | null} norms ‖v‖ of every token; null where nothing is said of them
 * @param {{ head: number; query: number }} at
 * @param {import("../../types.d.ts").Say} text
 */
export function sinkText(weights, norms, { head, query }, text) {
  if (query < 2 || weights[0] < SINK) return "";
  const said = text("sink", { weight: share(weights[0]), head });
  if (!norms) return said;
  const others = norms.slice(1).reduce((sum, x) => sum + x, 0) / (norms.length - 1);
  const kind = norms[0] < others / 2 ? "sink_small" : "sink_constant";
  return oneLine([said, text(kind, { norm: shown(norms[0], 3), others: shown(others, 3) })]);
}
