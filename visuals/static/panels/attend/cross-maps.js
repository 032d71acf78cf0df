// The maps of cross-attention, one a head: rows are the decoder's tokens, columns the source's, with their words. None
// is hatched: nothing is masked. Of two runs they show the changes, all to one scale.

import { largest, subtract } from "../../arrays.js";
import { labelsOf } from "../../characters.js";
import { crossRow } from "../../compute.js";
import { h } from "../../dom.js";
import { cells, cross, cut, enlarge, ink, scaleBar, visible, write } from "../../draw.js";
import { drawChosenAt, drawSide } from "../../marks/cell-names.js";
import { boxAt } from "../../marks/head-grid.js";
import { newest } from "../../marks/runs.js";
import { signedScale, WEIGHTS } from "../../marks/scales.js";
import { createSurface } from "../../marks/surface.js";
import { crossOff, drawOff } from "../../off.js";
import { along, bindPointer, bindArrowKeys, upright } from "../../pointing.js";
import { memo, reactive } from "../../reads.js";
import { crossTrace, keepSource } from "./cross-choice.js";

// px over a map for its head's number, between maps, for the scale, for the tokens under the chosen map
const [NAME, GAP, LEGEND, NAMES] = [24, 16, 40, 70];
const [LEAST, MOST] = [2, 26]; // px of a cell
const TALL = 12; // rows from which a cell is as low as it can be read
const WIDEST = 460; // px of a map
const SIDE = 10; // px at either side of all of them, for the frame of the chosen one and what a pointer needs
const WORD = 14; // px of a column that has its word
const ABOVE = 76; // px above a map for the words of its columns
const [BESIDE, MARK] = [88, 12]; // px beside a line of maps for the words of its rows; of those between word and row

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../readings/cross.js").CrossLayer} CrossLayer
 *
 * @typedef {import("../../readings/cross.js").CrossTrace} CrossTrace
 *
 * @typedef {{ trace: CrossTrace; held: CrossLayer }} CrossRun
 */

/**
 * Where the maps stand.
 *
 * @param {number} width
 * @param {number} heads
 * @param {number} written tokens of the decoder
 * @param {number} read tokens of the source
 * @returns {{
 *   boxes: { head: number; x: number; y: number; leads: boolean }[];
 *   cell: { width: number; height: number };
 *   size: { width: number; height: number };
 *   perLine: number;
 *   height: number;
 * }}
 *   `leads` of a box: whether it is the first of its line, whose rows have words
 */
export function layoutCross(width, heads, written, read) {
  const room = width - 2 * SIDE - BESIDE;
  const fit = Math.floor((room + GAP) / (Math.min(WIDEST, Math.max(120, read * WORD)) + GAP));
  const perLine = Math.ceil(heads / Math.ceil(heads / Math.max(1, Math.min(heads, fit)))); // as many in each line
  const most = Math.min(WIDEST, (room - GAP * (perLine - 1)) / perLine);
  const cell = {
    width: Math.min(MOST, most / read),
    height: Math.max(LEAST, Math.min(MOST, written > TALL ? 300 / written : 24)),
  };
  const size = { width: cell.width * read, height: cell.height * written };
  const line = NAME + ABOVE + size.height + GAP;
  const boxes = Array.from({ length: heads }, (_, head) => ({
    head,
    x: SIDE + BESIDE + (head % perLine) * (most + GAP),
    y: NAME + ABOVE + Math.floor(head / perLine) * line,
    leads: head % perLine === 0,
  }));
  return { boxes, cell, size, perLine, height: Math.ceil(heads / perLine) * line };
}

/**
 * Every weight of a head in one run, row by row.
 *
 * @param {CrossRun} run
 * @param {number} head
 * @returns {Float64Array}
 */
function weightsOf({ held, trace }, head) {
  const { model, T, encoder } = trace;
  const values = new Float64Array(T * encoder.T);
  for (let query = 0; query < T; query++) values.set(crossRow(held, model, head, query).weights, query * encoder.T);
  return values;
}

/**
 * What is drawn of each head: its weights, or what the second run has more, and the largest of those.
 *
 * @param {CrossRun[]} runs one, or A and B, with sources of as many tokens
 */
function measure(runs) {
  const all = Array.from({ length: runs[0].trace.model.n_heads }, (_, head) => runs.map((run) => weightsOf(run, head)));
  const values = all.map(([first, second]) => (second ? subtract(second, first) : first));
  return { runs, all, values, limit: Math.max(...values.map(largest)) };
}

/**
 * @typedef {ReturnType<typeof measure>} Measured
 *
 * @typedef {ReturnType<typeof layoutCross>} Layout
 */

/**
 * The words at a box: of the source above its columns, and beside its rows what is written.
 *
 * @param {CrossTrace} trace
 * @param {Layout} layout
 * @param {Layout["boxes"][number]} box
 */
function sidesOf({ tokens, encoder }, { cell, size }, { x, y, leads }) {
  return {
    place: { x, y, size: size.width },
    columns: { pieces: labelsOf(encoder.tokens.pieces), step: cell.width, above: true, room: ABOVE },
    rows: leads && { pieces: labelsOf(tokens.pieces), step: cell.height, above: false, room: BESIDE - MARK },
  };
}

/**
 * The maps, their words and their scale.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Measured} made
 * @param {Layout} layout
 * @param {number} width
 * @param {Glass} glass
 */
function drawGround(context, { runs, values, limit }, layout, width, { text }) {
  const { size, height } = layout;
  const { trace } = newest(runs);
  const { T, encoder } = trace;
  const scale = runs.length === 1 ? WEIGHTS : signedScale(limit || 1);
  const colours = ink()[scale.table];
  for (const box of layout.boxes) {
    const { head, x, y } = box;
    const { place, columns, rows } = sidesOf(trace, layout, box);
    drawSide(context, place, columns);
    if (rows) drawSide(context, place, rows);
    write(context, text("cross.head", { head }), x, y - ABOVE - 6);
    const drawn = cells(Float32Array.from(values[head]), encoder.T, T, colours, scale.place);
    enlarge(context, drawn, x, y, size.width, size.height);
    if (runs.some((run) => crossOff(run.trace, run.held.index, head)))
      drawOff(context, x, y, size.width, size.height, text("off.word"));
  }
  scaleBar(context, SIDE, height + NAMES + 4, Math.min(260, width - 2 * SIDE - 16), colours, scale.ticks);
}

/**
 * The query's row in every map, the source's column, their words, the chosen head, and what the colours mean.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Layout} layout
 * @param {Glass} glass
 * @param {number} source
 * @param {string} scale the key of what the colours are
 */
function mark(context, layout, glass, source, scale) {
  const { cell, size, height } = layout;
  const { head: chosen, query } = glass.state;
  const { text } = glass;
  const trace = crossTrace(glass);
  const { colour } = ink();
  for (const box of layout.boxes) {
    const { head, x, y } = box;
    const { place, columns, rows } = sidesOf(trace, layout, box);
    drawChosenAt(context, place, columns, { t: source, role: "k" });
    if (rows) drawChosenAt(context, place, rows, { t: query, role: "q" });
    cross(context, x - 0.5, y + query * cell.height, size.width + 1, cell.height, [["q", 1.5]]);
    cross(context, x + source * cell.width, y - 0.5, cell.width, size.height + 1, [["k", 1.5]]);
    if (head === chosen) cross(context, x - 2.5, y - 2.5, size.width + 5, size.height + 5, [["accent", 3]]);
  }
  /** @type {(tokens: CrossTrace["tokens"], t: number) => string} */
  const piece = (tokens, t) => cut(context, visible(labelsOf(tokens.pieces)[t]), 160);
  const told = [
    ["q", text("cross.row_of", { piece: piece(trace.tokens, query) })],
    ["k", text("cross.column_of", { piece: piece(trace.encoder.tokens, source) })],
    ["muted", text(`cross.${scale}`)],
  ];
  told.forEach(([hue, words], i) =>
    write(context, words, 10, height + 14 + 22 * i, {
      colour: colour(hue),
      most: context.canvas.clientWidth - 12,
    }),
  );
}

/**
 * Cell by cell, of two runs: layer, head, query, source token, and the weight in each.
 *
 * @param {Measured} made
 */
function rowsOf({ all, values, runs: [{ trace, held }] }) {
  const read = trace.encoder.T;
  return all.flatMap(([first, second], head) =>
    Array.from(first, (a, i) => [held.index, head, Math.floor(i / read), i % read, a, second[i], values[head][i]]),
  );
}

/**
 * @param {Layout | null} layout null before anything is drawn
 * @param {number} x
 * @param {number} y
 */
function cellAt(layout, x, y) {
  if (!layout) return null;
  const { boxes, size, cell } = layout;
  const box = boxAt(boxes, size.width, size.height, x, y);
  return box
    ? { head: box.head, query: Math.floor((y - box.y) / cell.height), source: Math.floor((x - box.x) / cell.width) }
    : null;
}

/**
 * @param {Glass} glass
 * @param {string} label the key of its name
 */
export function createCrossMaps(glass, label) {
  const canvas = h("canvas.gp-canvas", { "data-text-label": label });
  const surface = createSurface(canvas);
  /** @type {{ source: number | null }} under the pointer */
  const view = reactive({ source: null });
  let shown = 0;
  /** @type {Layout | null} null until it is drawn, as `made` */
  let layout = null;
  /** @type {Measured | null} */
  let made = null;
  const make = memo((/** @type {CrossRun[]} */ ...runs) => {
    made = measure(runs);
  });

  canvas.addEventListener("pointerleave", () => {
    view.source = null;
  });
  canvas.addEventListener("click", () => view.source !== null && keepSource(glass, view.source));
  bindPointer(canvas, glass, (x, y) => {
    const under = cellAt(layout, x, y);
    view.source = under?.source ?? null;
    return under && { head: under.head, query: under.query };
  });
  bindArrowKeys(canvas, glass, {
    ...along(
      () => crossTrace(glass).encoder.T,
      () => shown,
      (source) => (keepSource(glass, source), {}),
    ),
    ...upright("query", -1),
  });

  /**
   * @param {Pick<import("../../difference/face.js").LayerRun, "trace" | "held">[]} given one, or A and B, with
   *   sources of as many tokens
   * @param {number} width
   * @param {number} source that is chosen
   */
  function draw(given, width, source) {
    const runs = /** @type {CrossRun[]} */ (given); // the panel is of networks whose layers look at a source
    const { model, T, encoder } = newest(runs).trace;
    shown = source;
    const placed = (layout = layoutCross(width, model.n_heads, T, encoder.T));
    make(...runs);
    const measured = made;
    if (!measured) return;
    surface(
      [measured],
      width,
      placed.height + NAMES + LEGEND,
      (context) => drawGround(context, measured, placed, width, glass),
      (context) => mark(context, placed, glass, source, runs.length === 1 ? "scale" : "change"),
    );
  }
  const same = () => made?.limit === 0;
  return { element: canvas, draw, same, rows: () => (made ? rowsOf(made) : []), pointed: () => view.source };
}
