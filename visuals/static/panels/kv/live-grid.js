// The grid of the live cache: layers × tokens. A cell holds one token's K and V rows of one layer.

import { cross, fit, hatch, ink, visible, write } from "../../draw.js";

const [LEFT, RIGHT, TOP] = [76, 4, 54];
const BELOW = 54;

/**
 * @typedef {{ layers: number, columns: number, pieces: string[], prompt: number, held: number, from: number,
 *             query: number, layer: number, head: number, weights: ArrayLike<number>|null }} Scene
 * Tokens 0 … held - 1 are in the cache; from … held - 1 were written by this step; the query reads 0 … query.
 */

/** Sizes for a width, in pixels to draw in. */
export function measure({ layers, columns }, width) {
  const row = Math.max(7, Math.min(24, Math.floor(280 / layers)));
  const column = Math.min(56, (width - LEFT - RIGHT) / columns);
  return { width, row, column, high: row * layers, height: TOP + row * layers + BELOW };
}

/** @returns {{ layer: number, token: number }|null} the cell under a point; layer 0 is at the bottom */
export function cellAt(scene, width, x, y) {
  const { row, column } = measure(scene, width);
  const [token, index] = [Math.floor((x - LEFT) / column), Math.floor((y - TOP) / row)];
  if (token < 0 || token >= scene.columns || index < 0 || index >= scene.layers) return null;
  return { layer: scene.layers - 1 - index, token };
}

/** What becomes of a token's rows in this step. @returns {"new"|"read"|"held"|"empty"} */
export function roleOf({ held, from, query }, token) {
  if (token >= held) return "empty";
  if (token >= from) return "new";
  return token <= query ? "read" : "held";
}

const STRENGTH = { new: 1, read: 0.55, held: 0.22 };

function drawCells(context, scene, { row, column }) {
  const { colour } = ink();
  const gap = column > 6 ? 1 : 0;
  const [k, v] = [colour("k"), colour("v")];
  for (let token = 0; token < scene.columns; token++) {
    const role = roleOf(scene, token);
    const [x, wide] = [LEFT + token * column, column - gap];
    for (let index = 0; index < scene.layers; index++) {
      const [y, high] = [TOP + index * row, row - (row > 8 ? 2 : 1)];
      if (role === "empty") {
        context.globalAlpha = 1;
        context.fillStyle = colour("masked");
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

/** One bar a row that is read: the weight that the selected head gives it, the largest to full height. */
function drawWeights(context, scene, { column }) {
  const { colour } = ink();
  if (!scene.weights) return;
  const most = Math.max(...scene.weights);
  context.fillStyle = colour("q");
  for (let token = 0; token < scene.weights.length; token++) {
    const high = (scene.weights[token] / most) * (TOP - 12);
    context.fillRect(LEFT + token * column, TOP - 6 - high, Math.max(1, column - 1), high);
  }
  context.fillStyle = colour("line");
  context.fillRect(LEFT, TOP - 6, column * scene.columns, 1);
}

function drawLabels(context, scene, { row, column, high }, text) {
  const { colour } = ink();
  const how = { align: "right", base: "middle", colour: colour("muted") };
  const every = Math.ceil(18 / row);
  for (let layer = 0; layer < scene.layers; layer += every) {
    write(context, text("layer", { layer }), LEFT - 8, TOP + (scene.layers - 0.5 - layer) * row, how);
  }
  const apart = Math.ceil(46 / column);
  for (let token = 0; token < scene.columns; token += apart) {
    const piece = visible(scene.pieces[token] ?? "");
    const place = LEFT + (token + 0.5) * column;
    write(context, piece, place, TOP + high + 18, { align: "center", most: apart * column - 4, colour: colour("muted") });
  }
}

/** Which columns the prefill wrote together, and which decoding added one by one. */
function drawPhases(context, scene, { column, high, width }, text) {
  const { colour } = ink();
  const y = TOP + high + 30;
  const parts = [["prefill", 0, Math.min(scene.prompt, scene.columns)], ["decode", scene.prompt, scene.columns]];
  for (const [name, from, to] of parts) {
    if (to <= from) continue;
    const [x, wide] = [LEFT + from * column, (to - from) * column - 2];
    context.fillStyle = colour(name === "prefill" ? "residual" : "output");
    context.fillRect(x, y, wide, 3);
    const room = name === "prefill" && scene.columns > scene.prompt ? wide : width - x;
    write(context, text(name, { count: to - from }), x, y + 19, { most: room - 4, colour: colour("muted") });
  }
}

/** @param {HTMLCanvasElement} canvas @param {Scene} scene @param {number} width @param {Function} text */
export function drawGrid(canvas, scene, width, text) {
  const size = measure(scene, width);
  const context = fit(canvas, width, size.height);
  drawWeights(context, scene, size);
  drawCells(context, scene, size);
  if (scene.columns > scene.held && size.column > 12) {
    const x = LEFT + scene.held * size.column;
    hatch(context, x, TOP, (scene.columns - scene.held) * size.column, size.high);
  }
  drawLabels(context, scene, size, text);
  drawPhases(context, scene, size, text);
  const y = TOP + (scene.layers - 1 - scene.layer) * size.row;
  cross(context, LEFT + scene.query * size.column, y, size.column, size.row);
}
