// Several rows of weights over the same keys, one below the other and to one scale, so that they compare: a bar a key,
// hatching where a row sees none.

import { labelsOf } from "../../characters.js";
import { brief, h, share } from "../../dom.js";
import { cross, fit, hatch, ink, penOf, shade, textWidth, visible, write } from "../../draw.js";
import { spanSeen } from "../../compute.js";
import { axisOf, drawAxis, drawChosenName } from "../../marks/axis-names.js";
import { across, bindArrowKeys, bindPointer } from "../../pointing.js";

const [HIGH, ABOVE, APART, BELOW] = [72, 22, 10, 30]; // BELOW: under the names

/**
 * @typedef {{ title: string; weights: ArrayLike<number>; edges?: number[] }} WeightRow a weight for each token, NaN
 *   for one that the row does not see; `edges`: keys at which something begins that is told apart
 */

/**
 * Top of the axis: 1, or the next of 0.5, 0.2, 0.1 above the largest weight.
 *
 * @param {WeightRow[]} rows
 */
function ceilingOf(rows) {
  let most = 0;
  for (const { weights } of rows) for (let i = 0; i < weights.length; i++) if (weights[i] > most) most = weights[i];
  return [0.1, 0.2, 0.5].find((top) => most <= top) ?? 1;
}

/**
 * The text over a row: what it is, and the chosen key's weight at the right.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {WeightRow} row
 * @param {{ top: number; width: number; key: number }} place
 */
function drawTitle(context, { title, weights }, { top, width, key }) {
  const number = Number.isNaN(weights[key] ?? NaN) ? "" : brief(share(weights[key]));
  const room = number ? textWidth(context, number) + 16 : 0;
  write(context, title, 1, top + ABOVE - 7, { weight: 600, most: width - room });
  if (number) write(context, number, width - 1, top + ABOVE - 7, { align: "right" });
}

/**
 * The bars of one row.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {WeightRow} row
 * @param {{ top: number; width: number; column: number; ceiling: number; tokens: number; key: number }} place
 */
function drawRow(context, { weights, edges = [] }, { top, width, column, ceiling, tokens, key }) {
  const { colour, magnitude } = ink();
  const foot = top + ABOVE + HIGH;
  context.fillStyle = colour("grid");
  for (const part of [0.5, 1]) context.fillRect(0, foot - part * HIGH, width, 1);
  const gap = column > 6 ? 2 : 0;
  for (let t = 0; t < tokens; t++) {
    const weight = weights[t] ?? NaN;
    if (Number.isNaN(weight)) {
      hatch(context, t * column, foot - HIGH, column, HIGH);
      continue;
    }
    const high = Math.max(1, (weight / ceiling) * HIGH);
    context.fillStyle = shade(magnitude, Math.sqrt(weight));
    context.fillRect(t * column + gap / 2, foot - high, Math.max(1, column - gap), high);
    if (gap) cross(context, t * column + gap / 2 + 0.5, foot - high + 0.5, column - gap - 1, high, [["muted", 1]]);
  }
  context.fillStyle = colour("output");
  for (const edge of edges) context.fillRect(edge * column - 1, foot - HIGH - 4, 2, HIGH + 6);
  if (key < tokens) cross(context, key * column + 1, foot - HIGH - 1, Math.max(2, column - 2), HIGH + 2, [["k", 2]]);
}

/**
 * @param {import("../../types.d.ts").Glass} glass
 * @param {string} label the key of the canvas' name
 */
export function createWeightRows(glass, label) {
  const { state } = glass;
  const canvas = h("canvas.gp-canvas", { "data-text-label": label });
  let wide = 1;
  /** @param {number} x */
  function find(x) {
    const { trace, query } = state;
    if (!trace) return null;
    const key = Math.floor((x / wide) * trace.T);
    const [first, end] = spanSeen(trace.model, query, trace.T);
    return key >= first && key < end ? { key } : null;
  }
  bindPointer(canvas, glass, find);
  bindArrowKeys(canvas, glass, across("key"));

  /**
   * @param {number} width
   * @param {WeightRow[]} rows
   * @param {string} ceilingText what the full height stands for, as a text of the page
   */
  function draw(width, rows, ceilingText) {
    const { trace, key } = state;
    if (!trace) return;
    wide = width;
    const pieces = labelsOf(trace.tokens.pieces);
    const each = ABOVE + HIGH + APART;
    const foot = rows.length * each - APART;
    const axis = axisOf(penOf(canvas), pieces.map(visible), width / trace.T);
    const context = fit(canvas, width, foot + axis.tall + BELOW);
    const place = { width, column: width / trace.T, ceiling: ceilingOf(rows), tokens: trace.T, key };
    rows.forEach((row, i) => {
      drawRow(context, row, { ...place, top: i * each });
      drawTitle(context, row, { ...place, top: i * each });
    });
    drawAxis(context, axis, { left: 0, y: foot }, () => "text");
    drawChosenName(context, axis, { left: 0, y: foot }, { t: key, role: "k" });
    const full = glass.text(ceilingText, { ceiling: place.ceiling });
    write(context, full, width, foot + axis.tall + BELOW - 7, {
      align: "right",
      colour: ink().colour("muted"),
      most: width,
    });
  }
  return { canvas, draw };
}
