// A map of queries × keys in a square: its cells, what is under a point of it, and the marks at the query's row and the
// key's column.

import { spanSeen } from "../compute.js";
import { cells, enlarge, ink, inside, pixelRatio } from "../draw.js";

/**
 * @typedef {import("./attention-values.js").CellMap} CellMap
 *
 * @typedef {{ x: number; y: number; size: number }} Square in pixels to draw in
 */

/**
 * How many tokens a dot of a map stands for, in each direction.
 *
 * @param {number} tokens T
 * @param {number} size of the map's side, in pixels to draw in
 */
export const blockFor = (tokens, size) => Math.max(1, Math.ceil(tokens / (size * pixelRatio())));

/** @type {WeakMap<CellMap, { name: string; image: HTMLCanvasElement }>} */
const images = new WeakMap();
/**
 * A map's cells in colour; drawn once while its scale stays.
 *
 * @param {CellMap} map
 * @param {import("./scales.js").Scale} scale
 * @param {number} limit of the scale
 */
function imageOf(map, { table, place }, limit) {
  const name = `${table} ${limit}`;
  let found = images.get(map);
  if (found?.name !== name) {
    found = { name, image: cells(map.values, map.side, map.side, ink()[table], place) };
    images.set(map, found);
  }
  return found.image;
}

/**
 * A complete map in a square.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {CellMap} map
 * @param {Square} square
 * @param {import("./scales.js").Scale} scale
 * @param {number} limit of the scale
 */
export function drawMap(context, map, { x, y, size }, scale, limit) {
  const covered = (map.side * map.block * size) / map.tokens; // the last dots may reach past the text
  inside(context, x, y, size, size, () => enlarge(context, imageOf(map, scale, limit), x, y, covered, covered));
}

/**
 * A map that is to be guessed: the cells that each query sees, empty.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {import("../decode.js").Trace} trace
 * @param {Square} square
 */
export function drawBlank(context, { model, T: tokens }, { x, y, size }) {
  const { colour } = ink();
  const step = size / tokens;
  const apart = step > 4; // smaller cells have no room for a gap
  context.fillStyle = colour("line");
  for (let query = 0; query < tokens; query++) {
    const [first, end] = spanSeen(model, query, tokens);
    const top = y + query * step;
    if (!apart) context.fillRect(x + first * step, top, (end - first) * step, step);
    for (let key = first; apart && key < end; key++) context.fillRect(x + key * step, top, step - 1, step - 1);
  }
}

/**
 * A frame white inside black, thin enough for small cells.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 */
function outline(context, x, y, width, height) {
  for (const [name, out] of /** @type {[string, number][]} */ ([
    ["cross-edge", 1.5],
    ["cross", 0.5],
  ])) {
    context.strokeStyle = ink().colour(name);
    context.lineWidth = 1;
    context.strokeRect(x - out, y - out, width + 2 * out, height + 2 * out);
  }
}

/**
 * A filled triangle.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {string} role whose hue it has
 * @param {...[number, number]} corners
 */
function pointer(context, role, ...corners) {
  context.fillStyle = ink().colour(role);
  context.beginPath();
  corners.forEach((corner) => context.lineTo(...corner));
  context.fill();
}

/**
 * Blue: the query's row. Orange: the key's column.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Square} square
 * @param {{ query: number; key: number; trace: import("../decode.js").Trace }} place
 * @param {number} long of the pointers, in px
 * @param {boolean} [cell] whether the cell itself is framed
 */
export function markCell(context, { x, y, size }, { query, key, trace }, long, cell = true) {
  const step = size / trace.T;
  const [middle, across, half] = [y + (query + 0.5) * step, x + (key + 0.5) * step, long > 7 ? 6 : 5];
  pointer(context, "q", [x - 1, middle], [x - 1 - long, middle - half], [x - 1 - long, middle + half]);
  pointer(
    context,
    "k",
    [across, y + size + 1],
    [across - half, y + size + 1 + long],
    [across + half, y + size + 1 + long],
  );
  const [first, end] = spanSeen(trace.model, query, trace.T);
  outline(context, x + first * step, y + query * step, (end - first) * step, step);
  if (cell) outline(context, x + key * step, y + query * step, step, step);
}

/**
 * The cell of a square under a point; a masked one gives the nearest that its query sees.
 *
 * @param {Square} square
 * @param {import("../decode.js").Trace} trace
 * @param {number} pointX
 * @param {number} pointY
 * @returns {{ query: number; key: number } | null}
 */
export function cellUnder({ x, y, size }, { T: tokens, model }, pointX, pointY) {
  const [key, query] = [pointX - x, pointY - y].map((v) => Math.floor((v / size) * tokens));
  if (query < 0 || query >= tokens || key < 0 || key >= tokens) return null;
  const [first, end] = spanSeen(model, query, tokens);
  return { query, key: Math.min(Math.max(key, first), end - 1) };
}
