// The map of a layer's strongest neurons, neurons × tokens: signed products, or which gates are open.

import { silu } from "../../compute.js";
import { shown } from "../../dom.js";
import { cells, centred, cross, enlarge, fit, ink, scaleBar, visible, write } from "../../draw.js";
import { drawOff } from "../../off.js";

const [LEFT, RIGHT, TOP, BELOW] = [64, 8, 4, 62];
const CELL = 11;

/** @typedef {{ neurons: number[], gate: { data: Float32Array }, up: { data: Float32Array } }} Answer  (K, T) each */

/** SiLU(gate)·up of every cell. @param {Answer} answer @returns {Float64Array} */
export const productsOf = ({ gate, up }) => Float64Array.from(gate.data, (g, i) => silu(g) * up.data[i]);

/** The map's rows that nothing uses, as [first, count]. @param {number[]} neurons by row @param {number[]|null} off null: all of the layer */
export const unusedRows = (neurons, off) =>
  off === null ? [[0, neurons.length]] : neurons.flatMap((neuron, row) => (off.includes(neuron) ? [[row, 1]] : []));

/** @param {HTMLCanvasElement} canvas @param {Function} text */
export function createMap(canvas, text) {
  const scene = document.createElement("canvas");
  let size = { width: 0, high: 0, column: 1, rows: 0, tokens: 0 };

  /** @param {{ trace: object, open: boolean, off: number[]|null, word: string }} how `off`: as in unusedRows, and its word */
  function prepare(width, answer, values, { trace, open, off, word }) {
    const rows = answer.neurons.length;
    size = { width, rows, tokens: trace.T, high: rows * CELL, column: (width - LEFT - RIGHT) / trace.T };
    const context = fit(scene, width, TOP + size.high + BELOW);
    const { colour, signed, magnitude } = ink();
    const limit = values.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
    const image = open
      ? cells(answer.gate.data, trace.T, rows, magnitude, (gate) => (gate > 0 ? 1 : 0))
      : cells(values, trace.T, rows, signed, (value) => centred(value, limit));
    enlarge(context, image, LEFT, TOP, size.column * trace.T, size.high);
    for (const [row, count] of unusedRows(answer.neurons, off)) drawOff(context, LEFT, TOP + row * CELL, size.column * trace.T, count * CELL, word);
    const muted = colour("muted");
    for (let i = 0; i < rows; i += 2)
      write(context, String(answer.neurons[i]), LEFT - 6, TOP + (i + 0.5) * CELL, {
        align: "right",
        base: "middle",
        colour: muted,
      });
    const every = Math.ceil(46 / size.column);
    for (let t = 0; t < trace.T; t += every) {
      write(context, visible(trace.tokens.pieces[t]), LEFT + (t + 0.5) * size.column, TOP + size.high + 18, {
        align: "center",
        colour: muted,
        most: every * size.column - 6,
      });
    }
    const wide = Math.min(280, width - LEFT - RIGHT - 4);
    const marks = open
      ? [
          [0, text("closed")],
          [1, text("open")],
        ]
      : [
          [0, `−${shown(limit, 3)}`],
          [0.5, "0"],
          [1, `+${shown(limit, 3)}`],
        ];
    scaleBar(context, LEFT, TOP + size.high + 28, wide, open ? magnitude : signed, marks);
  }

  /** The map with a frame around a cell; none where the neuron is not on the map. */
  function draw(place, token) {
    const context = fit(canvas, size.width, TOP + size.high + BELOW);
    context.drawImage(scene, 0, 0, size.width, TOP + size.high + BELOW);
    if (place >= 0) return cross(context, LEFT + token * size.column, TOP + place * CELL, size.column, CELL);
    context.strokeStyle = ink().colour("muted");
    context.lineWidth = 1.5;
    context.strokeRect(LEFT + token * size.column, TOP, size.column, size.high);
  }

  /** @returns {{ place: number, token: number }|null} the cell under a point */
  function find(x, y) {
    const [token, place] = [Math.floor((x - LEFT) / size.column), Math.floor((y - TOP) / CELL)];
    return token >= 0 && token < size.tokens && place >= 0 && place < size.rows ? { place, token } : null;
  }
  return { prepare, draw, find };
}
