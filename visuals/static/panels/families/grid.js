// A table of buttons that the keys walk through: one of them is reached by Tab, the arrows lead from there.

/** @type {Record<string, [number, number]>} */
const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/**
 * The place that a key leads to from [row, column] in a grid of this size, null for another key.
 *
 * @param {[number, number]} place
 * @param {string} key
 * @param {[number, number]} size
 * @returns {[number, number] | null}
 */
function stepped([row, column], key, [rows, columns]) {
  if (key === "Home") return [row, 0];
  if (key === "End") return [row, columns - 1];
  const step = STEPS[key];
  if (!step) return null;
  return [Math.min(Math.max(row + step[0], 0), rows - 1), Math.min(Math.max(column + step[1], 0), columns - 1)];
}

/**
 * Leads the focus from a cell's button to the one that a key stands for.
 *
 * @param {KeyboardEvent} event of a table
 * @param {string} selector of the buttons, one in each cell
 */
export function walk(event, selector) {
  const table = /** @type {HTMLTableElement} */ (event.currentTarget);
  const rows = [...table.tBodies[0].rows].map((row) => [
    .../** @type {NodeListOf<HTMLElement>} */ (row.querySelectorAll(selector)),
  ]);
  const target = /** @type {HTMLElement} */ (event.target);
  const row = rows.findIndex((cells) => cells.includes(target));
  if (row < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
  const to = stepped([row, rows[row].indexOf(target)], event.key, [rows.length, rows[0].length]);
  if (!to) return;
  event.preventDefault(); // and not the selected token's (keys.js)
  rows[to[0]][to[1]].focus();
}
