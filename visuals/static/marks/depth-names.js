// What stands beside a map of rows × tokens: the rows' names, and where the cells have no room for words, those of the
// selected row and column.

import { ink, textWidth, write } from "../draw.js";
import { axisOf, drawAxis, drawChosenName } from "./axis-names.js";
import { BOLD, LINE, sizeOf, strideOf } from "./cell-names.js";

const LABEL = 14; // height of a row's name
const TOP = 9; // px from the canvas' edge to the middle of the highest name
const [LEFT, AROUND, LEAST] = [112, 16, 11]; // px of the rows' names at most, around them, and of their least letters
const [WIDEST, GAP, BESIDE] = [96, 6, 12]; // px of a word beside a row at most, from the map to it, and of its letters

/**
 * @typedef {{ wide: number; above: import("./axis-names.js").Axis }} Beside px that the words beside the rows take,
 *   and how those above the columns stand
 */

/**
 * How wide the rows' names are, up to what there is for them.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {string[]} names
 * @param {number} [most]
 */
export const leftOf = (context, names, most = LEFT) =>
  Math.min(most, Math.ceil(BOLD * Math.max(...names.map((name) => textWidth(context, name)))) + AROUND);

/**
 * The rows that are named, for their height in pixels to draw in: all, or row 0 and some from `first` on.
 *
 * @param {number} rows how many
 * @param {number} cell height of each
 * @param {number} [first]
 * @returns {number[]}
 */
export function namedRows(rows, cell, first = 0) {
  const all = Array.from({ length: rows }, (_, row) => row);
  if (cell >= LABEL) return all;
  const every = 2 * Math.ceil(LABEL / (2 * cell));
  return all.filter((row) => row === 0 || (row * cell >= LABEL && row >= first && (row - first) % every === 0));
}

/**
 * Names, in any order, with the heights to draw at, from the lowest up: the highest is kept inside the canvas, and
 * one that it would touch then is left out.
 *
 * @param {[string, number][]} named names, and how many rows above the lowest they stand
 * @param {number} rows
 * @param {number} cell height of each
 * @param {number} [top] where the highest row begins
 * @returns {[string, number][]}
 */
export const placedNames = (named, rows, cell, top = 2) =>
  [...named]
    .sort(([, a], [, b]) => a - b)
    .map(([words, high]) => /** @type {[string, number]} */ ([words, Math.max(top + (rows - high) * cell, TOP)]))
    .filter(([, y], i, all) => i + 1 === all.length || y - all[i + 1][1] >= LABEL);

/**
 * The rows' names, with the heights to draw at.
 *
 * @template Of
 * @param {{ rows: number; cell: number; top: number }} size
 * @param {{
 *   name: (row: number, run: Of) => string;
 *   short?: (row: number, run: Of) => string;
 *   first?: number;
 *   names?: (rows: number, cell: number, run: Of) => [string, number][];
 * }} what
 *   as in depth.js
 * @param {Of} run
 */
export function rowsNamed({ rows, cell, top }, { name, short = name, first, names }, run) {
  /** @param {number} row */
  const nameAt = (row) => /** @type {[string, number]} */ ([short(row, run), row + 0.5]);
  return placedNames(names?.(rows, cell, run) ?? namedRows(rows, cell, first).map(nameAt), rows, cell, top);
}

/**
 * The rows' names, at the left.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {[string, number][]} named
 * @param {number} left
 */
export function drawRows(context, named, left) {
  /** @type {Parameters<typeof write>[4]} */
  const how = { align: "right", base: "middle", colour: ink().colour("muted"), most: left - 12 };
  for (const [words, y] of named) write(context, words, left - 8, y, how);
}

/**
 * The name of the selected row, over those that it would touch; in smaller letters where it is long.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {[string, number][]} named
 * @param {{ left: number; y: number }} place `y`: of the row's middle
 * @param {string} name
 */
export function drawChosenRow(context, named, { left, y }, name) {
  const at = Math.max(y, TOP);
  context.fillStyle = ink().colour("card");
  for (const [, near] of [...named, /** @type {[string, number]} */ ([name, at])])
    if (Math.abs(near - at) < LABEL) context.fillRect(0, near - 9, left - 3, 18);
  const room = left - 10;
  const size = Math.max(LEAST, Math.min(LINE, Math.floor((LINE * room) / (BOLD * textWidth(context, name)))));
  write(context, name, left - 8, at, { align: "right", base: "middle", weight: 600, size, most: room });
}

/**
 * The room of the words of any row and column, beside the map.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {(row: number, token: number) => string} word
 * @param {{ rows: number; tokens: number; cell: number; room: number }} size `room`: px for the map and them
 * @returns {Beside}
 */
export function besideOf(context, word, { rows, tokens, cell, room }) {
  const words = Array.from({ length: rows * tokens }, (_, i) => word(Math.floor(i / tokens), i % tokens));
  const long = words.reduce((most, one) => Math.max(most, textWidth(context, one)), 0);
  const wide = Math.min(WIDEST, Math.ceil((BOLD * long * Math.min(BESIDE, sizeOf(cell))) / LINE)) + GAP;
  return { wide, above: axisOf(context, words, (room - wide) / tokens) };
}

/**
 * The words of the selected row above the map, and of the selected column at its right.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {{ left: number; top: number; rows: number; tokens: number; cell: number; column: number }} size
 * @param {Beside} beside
 * @param {{ row: number; token: number; word: (row: number, token: number) => string }} chosen
 */
export function drawBeside(context, { left, top, rows, tokens, cell, column }, { wide, above }, { row, token, word }) {
  const [stride, size] = [strideOf(cell), Math.min(BESIDE, sizeOf(cell))];
  const x = left + tokens * column + GAP;
  for (let at = 0; at < rows; at++) {
    const chosen = at === row;
    if (!chosen && (at % stride || Math.abs(at - row) * cell < size)) continue;
    /** @type {Parameters<typeof write>[4]} */
    const how = { base: "middle", size, most: wide - GAP, weight: chosen ? 600 : 400 };
    write(context, word(at, token), x, top + (rows - at - 0.5) * cell, how);
  }
  if (row < 0) return;
  const axis = { ...above, names: Array.from({ length: tokens }, (_, t) => word(row, t)) };
  drawAxis(context, axis, { left, y: top, above: true }, () => "text");
  drawChosenName(context, axis, { left, y: top, above: true }, { t: token, role: "text" });
}
