// The grid of the live cache: layers × tokens. A cell holds one token's K and V rows of one layer.

import { largest } from "../../arrays.js";
import { cross, fit, hatch, ink, penOf, roomToDraw, textWidth, visible, write } from "../../draw.js";
import { writeUpright } from "../../marks/upright.js";
import { roleOf } from "../../readings/kv.js";

const [LEFT, RIGHT, TOP, BARE] = [76, 4, 54, 8]; // TOP has room for the weights' bars, BARE is without
const BELOW = 36; // under the tokens' names
const [LINE, LONGEST] = [18, 96]; // px: a line of them, and the longest one that is turned
const WIDEST = 80; // a column
const NOTE = 26; // px of the line above it, where the room is low
const [LOW, LOWEST] = [7, 4]; // a row; where a taller picture would be shown smaller, letters and all
const NAMES = 0.3; // of the height that there is, the tokens' names at most

/**
 * @typedef {{
 *   layers: number;
 *   columns: number;
 *   pieces: string[];
 *   prompt: number;
 *   held: number;
 *   from: number;
 *   query: number;
 *   layer: number;
 *   head: number;
 *   weights: ArrayLike<number> | null;
 *   covered: boolean;
 *   bare: boolean;
 * }} Scene
 *   `covered`: what a cell holds is not told yet; `bare`: without the weights of a head, and what is selected. Tokens
 *   0 … held - 1 are in the cache; from … held - 1 were written by this step; the query reads 0 … query.
 *
 * @typedef {ReturnType<typeof measure>} Size
 *
 * @typedef {import("../../types.d.ts").Say} Say
 */

/**
 * How the tokens' names stand under their columns: in a line where each fits, else turned, one a column as long as
 * that is wide enough.
 *
 * @param {number[]} widths of the names
 * @param {number} column the width of one
 * @param {number} [room] the height that there is for the whole picture
 * @returns {{ turned: boolean; apart: number; high: number; most: number }} every how many columns one stands, the
 *   height of all, and how long one may be
 */
export function labelsOf(widths, column, room = Infinity) {
  const [longest, most] = [Math.max(...widths, 0), Math.min(LONGEST, Math.floor(NAMES * room))];
  if (longest <= column - 4) return { turned: false, apart: 1, high: LINE, most };
  return { turned: true, apart: Math.ceil((LINE - 2) / column), high: Math.min(most, longest) + 4, most };
}

/**
 * Sizes for a width, in pixels to draw in.
 *
 * @param {{ layers: number; columns: number; bare?: boolean }} scene
 * @param {number} width
 * @param {number} [names] the height of the tokens' names
 * @param {number} [room] as in `labelsOf`
 */
export function measure({ layers, columns, bare = false }, width, names = LINE, room = Infinity) {
  const [top, below] = bare ? [BARE, BARE] : [TOP, BELOW];
  const fitting = Math.min(280, room - top - names - below);
  const row = Math.max(room < Infinity ? LOWEST : LOW, Math.min(24, Math.floor(fitting / layers)));
  const column = Math.min(WIDEST, (width - LEFT - RIGHT) / columns);
  return { width, row, column, top, high: row * layers, height: top + row * layers + names + below };
}

/**
 * The cell under a point; layer 0 is at the bottom.
 *
 * @param {{ layers: number; columns: number }} scene
 * @param {{ row: number; column: number; top: number }} size of `measure`
 * @param {number} x
 * @param {number} y
 * @returns {{ layer: number; token: number } | null}
 */
export function cellAt(scene, { row, column, top }, x, y) {
  const [token, index] = [Math.floor((x - LEFT) / column), Math.floor((y - top) / row)];
  if (token < 0 || token >= scene.columns || index < 0 || index >= scene.layers) return null;
  return { layer: scene.layers - 1 - index, token };
}

const STRENGTH = { new: 1, read: 0.55, held: 0.22 };

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {Size} size
 */
function drawCells(context, scene, { row, column, top }) {
  const { colour } = ink();
  const gap = column > 6 ? 1 : 0;
  const [k, v] = [colour("k"), colour("v")];
  for (let token = 0; token < scene.columns; token++) {
    const role = scene.covered ? "empty" : roleOf(scene, token);
    const [x, wide] = [LEFT + token * column, column - gap];
    for (let index = 0; index < scene.layers; index++) {
      const [y, high] = [top + index * row, row - (row > 8 ? 2 : 1)];
      if (role === "empty") {
        context.globalAlpha = 1;
        context.fillStyle = colour(scene.covered ? "line" : "masked");
        context.fillRect(x, y, wide, high);
        continue;
      }
      context.globalAlpha = STRENGTH[role];
      context.fillStyle = k;
      context.fillRect(x, y, wide, high / 2);
      context.fillStyle = v;
      context.fillRect(x, y + high / 2, wide, high / 2);
    }
  }
  context.globalAlpha = 1;
}

/**
 * One bar a row that is read: the weight that the selected head gives it, the largest to full height.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {Size} size
 */
function drawWeights(context, { weights, columns }, { column }) {
  const { colour } = ink();
  if (!weights) return;
  const most = largest(weights);
  context.fillStyle = colour("q");
  for (let token = 0; token < weights.length; token++) {
    const high = (weights[token] / most) * (TOP - 12);
    context.fillRect(LEFT + token * column, TOP - 6 - high, Math.max(1, column - 1), high);
  }
  context.fillStyle = colour("line");
  context.fillRect(LEFT, TOP - 6, column * columns, 1);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {Size} size
 * @param {ReturnType<typeof labelsOf>} names
 * @param {Say} text
 */
function drawLabels(context, scene, { row, column, top, high }, { turned, apart, most }, text) {
  const { colour } = ink();
  /** @type {{ align: CanvasTextAlign; base: CanvasTextBaseline; colour: string }} */
  const how = { align: "right", base: "middle", colour: colour("muted") };
  const every = Math.ceil(18 / row);
  for (let layer = 0; layer < scene.layers; layer += every) {
    write(context, text("layer", { layer }), LEFT - 8, top + (scene.layers - 0.5 - layer) * row, how);
  }
  write(context, text("layers_up"), LEFT - 8, top + high + LINE, how);
  for (let token = 0; token < scene.columns; token += apart) {
    const place = LEFT + (token + 0.5) * column;
    context.save();
    context.translate(place, top + high + (turned ? 8 : LINE));
    const name = nameOf(scene, token);
    if (turned) {
      context.rotate(-Math.PI / 2);
      writeUpright(context, name, { align: "right", most, colour: colour("muted") });
    } else write(context, name, 0, 0, { align: "center", colour: colour("muted") });
    context.restore();
  }
}

/**
 * Which columns the prefill wrote together, and which decoding added one by one.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {Size} size
 * @param {Say} text
 */
function drawPhases(context, scene, { column, width, height }, text) {
  const { colour } = ink();
  const y = height - 24;
  /** @type {[string, number, number][]} */
  const parts = [
    ["prefill", 0, Math.min(scene.prompt, scene.columns)],
    ["decode", scene.prompt, scene.columns],
  ];
  for (const [name, from, to] of parts) {
    if (to <= from) continue;
    const [x, wide] = [LEFT + from * column, (to - from) * column - 2];
    context.fillStyle = colour(name === "prefill" ? "residual" : "output");
    context.fillRect(x, y, wide, 3);
    const room = name === "prefill" && scene.columns > scene.prompt ? wide : width - x;
    write(context, text(name, { count: to - from }), x, y + 19, { most: room - 4, colour: colour("muted") });
  }
}

/**
 * @param {Scene} scene
 * @param {number} token
 */
const nameOf = ({ pieces }, token) => visible(pieces[token] ?? "");

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Scene} scene
 * @param {number} width
 * @param {Say} text
 * @returns {Size}
 */
export function drawGrid(canvas, scene, width, text) {
  const widths = scene.pieces.map((_, token) => textWidth(penOf(canvas), nameOf(scene, token)));
  const room = roomToDraw() - NOTE;
  const names = labelsOf(widths, measure(scene, width).column, room);
  const size = measure(scene, width, names.high, room);
  const context = fit(canvas, width, size.height);
  if (!scene.bare) drawWeights(context, scene, size);
  drawCells(context, scene, size);
  if (scene.columns > scene.held && size.column > 12) {
    const x = LEFT + scene.held * size.column;
    hatch(context, x, size.top, (scene.columns - scene.held) * size.column, size.high);
  }
  drawLabels(context, scene, size, names, text);
  if (!scene.bare) drawPhases(context, scene, size, text);
  const y = size.top + (scene.layers - 1 - scene.layer) * size.row;
  if (!scene.bare) cross(context, LEFT + scene.query * size.column, y, size.column, size.row);
  return size;
}
