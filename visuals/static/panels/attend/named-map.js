// A map of weights on a canvas of its own: the words of the text at its rows and columns, the query's row framed.

import { h } from "../../dom.js";
import { fit, ink, scaleBar } from "../../draw.js";
import { drawChosen, drawNames, LEFT, TOP } from "../../marks/cell-names.js";
import { blockFor, cellUnder } from "../../marks/cells.js";
import { WEIGHTS } from "../../marks/scales.js";
import { OVER_CELLS, bindArrowKeys, bindPointer } from "../../pointing.js";
import { drawWeights, frameRow } from "./mask-maps.js";

const [MOST, PAD, BELOW] = [320, 4, 42]; // px: of a map's side; at its right and bottom; under it the scale

/**
 * @typedef {{
 *   matrix: Float32Array;
 *   mask: import("../../readings/masks.js").Mask;
 *   seen: import("../../readings/masks.js").Span;
 * }} Shown
 *   `matrix`: (T, T); `mask`: what of it is drawn; `seen`: what the selected query sees
 */

/**
 * @param {import("../../types.d.ts").Glass} glass
 * @param {string} label the key of the canvas' name
 */
export function createNamedMap(glass, label) {
  const { state } = glass;
  const canvas = h("canvas.gp-canvas", { "data-text-label": label });
  const place = { x: LEFT, y: TOP, size: 0 };
  bindPointer(canvas, glass, (x, y) => state.trace && cellUnder(place, state.trace, x, y));
  bindArrowKeys(canvas, glass, OVER_CELLS);
  /**
   * @param {number} width
   * @param {Shown} shown
   */
  function draw(width, { matrix, mask, seen }) {
    const { trace, query, key } = state;
    if (!trace) return;
    const { x, y } = place;
    const { pieces } = trace.tokens;
    place.size = Math.min(MOST, width - x - PAD);
    const { size } = place;
    const context = fit(canvas, x + size + PAD, y + size + PAD + BELOW);
    drawNames(context, place, pieces);
    drawWeights(context, place, matrix, trace.T, mask, blockFor(trace.T, size));
    drawChosen(context, place, { query, key, pieces });
    frameRow(context, place, trace.T, query, seen);
    scaleBar(context, x, y + size + 2 * PAD, size - 1, ink()[WEIGHTS.table], WEIGHTS.ticks);
  }
  return { canvas, draw };
}
