// A map of rows (places in the network, the first below) × tokens: colours, labels, scale, and what is under a point.

import { watcher } from "./dom.js";
import { cells, cross, enlarge, fit, ink, inkOn, scaleBar, visible, write } from "./draw.js";

const [RIGHT, TOP] = [8, 2];
const BELOW = 92; // token labels, axis title and scale
const LINE = 22; // a second line of token labels
const LABEL = 14; // height of a row's name
const ROOM_FOR_TEXT = 34; // narrower columns show their colour alone

/**
 * @typedef {{ rows: number, values: ArrayLike<number>, place: (value: number) => number, table: "magnitude"|"signed",
 *             label: (row: number) => string, ticks: [number, string][], axis: string, scale: string,
 *             word?: (row: number, token: number) => string, left?: number, first?: number, second?: string[]|null }} Scene
 * `values` rows × T, row 0 at the bottom; `place` puts one in 0…1 of the colour table; `word` writes into the cells.
 * `first`: the row of layer 0's first sub-layer, 0 unless told. Where not every row has room for its name, rows are named
 * from there on, an even number apart: then maps of two rows a layer all name the attention.
 * `second`: names for a second line below the tokens' own, "" where there is none; null for no such line.
 */

/** Sizes for a width, in pixels to draw in. */
function measure({ rows, word, left = 112, second }, tokens, width) {
  const column = (width - left - RIGHT) / tokens;
  const written = Boolean(word) && column >= ROOM_FOR_TEXT;
  const cell = written ? 22 : Math.max(6, Math.min(16, Math.floor(320 / rows)));
  return { width, left, rows, cell, column, high: cell * rows, written, lines: second ? LINE : 0 };
}

/** The rows that are named, for their height in pixels to draw in: all, or row 0 and some from `first` on. @returns {number[]} */
export function namedRows(rows, cell, first = 0) {
  const all = Array.from({ length: rows }, (_, row) => row);
  if (cell >= LABEL) return all;
  const every = 2 * Math.ceil(LABEL / (2 * cell));
  return all.filter((row) => row === 0 || (row * cell >= LABEL && row >= first && (row - first) % every === 0));
}

function drawRowLabels(context, { cell, rows, left }, { label, first }) {
  const how = { align: "right", base: "middle", colour: ink().colour("muted"), most: left - 12 };
  for (const row of namedRows(rows, cell, first)) {
    const y = TOP + (rows - row - 0.5) * cell;
    write(context, label(row), left - 8, Math.max(y, 9), how);
  }
}

function drawTokenLabels(context, { column, high, left, lines }, pieces, axis, second) {
  const colour = ink().colour("muted");
  const apart = Math.ceil(46 / column);
  for (let t = 0; t < pieces.length; t += apart) {
    const how = { align: "center", most: apart * column - 6, colour };
    write(context, visible(pieces[t]), left + (t + 0.5) * column, high + 20, how);
    if (second) write(context, visible(second[t]), left + (t + 0.5) * column, high + 20 + LINE, how);
  }
  write(context, axis, left, high + lines + 44, { colour });
}

function drawWords(context, { column, cell, rows, left }, { values, place, table, word }, tokens) {
  const colours = ink()[table];
  for (let row = 0; row < rows; row++) {
    for (let t = 0; t < tokens; t++) {
      const colour = inkOn(colours, place(values[row * tokens + t]));
      const y = TOP + (rows - row - 0.5) * cell;
      write(context, word(row, t), left + (t + 0.5) * column, y, { align: "center", base: "middle", colour, most: column - 6 });
    }
  }
}

function drawScale(context, size, { table, ticks, scale }) {
  const bar = Math.min(320, size.width - size.left - 24);
  const left = size.width - RIGHT - bar;
  scaleBar(context, left, size.high + size.lines + 52, bar, ink()[table], ticks);
  write(context, scale, left - 8, size.high + size.lines + 62, { align: "right", colour: ink().colour("muted"), most: left - 16 });
}

/** The values upside down, as cells are drawn from the top. */
function flipped(values, rows, tokens) {
  return Float64Array.from({ length: rows * tokens }, (_, i) => values[(rows - 1 - Math.floor(i / tokens)) * tokens + (i % tokens)]);
}

/** @param {HTMLCanvasElement} canvas */
export function createDepthMap(canvas) {
  const picture = document.createElement("canvas");
  const anew = watcher();
  let size = null;

  function drawScene(scene, pieces, width) {
    const tokens = pieces.length;
    const context = fit(picture, width, size.high + size.lines + BELOW);
    const image = cells(flipped(scene.values, scene.rows, tokens), tokens, scene.rows, ink()[scene.table], scene.place);
    enlarge(context, image, size.left, TOP, tokens * size.column, size.high);
    if (size.written) drawWords(context, size, scene, tokens);
    drawRowLabels(context, size, scene);
    drawTokenLabels(context, size, pieces, scene.axis, scene.second);
    drawScale(context, size, scene);
  }

  /**
   * The map is drawn once for each key; a hover moves the frame around one cell.
   * @param {any[]} key what the scene depends on @param {() => Scene} make @param {{ row: number, token: number }} selected
   */
  function draw(key, make, pieces, width, selected) {
    if (anew(width, ...key)) {
      const scene = make();
      size = measure(scene, pieces.length, width);
      drawScene(scene, pieces, width);
    }
    const context = fit(canvas, width, size.high + size.lines + BELOW);
    context.drawImage(picture, 0, 0, width, size.high + size.lines + BELOW);
    const y = TOP + (size.rows - 1 - selected.row) * size.cell;
    cross(context, size.left + selected.token * size.column, y, size.column, size.cell);
  }

  /** @returns {{ row: number, token: number }|null} what is under a point */
  function find(x, y, tokens) {
    if (!size) return null;
    const [token, down] = [Math.floor((x - size.left) / size.column), Math.floor((y - TOP) / size.cell)];
    if (token < 0 || token >= tokens || down < 0 || down >= size.rows) return null;
    return { token, row: size.rows - 1 - down };
  }
  return { draw, find };
}

