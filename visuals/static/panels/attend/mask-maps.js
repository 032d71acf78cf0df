// Small square maps of queries × keys: a head's weights, or what a mask lets through.

import { ink, cells, cross, enlarge, hatch, inside } from "../../draw.js";

/**
 * @typedef {import("../../marks/cells.js").Square} Square
 *
 * @typedef {import("../../readings/masks.js").Mask} Mask
 */

/**
 * Weights in a square, on the hatching of what is hidden; where cells are smaller than a dot, a dot shows the
 * largest.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Square} square
 * @param {Float32Array} matrix (T, T), NaN where nothing is seen
 * @param {number} tokens
 * @param {Mask} mask what of it is drawn
 * @param {number} block cells to a side of a dot
 */
export function drawWeights(context, { x, y, size }, matrix, tokens, mask, block) {
  hatch(context, x, y, size, size);
  const side = Math.ceil(tokens / block);
  const values = new Float32Array(side * side).fill(NaN);
  for (let query = 0; query < tokens; query++) {
    const [from, to] = mask(query);
    for (let key = from; key < to; key++) {
      const [at, weight] = [Math.floor(query / block) * side + Math.floor(key / block), matrix[query * tokens + key]];
      if (!Number.isNaN(weight) && !(values[at] > weight)) values[at] = weight;
    }
  }
  const covered = (side * block * size) / tokens;
  const image = cells(values, side, side, ink().magnitude, Math.sqrt);
  inside(context, x, y, size, size, () => enlarge(context, image, x, y, covered, covered));
}

/**
 * What a mask lets through, in one colour, on the hatching of what it hides.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Square} square
 * @param {{ queries: number; keys: number; from?: [number, number]; of: number }} grid so many queries and keys,
 *   the first of them at a place `from` in a square of so many
 * @param {Mask} mask
 * @param {(query: number, key: number) => string} role the hue of a cell
 */
export function drawMask(context, { x, y, size }, { queries, keys, from: [top, left] = [0, 0], of }, mask, role) {
  const step = size / of;
  const { colour } = ink();
  const gap = step > 5 ? 1 : 0;
  hatch(context, x + left * step, y + top * step, keys * step, queries * step);
  for (let query = 0; query < queries; query++) {
    const [start, end] = mask(query);
    for (let key = start; key < end; key++) {
      context.fillStyle = colour(role(query, key));
      context.fillRect(x + (left + key) * step, y + (top + query) * step, step - gap, step - gap);
    }
  }
}

/**
 * A frame around what a query sees.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Square} square
 * @param {number} of tokens to a side
 * @param {number} query
 * @param {import("../../readings/masks.js").Span} span
 */
export function frameRow(context, { x, y, size }, of, query, [from, to]) {
  const step = size / of;
  cross(context, x + from * step, y + query * step, (to - from) * step, step);
}
