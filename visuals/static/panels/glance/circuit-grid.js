// Where the parts of a circuit stand in a stack: columns of tokens, rows of layers. Pure.

/**
 * @typedef {import("../../readings/circuit.js").Stack} Stack
 *
 * @typedef {{ from: number; to: number; empty: boolean }} Row
 */

/**
 * The columns: tokens that hold a node, those that differ, and where it answers the last.
 *
 * @param {Pick<Stack, "nodes" | "differ" | "pieces" | "answers">} stack
 * @returns {number[]}
 */
export function columnsOf({ nodes, differ, pieces, answers }) {
  return [...new Set([...nodes.map(({ token }) => token), ...differ, ...(answers ? [pieces.length - 1] : [])])].sort(
    (a, b) => a - b,
  );
}

/**
 * The rows from the top: layers that hold a node, and between them the stretches of layers that hold none.
 *
 * @param {Pick<Stack, "nodes">} stack
 * @param {number} count of all layers
 * @returns {Row[]}
 */
export function rowsOf({ nodes }, count) {
  /** @type {Row[]} */
  const rows = [];
  for (let layer = count - 1; layer >= 0; layer -= 1) {
    const empty = !nodes.some((node) => node.layer === layer);
    const last = rows.at(-1);
    if (empty && last?.empty) last.from = layer;
    else rows.push({ from: layer, to: layer, empty });
  }
  return rows;
}
