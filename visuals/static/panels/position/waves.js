// The vectors that sinusoidal positions add, beside the sines and cosines that RoPE turns with: positions × channels
// both, the sines at the left and the cosines at the right; and the frequencies of both over the share of their width.

import { once } from "../../arrays.js";
import { labelsOf } from "../../characters.js";
import { h, putText, shown } from "../../dom.js";
import { cells, centred, cross, enlarge, fit, ink, scaleBar, textWidth, visible, write } from "../../draw.js";
import { writtenOut } from "../../equation.js";
import { createSurface } from "../../marks/surface.js";
import { axes, chartIn, dot, path } from "../../plot.js";
import { pointAt } from "../../pointed.js";
import { across, bindArrowKeys, bindPointer, widthOf } from "../../pointing.js";
import { rotaryOf, sinusoid, waveOf } from "../../readings/position-kinds.js";

/**
 * @typedef {import("../../decode.js").Trace} Trace
 *
 * @typedef {(name: string, params?: Record<string, unknown>) => string} Say
 *
 * @typedef {{ values: Float64Array; rows: number; columns: number; left: number; cell: number }} Waves
 */

const KIND = "position-kinds";
const MOST = 96; // positions that are drawn
const [NARROW, LEGEND, AXIS, HIGH] = [30, 42, 26, 250];
/** @type {[number, string][]} */
const TICKS = [
  [0, "−1"],
  [0.5, "0"],
  [1, "+1"],
];

/**
 * What stands in a column: the sine of a pair, or after all of these its cosine.
 *
 * @param {number} column
 * @param {number} width of the vector
 */
function waveIn(column, width) {
  const sines = Math.ceil(width / 2);
  const [pair, cosine] = [column % sines, column >= sines];
  return { pair, cosine, channel: 2 * pair + Number(cosine) };
}

/**
 * Positions × columns: what stands in each.
 *
 * @param {number} tokens
 * @param {number} columns
 * @param {(position: number, column: number) => number} value
 * @returns {Waves}
 */
function wavesOf(tokens, columns, value) {
  const rows = Math.min(tokens, MOST);
  const values = Float64Array.from({ length: rows * columns }, (_, i) => value(Math.floor(i / columns), i % columns));
  const cell = rows <= 12 ? 20 : Math.max(2, Math.floor(200 / rows));
  return { values, rows, columns, cell, left: cell >= 16 ? 76 : NARROW };
}

/**
 * The map, with positions at its left and the first and last column below.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {number} width
 * @param {Waves} waves
 * @param {string[]} pieces
 * @param {string} axis
 */
function drawWaves(context, width, { values, rows, columns, left, cell }, pieces, axis) {
  const colour = ink().colour("muted");
  const image = cells(values, columns, rows, ink().signed, (value) => centred(value, 1));
  enlarge(context, image, left, 0, width - left, rows * cell);
  context.strokeStyle = ink().colour("line"); // white has an end on a white page, too
  context.strokeRect(left + 0.5, 0.5, width - left - 1, rows * cell - 1);
  const apart = Math.ceil(16 / cell);
  for (let row = 0; row < rows; row += apart) {
    const name = left > NARROW ? `${row} ${visible(labelsOf(pieces)[row])}` : String(row);
    write(context, name, left - 6, Math.max(8, (row + 0.5) * cell), {
      align: "right",
      base: "middle",
      colour,
      most: left - 8,
    });
  }
  const from = Math.max(0, Math.min(left, width - textWidth(context, axis)));
  write(context, axis, from, rows * cell + 18, { colour, most: width });
}

/**
 * A map of waves on a canvas of its own.
 *
 * @param {HTMLCanvasElement} canvas
 */
function createMap(canvas) {
  const surface = createSurface(canvas);
  /** @type {{ waves: Waves; width: number } | null} */
  let drawn = null;
  /**
   * @param {number} width
   * @param {Waves} waves
   * @param {{ pieces: string[]; axis: string; row: number; marked: number[] }} how `marked`: columns of that row
   */
  function draw(width, waves, { pieces, axis, row, marked }) {
    drawn = { waves, width };
    const { rows, columns, left, cell } = waves;
    const high = rows * cell;
    surface(
      [waves, axis, pieces],
      width,
      high + AXIS + LEGEND,
      (context) => {
        drawWaves(context, width, waves, pieces, axis);
        scaleBar(context, left, high + AXIS + 4, Math.min(180, width - left - 4), ink().signed, TICKS);
      },
      (context) => {
        const each = (width - left) / columns;
        if (row >= rows) return;
        for (const column of marked) cross(context, left + column * each, row * cell, Math.max(4, each), cell);
      },
    );
  }
  /**
   * @param {number} x
   * @param {number} y
   */
  function find(x, y) {
    if (!drawn) return null;
    const { waves, width } = drawn;
    const [row, column] = [
      Math.floor(y / waves.cell),
      Math.floor(((x - waves.left) / (width - waves.left)) * waves.columns),
    ];
    const inside = row >= 0 && row < waves.rows && column >= 0 && column < waves.columns;
    return inside ? { row, column } : null;
  }
  return { draw, find };
}

/**
 * The frequency of every pair, over the share of the vector that lies before it.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {{ d: number; turned: ArrayLike<number>; pair: number; text: Say }} what
 */
function drawFrequencies(canvas, width, { d, turned, pair, text }) {
  const context = fit(canvas, width, HIGH);
  const { colour } = ink();
  const added = Array.from({ length: Math.ceil(d / 2) }, (_, i) => waveOf(i, d));
  const least = Math.min(...added, ...Array.from(turned));
  const chart = chartIn(
    [width, HIGH],
    [64, 14, 30, 46],
    { low: 0, high: 1 },
    { low: least / 1.6, high: 1.6, log: true },
  );
  axes(context, chart, { xName: text("waves_x"), yName: text("waves_y") });
  const line = added.map((wave, i) => /** @type {[number, number]} */ ([i / added.length, wave]));
  path(context, chart, line, { colour: colour("residual"), width: 3 });
  for (let i = 0; i < turned.length; i++)
    dot(context, chart, i / turned.length, turned[i], colour(i === pair ? "accent" : "k"), i === pair ? 6 : 4);
}

/**
 * Both maps of a run.
 *
 * @type {(trace: Trace) => { added: Waves; turned: Waves }}
 */
const wavesIn = once(({ model, T }) => {
  const { data: frequency } = rotaryOf(model).inv_freq;
  return {
    added: wavesOf(T, model.d_model, (position, column) =>
      sinusoid(position, waveIn(column, model.d_model).channel, model.d_model),
    ),
    turned: wavesOf(T, 2 * frequency.length, (position, column) => {
      const { pair, cosine } = waveIn(column, 2 * frequency.length);
      return (cosine ? Math.cos : Math.sin)(position * frequency[pair]);
    }),
  };
});

/**
 * @param {import("../../types.d.ts").Glass} glass
 * @param {Say} text
 */
export function createWaves(glass, text) {
  const { state } = glass;
  const canvasOf = (/** @type {string} */ name, more = {}) =>
    h("canvas.gp-canvas", { "data-part": name, "data-text-label": `${KIND}.${name}_label`, ...more });
  const [added, turned, frequencies] = [
    canvasOf("added", { role: "img" }),
    canvasOf("turned"),
    canvasOf("frequencies", { role: "img" }),
  ];
  const [addedMap, turnedMap] = [createMap(added), createMap(turned)];
  const [addedSays, turnedSays] = [h("p.gp-note", { "data-part": "added-cell" }), h("p.gp-note")];
  const [left, right] = [h("div", null, added, addedSays), h("div", null, turned, turnedSays)];
  const [leftWide, rightWide] = [widthOf(left, glass), widthOf(right, glass)];
  const pointed = pointAt(added, glass, addedMap.find, () => {});
  bindPointer(turned, glass, (x, y) => {
    const place = turnedMap.find(x, y);
    const rotary = state.trace?.model.parts.rotary;
    return place && rotary ? { pair: place.column % rotary.inv_freq.data.length } : null;
  });
  bindArrowKeys(turned, glass, across("pair"));
  /** @param {Trace} trace */
  function draw(trace) {
    const { query } = state;
    const waves = wavesIn(trace);
    const { model } = trace;
    const frequency = rotaryOf(model).inv_freq.data;
    const pair = Math.min(state.pair, frequency.length - 1);
    const { pieces } = trace.tokens;
    const at = pointed() ?? { row: Math.min(query, waves.added.rows - 1), column: 0 };
    const axisOf = (/** @type {number} */ width) => text("waves_columns", { last: Math.ceil(width / 2) - 1 });
    if (leftWide()) {
      const axis = axisOf(model.d_model);
      addedMap.draw(leftWide(), waves.added, { pieces, axis, row: at.row, marked: [at.column] });
    }
    if (rightWide()) {
      const axis = axisOf(2 * frequency.length);
      turnedMap.draw(rightWide(), waves.turned, { pieces, axis, row: query, marked: [pair, pair + frequency.length] });
    }
    return () => {
      const angle = query * frequency[pair];
      const { pair: of, cosine, channel } = waveIn(at.column, model.d_model);
      const cell = text("added_cell", {
        position: at.row,
        channel,
        wave: cosine ? "cos" : "sin",
        factor: of ? `10000^(−${2 * of}/${model.d_model})` : "1",
        value: shown(sinusoid(at.row, channel, model.d_model), 4),
      });
      putText(addedSays, cell);
      turnedSays.textContent = text("turned_cell", {
        position: query,
        pair,
        ...writtenOut({ frequency: frequency[pair], angle }, [["angle", ["frequency"], (x) => x * query]], {
          digits: 3,
          most: 3,
        }),
        cos: shown(Math.cos(angle), 4),
        sin: shown(Math.sin(angle), 4),
      });
    };
  }
  /**
   * @param {number} width
   * @param {Trace} trace
   */
  function drawChart(width, { model }) {
    const turnedBy = rotaryOf(model).inv_freq.data;
    drawFrequencies(frequencies, width, { d: model.d_model, turned: turnedBy, pair: state.pair, text });
  }
  return { left, right, frequencies, draw, drawChart };
}
