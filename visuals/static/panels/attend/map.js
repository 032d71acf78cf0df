// One map on a canvas: cells, the masked half hatched, marks at the query's row and the key's column, and a scale.

import { shown, watcher } from "../../dom.js";
import { cells, centred, enlarge, fit, hatch, ink, pixelRatio, scaleBar, write } from "../../draw.js";
import { drawOff } from "../../off.js";

const [LEFT, BELOW, MOST] = [10, 56, 420];
const SHARES = [0, 0.01, 0.1, 0.25, 0.5, 1];

/** How a view is coloured: which table, where a value stands on it, and the ticks of its scale. */
function scaleOf(view, limit) {
  const { magnitude, signed } = ink();
  if (view === "weights") {
    return { table: magnitude, place: Math.sqrt, ticks: SHARES.map((weight) => [Math.sqrt(weight), String(weight)]) };
  }
  const most = limit || 1;
  if (view === "weighted") {
    const ticks = [0, 0.1, 0.4, 1].map((part) => [Math.sqrt(part), part ? shown(part * most, 3) : "0"]);
    return { table: magnitude, place: (value) => Math.sqrt(value / most), ticks };
  }
  const ticks = [-1, 0, 1].map((part) => [(part + 1) / 2, part ? `${part < 0 ? "−" : "+"}${shown(most, 3)}` : "0"]);
  return { table: signed, place: (value) => centred(value, most), ticks };
}

/** The side of the map in a width. */
const sizeFor = (width) => Math.min(width - LEFT - 2, MOST);

/** How many tokens a dot of the map stands for, in each direction. */
export const blockFor = (tokens, size) => Math.max(1, Math.ceil(tokens / (size * pixelRatio())));

/** @param {HTMLCanvasElement} canvas @param {object} glass */
export function createMap(canvas, glass) {
  const scene = document.createElement("canvas");
  const anew = watcher();
  let size = 0;

  function marks(context, { query, key, trace }) {
    const cell = size / trace.T;
    const { colour } = ink();
    const corner = (name, points) => {
      context.fillStyle = colour(name);
      context.beginPath();
      points.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
      context.fill();
    };
    const [x, y] = [LEFT + (key + 0.5) * cell, (query + 0.5) * cell];
    corner("q", [
      [LEFT - 1, y],
      [LEFT - 9, y - 6],
      [LEFT - 9, y + 6],
    ]);
    corner("k", [
      [x, size + 1],
      [x - 6, size + 9],
      [x + 6, size + 9],
    ]);
    for (const [name, out] of [
      ["cross-edge", 1.5],
      ["cross", 0.5],
    ]) {
      context.strokeStyle = colour(name);
      context.lineWidth = 1;
      context.strokeRect(LEFT - out, query * cell - out, (query + 1) * cell + 2 * out, cell + 2 * out);
      context.strokeRect(LEFT + key * cell - out, query * cell - out, cell + 2 * out, cell + 2 * out);
    }
  }

  /** Everything but the marks: a hover repaints none of it. */
  function drawScene(context, matrix, view, off) {
    const { colour } = ink();
    if (!matrix) {
      context.fillStyle = colour("raised");
      context.fillRect(LEFT, 0, size, size);
      const how = { align: "center", colour: colour("muted"), most: size };
      write(context, glass.text("cell.coming"), LEFT + size / 2, size / 2, how);
      return;
    }
    const { table, place, ticks } = scaleOf(view, matrix.limit);
    hatch(context, LEFT, 0, size, size);
    context.save();
    context.beginPath();
    context.rect(LEFT, 0, size, size);
    context.clip();
    const covered = (matrix.side * matrix.block * size) / glass.state.trace.T; // the last dots may reach past the text
    enlarge(context, cells(matrix.values, matrix.side, matrix.side, table, place), LEFT, 0, covered, covered);
    context.restore();
    if (off) drawOff(context, LEFT, 0, size, size, glass.text("off.word"));
    scaleBar(context, LEFT, size + 18, size - 1, table, ticks);
  }

  /** @param {{ side: number, block: number, values: Float32Array, limit: number }|null} matrix null: not there yet @param {boolean} off of a head that is switched off */
  function draw(width, matrix, view, off = false) {
    const { theme, language } = glass.state;
    size = sizeFor(width);
    const [wide, high] = [size + LEFT + 2, size + BELOW];
    if (anew(matrix, view, off, theme, language, size, pixelRatio())) drawScene(fit(scene, wide, high), matrix, view, off);
    const context = fit(canvas, wide, high);
    context.drawImage(scene, 0, 0, wide, high);
    marks(context, glass.state);
  }

  /** @returns {{ query: number, key: number }|null} a masked cell gives its query's row */
  function find(x, y) {
    const { T } = glass.state.trace;
    const [key, query] = [x - LEFT, y].map((v) => Math.floor((v / size) * T));
    if (query < 0 || query >= T || key < 0 || key >= T) return null;
    return { query, key: Math.min(key, query) };
  }
  return { draw, find, size: sizeFor };
}
