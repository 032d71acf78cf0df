// The cell that the chapter's panels read, and how B − A lists a query's row of weights, key by key.

import { labelsOf } from "../../characters.js";
import { visible } from "../../draw.js";

/**
 * What their readers are asked for: nothing else of the state is read.
 *
 * @param {Pick<import("../../types.d.ts").Glass, "state">} glass
 */
export const selectedCell = ({ state: { layer, head, query, key } }) => ({ layer, head, query, key });

/**
 * A token by its text in B, and in A where that is another one.
 *
 * @param {import("../../difference/from-reading.js").RowAbout} row
 */
export function tokenName({ index, a, b }) {
  const [first, second] = [a, b].map(({ trace }) => visible(labelsOf(trace.tokens.pieces)[index]));
  return first === second ? `${second} (${index})` : `${first} → ${second} (${index})`;
}

/** @type {import("../../difference/from-reading.js").TablePart} */
export const weightsTable = {
  draw: "table",
  rows: "weights",
  column: "weight",
  title: "weights",
  heading: "token",
  name: tokenName,
  selects: "key",
};
