// A map of queries × keys in a square: its cells, what is under a point of it, and the marks at the query's row and the
// key's column.

import { keysSeen } from "../compute.js";
import { cells, enlarge, ink, inside, pixelRatio } from "../draw.js";

/** How many tokens a dot of a map stands for, in each direction. */
export const blockFor = (tokens, size) => Math.max(1, Math.ceil(tokens / (size * pixelRatio())));

const images = new WeakMap();
/** A map's cells in colour; drawn once while its scale stays. */
function imageOf(map, { table, place }, limit) {
  const name = `${table} ${limit}`;
  if (images.get(map)?.name !== name)
    images.set(map, { name, image: cells(map.values, map.side, map.side, ink()[table], place) });
  return images.get(map).image;
}

/**
 * A complete map in a square.
 *
 * @param {import("./scales.js").Scale} scale
 * @param {number} limit of the scale
 */
export function drawMap(context, map, { x, y, size }, scale, limit) {
  const covered = (map.side * map.block * size) / map.tokens; // the last dots may reach past the text
  inside(context, x, y, size, size, () => enlarge(context, imageOf(map, scale, limit), x, y, covered, covered));
}

/** A frame white inside black, thin enough for small cells. */
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
 * @param {{ x: number; y: number; size: number }} square
 * @param {{ query: number; key: number; trace: object }} state
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
  outline(context, x, y + query * step, keysSeen(trace.model, query, trace.T) * step, step);
  if (cell) outline(context, x + key * step, y + query * step, step, step);
}

/**
 * The cell of a square under a point; a masked one gives the last of its query's row.
 *
 * @returns {{ query: number; key: number } | null}
 */
export function cellUnder({ x, y, size }, { T: tokens, model }, pointX, pointY) {
  const [key, query] = [pointX - x, pointY - y].map((v) => Math.floor((v / size) * tokens));
  return query < 0 || query >= tokens || key < 0 || key >= tokens
    ? null
    : { query, key: Math.min(key, keysSeen(model, query, tokens) - 1) };
}
