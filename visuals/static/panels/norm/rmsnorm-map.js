// The map of the RMS values, layers × tokens: which value a cell holds, its colours, axes and scale.

import { shown, watcher } from "../../dom.js";
import { cells, cross, enlarge, fit, ink, scaleBar, visible, write } from "../../draw.js";

const [LEFT, RIGHT, TOP] = [112, 8, 2];
const BELOW = 92; // token labels, axis title and scale
const NORMS = ["attn", "ffn"];

/** @typedef {{ layer: number|null, norm: "attn"|"ffn"|"final" }} Place  the final norm belongs to no layer */

/** Rows of the map: two a layer, and the final norm. */
export const rowCount = (layers) => 2 * layers + 1;

/** Row from the top: the final norm, then ffn and attn of the last layer, … of layer 0. @returns {Place} */
export function rowOf(index, layers) {
  if (index === 0) return { layer: null, norm: "final" };
  const place = 2 * layers - index;
  return { layer: Math.floor(place / 2), norm: NORMS[place % 2] };
}

/** The row that rowOf reads back. @returns {number} */
export function indexOf({ layer, norm }, layers) {
  return norm === "final" ? 0 : 2 * layers - (2 * layer + NORMS.indexOf(norm));
}

/** @param {Place} place @returns {number} the RMS before that norm */
export function rmsAt({ rms, T }, { layer, norm }, token) {
  return norm === "final" ? rms.final.data[token] : rms[norm].data[layer * T + token];
}

/** The colours of all values, and what they span. Logarithmic: RMS grows by factors through depth. */
function mapOf(trace) {
  const layers = trace.model.n_layers;
  const rows = rowCount(layers);
  const values = Float64Array.from({ length: rows * trace.T }, (_, i) =>
    Math.log10(rmsAt(trace, rowOf(Math.floor(i / trace.T), layers), i % trace.T)),
  );
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
  const span = high - low || 1;
  return { image: cells(values, trace.T, rows, ink().magnitude, (x) => (x - low) / span), low, high, span };
}

/** Ticks of a logarithmic scale: both ends, and 1, 2, 5 × 10ⁿ where there is room. @returns {[number, string][]} */
export function ticksOf({ low, high, span }) {
  const ticks = [
    [0, shown(10 ** low, 3)],
    [1, shown(10 ** high, 3)],
  ];
  for (let power = Math.floor(low); power <= high; power++) {
    for (const step of [1, 2, 5]) {
      const place = (power + Math.log10(step) - low) / span;
      const free = place > 0.1 && place < 0.9 && ticks.every(([other]) => Math.abs(other - place) > 0.1);
      if (free) ticks.push([place, String(Number((step * 10 ** power).toPrecision(1)))]);
    }
  }
  return ticks.sort(([a], [b]) => a - b);
}

/** Sizes for a width, in pixels to draw in. */
function measure(trace, width) {
  const rows = rowCount(trace.model.n_layers);
  const cell = Math.max(6, Math.min(14, Math.floor(300 / rows)));
  return { width, cell, rows, column: (width - LEFT - RIGHT) / trace.T, high: cell * rows };
}

function drawRowLabels(context, { cell }, layers, text) {
  const how = { align: "right", base: "middle", colour: ink().colour("muted") };
  const every = Math.ceil(18 / (2 * cell));
  write(context, text("final"), LEFT - 8, Math.max(TOP + cell / 2, 9), how); // half a line below the edge at least
  for (let layer = 0; layer < layers; layer += every) {
    const y = TOP + (indexOf({ layer, norm: "ffn" }, layers) + 1) * cell;
    if (y >= 24) write(context, text("layer", { layer }), LEFT - 8, y, how);
  }
}

function drawTokenLabels(context, { column, high }, trace, text) {
  const colour = ink().colour("muted");
  const apart = Math.ceil(46 / column);
  for (let t = 0; t < trace.T; t += apart) {
    const place = LEFT + (t + 0.5) * column;
    write(context, visible(trace.tokens.pieces[t]), place, high + 20, {
      align: "center",
      most: apart * column - 6,
      colour,
    });
  }
  write(context, text("axis"), LEFT, high + 44, { colour });
}

/** @param {HTMLCanvasElement} canvas @param {Function} text */
export function createMap(canvas, text) {
  const scene = document.createElement("canvas");
  const anew = watcher();
  let map = null;

  function drawScene(trace, size) {
    map = mapOf(trace);
    const context = fit(scene, size.width, size.high + BELOW);
    enlarge(context, map.image, LEFT, TOP, trace.T * size.column, size.high);
    drawRowLabels(context, size, trace.model.n_layers, text);
    drawTokenLabels(context, size, trace, text);
    const bar = Math.min(320, size.width - LEFT - 24);
    const left = size.width - RIGHT - bar;
    scaleBar(context, left, size.high + 52, bar, ink().magnitude, ticksOf(map));
    const how = { align: "right", colour: ink().colour("muted"), most: left - 16 };
    write(context, text("scale"), left - 8, size.high + 62, how);
  }

  /** Map and labels are drawn once; a hover moves the frame around one cell. */
  function draw({ trace, theme }, width, selected, fresh) {
    const size = measure(trace, width);
    if (anew(trace, theme, width) || fresh) drawScene(trace, size);
    const context = fit(canvas, width, size.high + BELOW);
    context.drawImage(scene, 0, 0, width, size.high + BELOW);
    const y = TOP + indexOf(selected, trace.model.n_layers) * size.cell;
    cross(context, LEFT + selected.token * size.column, y, size.column, size.cell);
  }

  /** @returns {(Place & { token: number })|null} what is under a point */
  function find(trace, width, x, y) {
    const { cell, rows, column } = measure(trace, width);
    const [token, index] = [Math.floor((x - LEFT) / column), Math.floor((y - TOP) / cell)];
    if (token < 0 || token >= trace.T || index < 0 || index >= rows) return null;
    return { token, ...rowOf(index, trace.model.n_layers) };
  }
  return { draw, find };
}
