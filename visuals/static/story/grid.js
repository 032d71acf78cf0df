// The KV cache as a grid, as the workbench draws it (panels/kv/live-grid.js): a column for each token, a row for each
// layer, layer 0 at the bottom; the upper half of a cell is the key, the lower half the value; what the last step wrote
// has its full colour.

import { svg } from "../dom.js";
import { memo } from "../reads.js";
import { lengthOf, onEdge } from "./words.js";

const [MOST, WIDE, HIGH, TALL] = [24, 40, 22, 300]; // columns, px of a cell at most, and px of all rows
const [LEFT, GAP, READ] = [78, 2, 0.55]; // px before the cells and between them, the shade of what is read
const [UPRIGHT, LINE] = [18, 18]; // px of a cell below which slanted words would run into each other, and of a line
const ROOM = 16; // px across that a word which stands upright takes: columns that are closer have not each its own

/**
 * @typedef {{ pieces: string[]; from: number; layers: number; source: string[] }} Held `from`: the first token of
 *   the last step, 0 where that read the prompt; `source`: the tokens of a source, of which keys and values are
 *   kept besides
 */

/**
 * One half of a cell.
 *
 * @param {"k" | "v"} role
 * @param {{ x: number; y: number; width: number; height: number }} place
 * @param {boolean} isRead not written by the last step
 */
const half = (role, place, isRead) =>
  svg("rect", { ...place, fill: `var(--glass-${role})`, "fill-opacity": isRead ? READ : 1 });

/**
 * The columns that are shown: the last ones.
 *
 * @param {Held} held
 */
function columnsOf({ pieces, from, source }) {
  const own = pieces.map((piece, t) => ({ piece, isNew: from > 0 && t >= from, isSource: false }));
  const read = source.map((piece) => ({ piece, isNew: false, isSource: true }));
  return [...read, ...own].slice(-MOST);
}

/**
 * @param {Held} held
 * @param {number} width
 * @param {(layer: number) => string} nameOf a layer
 * @param {string} upwards says where later layers lie
 * @param {(count: number) => string} leftOf says how many columns before the first are not drawn
 */
function partsOf(held, width, nameOf, upwards, leftOf) {
  const { layers, from } = held;
  const columns = columnsOf(held);
  const wide = Math.min(WIDE, (width - LEFT - 30) / columns.length);
  const high = Math.min(HIGH, TALL / layers);
  const mid = (high - GAP) / 2;
  const at = (/** @type {number} */ i) => LEFT + i * wide;
  const top = (/** @type {number} */ layer) => (layers - 1 - layer) * high;
  const cells = columns.flatMap(({ isNew, isSource }, i) =>
    Array.from({ length: layers }, (_, layer) => {
      const [x, y] = [at(i), top(layer)];
      const halves = /** @type {const} */ (["k", "v"]).map((role, row) =>
        half(role, { x, y: y + row * mid, width: wide - GAP, height: mid }, from > 0 && !isNew),
      );
      return svg(`g${isNew ? ".is-new" : ""}${isSource ? ".is-source" : ""}`, {}, ...halves);
    }),
  );
  const below = layers * high + 12;
  const turn = wide < UPRIGHT ? 90 : 60;
  const names = columns.map(({ piece }) => onEdge(piece));
  const apart = Math.ceil(ROOM / wide);
  const named = [...columns.keys()].filter((i) => (columns.length - 1 - i) % apart === 0); // the newest always is
  const words = named.map((i) =>
    svg(
      `text${columns[i].isNew ? ".is-new" : ""}`,
      { transform: `translate(${at(i) + wide / 2 + 4} ${below}) rotate(${-turn})`, "text-anchor": "end" },
      names[i],
    ),
  );
  const deep = Math.max(...named.map((i) => lengthOf(names[i]))) * Math.sin((turn * Math.PI) / 180);
  const rows = [0, layers - 1].map((layer) => svg("text", { x: 0, y: top(layer) + high / 2 + 5 }, nameOf(layer)));
  rows.push(svg("text", { x: 0, y: below + LINE / 2 }, upwards));
  const left = held.pieces.length + held.source.length - columns.length;
  if (left) rows.push(svg("text", { x: 0, y: below + deep + LINE }, leftOf(left))); // columns that have no room
  return { parts: [...rows, ...cells, ...words], height: below + deep + (left ? LINE + 4 : 0) };
}

/**
 * @param {import("../types.d.ts").Glass} glass
 * @param {string} label the key of the drawing's name
 */
export function createGrid(glass, label) {
  const element = svg("svg.st-grid", { role: "img" });
  const nameOf = (/** @type {number} */ layer) => glass.text("story-cache.layer", { layer });
  const leftOf = (/** @type {number} */ count) => glass.text("story-cache.columns_left", { count });
  const paint = memo((/** @type {Held} */ held, /** @type {number} */ width, _language) => {
    const { parts, height } = partsOf(held, width, nameOf, glass.text("marks.layers"), leftOf);
    element.setAttribute("viewBox", `0 0 ${width} ${height}`);
    element.setAttribute("aria-label", glass.text(label));
    element.replaceChildren(...parts);
  });
  return { element, paint };
}
