// One row of one head: a bar a key, the arithmetic of the chosen key, and the largest weights.

import { strongest } from "../../arrays.js";
import { labelsOf } from "../../characters.js";
import { biasAt, firstKey, spanSeen } from "../../compute.js";
import { brief, h, share, shown } from "../../dom.js";
import { chartHeight, cross, fit, hatch, ink, penOf, roomToDraw, shade, visible, write } from "../../draw.js";
import { axisOf, drawAxis, drawChosenName } from "../../marks/axis-names.js";
import { createTable, writeTexts } from "../../marks/table.js";
import { drawOff, headOff } from "../../off.js";
import { shownIn } from "../../run-for.js";
import { cellWritten, scoreLine, weightLine } from "./formulas.js";

const [HEIGHT, BELOW, ABOVE, SCALE] = [112, 6, 20, 18]; // BELOW: under the names; SCALE: where there is none above
const [TALL, TITLE] = [230, 70]; // px of all of it in a lesson, and of what stands above it there
/**
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../decode.js").Trace} Trace
 *
 * @typedef {import("../../readings/attend.js").CellReading} CellReading
 *
 * @typedef {{
 *   column: number;
 *   foot: number;
 *   high: number;
 *   ceiling: number;
 *   width: number;
 *   from: number;
 *   end: number;
 * }} BarPlace
 *   the bars of the keys from `from` on; `high`: of one that is as tall as the scale; `end`: of the names
 */

const NUMBERED = 54; // px of a bar that has its number over it

/** How tall a bar of the whole scale is. @param {number} below px that the names take */
const barsHeight = (below) => (roomToDraw() < Infinity ? chartHeight(TALL, TITLE) - ABOVE - below : HEIGHT);

/** Short enough to stand over a bar. @param {number} weight */
const overBar = (weight) => (weight < 0.001 ? "<0.001" : brief(share(weight)));

/** Top of the axis: 1, or the next of 0.5, 0.2, 0.1 … above the largest weight. @param {Float64Array} weights */
export function ceilingOf(weights) {
  const largest = weights.reduce((a, b) => Math.max(a, b), 0);
  return [0.1, 0.2, 0.5].find((top) => largest <= top) ?? 1;
}

/**
 * The largest weights of a row as a table, and all others as their sum.
 *
 * @param {string} section of the texts
 * @param {string} heading of the tokens
 * @param {number} count
 * @param {(count: number) => string} others what so many others are called
 * @returns {{
 *   element: HTMLElement;
 *   fill: (row: { scores: Float64Array; weights: Float64Array }, pieces: string[]) => void;
 * }}
 */
export function createLargest(section, heading, count, others) {
  const table = createTable(
    section,
    [
      [heading, "th.gp-token"],
      ["score", "td.gp-number"],
      ["weight", "td.gp-number"],
    ],
    { rows: count + 1 },
  );
  /** @type {(row: { scores: Float64Array; weights: Float64Array }, pieces: string[]) => void} */
  function fill({ scores, weights }, pieces) {
    const seen = weights.length - scores.reduce((hidden, score) => hidden + Number(score === -Infinity), 0);
    const order = strongest(weights, Math.min(count, seen));
    const rest = weights.reduce((sum, weight) => sum + weight, 0) - order.reduce((sum, t) => sum + weights[t], 0);
    const listed = order.map((t) => [
      `${visible(labelsOf(pieces)[t])}  (${t})`,
      shown(scores[t], 4),
      share(weights[t]),
    ]);
    if (seen > count) listed.push([others(seen - count), "", share(Math.max(0, rest))]);
    table.fill(listed, writeTexts);
  }
  return { element: table.element, fill };
}

/**
 * The weights over their bars; where bars are narrow the chosen key's alone, and what the full height stands for.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {BarPlace} place
 * @param {Float64Array} weights
 * @param {number} key
 * @param {Say} text
 */
function drawNumbers(context, { column, end, ceiling, width, from }, weights, key, text) {
  if (column >= NUMBERED) {
    weights.forEach(
      (weight, t) =>
        t >= from &&
        write(context, overBar(weight), (t + 0.5) * column, ABOVE - 6, {
          align: "center",
          weight: t === key ? 600 : 400,
        }),
    );
    write(context, text("ceiling", { ceiling }), width, end + SCALE - 6, {
      align: "right",
      colour: ink().colour("muted"),
    });
    return;
  }
  const x = (key + 0.5) * column;
  const align = x < 44 ? "left" : x > width - 44 ? "right" : "center";
  write(context, share(weights[key]), align === "center" ? x : align === "left" ? 1 : width - 1, ABOVE - 6, {
    align,
    weight: 600,
  });
  const far = x > width / 2 ? 0 : width;
  write(context, text("ceiling", { ceiling }), far, ABOVE - 6, {
    align: far ? "right" : "left",
    colour: ink().colour("muted"),
  });
}

/**
 * A bar a key on a canvas of its own; `find` gives the key under the pointer.
 *
 * @param {import("../../types.d.ts").Glass} glass
 * @param {Say} text
 */
export function createBars(glass, text) {
  const canvas = h("canvas.gp-canvas", { "data-text-label": "attention.row" });
  let wide = 1;
  /** @param {number} x */
  function find(x) {
    const {
      trace: { T, model },
      query,
    } = shownIn(glass);
    const key = Math.floor((x / wide) * T);
    const [first, end] = spanSeen(model, query, T);
    return key >= first && key < end ? { key } : null;
  }

  /**
   * One bar after the other, and hatching where the mask hides the key.
   *
   * @param {CanvasRenderingContext2D} context
   * @param {BarPlace} place
   * @param {Float64Array} weights
   * @param {number} tokens
   */
  function drawBars(context, { column, foot, high: all, ceiling, width, from }, weights, tokens) {
    const { colour, magnitude } = ink();
    const gap = column > 6 ? 2 : 0;
    const seen = weights.length;
    context.fillStyle = colour("grid");
    for (const part of [0.5, 1]) context.fillRect(0, foot - part * all, seen * column, 1);
    if (seen < tokens) hatch(context, seen * column, ABOVE, width - seen * column, all);
    if (from) hatch(context, 0, ABOVE, from * column, all);
    weights.forEach((weight, t) => {
      if (t < from) return;
      const high = Math.max(1, (weight / ceiling) * all);
      context.fillStyle = shade(magnitude, Math.sqrt(weight));
      context.fillRect(t * column + gap / 2, foot - high, Math.max(1, column - gap), high);
      if (gap) cross(context, t * column + gap / 2 + 0.5, foot - high + 0.5, column - gap - 1, high, [["muted", 1]]);
    });
  }

  /**
   * @param {number} width
   * @param {CellReading} reading
   */
  function draw(width, { selection: { layer, head, query, key }, row: { weights } }) {
    wide = width;
    const { trace } = shownIn(glass);
    const scale = width / trace.T >= NUMBERED ? SCALE : 0;
    const column = width / trace.T;
    const axis = axisOf(penOf(canvas), labelsOf(trace.tokens.pieces).map(visible), column);
    const high = barsHeight(axis.tall + BELOW);
    const foot = ABOVE + high;
    const end = foot + axis.tall + BELOW;
    const context = fit(canvas, width, end + scale);
    const from = firstKey(trace.model, query);
    const place = { column, foot, high, ceiling: ceilingOf(weights), width, from, end };
    drawBars(context, place, weights, trace.T);
    if (headOff(trace, layer, head)) drawOff(context, 0, ABOVE, weights.length * column, high, glass.text("off.word"));
    cross(context, key * column + 1, ABOVE - 1, Math.max(2, column - 2), high + 2, [["k", 3]]);
    const roleOf = (/** @type {number} */ t) => (t < from || t >= weights.length ? "muted" : "text");
    drawAxis(context, axis, { left: 0, y: foot }, roleOf);
    drawChosenName(context, axis, { left: 0, y: foot }, { t: key, role: "k" });
    drawNumbers(context, place, weights, key, text);
  }
  return { canvas, draw, find };
}

/**
 * The softmax of the scores with the numbers of the chosen key.
 *
 * @param {CellReading} reading
 * @param {import("../../types.d.ts").Model} model
 * @param {Say} text
 * @returns {HTMLElement[]}
 */
export function softmaxLines({ selection: { head, query, key }, row: { top, total }, values }, model, text) {
  const { score, weight } = values;
  const dot = (score - biasAt(model, head, query - key)) / model.parts.scale;
  const cell = { dot, score, head, query, key, top, total, weight };
  const said = cellWritten(model, cell);
  return [scoreLine(model, cell, said, text), weightLine(said, text, "")];
}
