// A token's neurons as dots, gate across and up upwards: four quadrants with their counts. Without a gate up is across
// and its activation upwards: two halves.

import { largest, strongest } from "../../arrays.js";
import { shown } from "../../dom.js";
import { ink, write } from "../../draw.js";
import { createSurface } from "../../marks/surface.js";
import { drawOff } from "../../off.js";
import { axes, chartIn, dot, rule, xOf, yOf } from "../../plot.js";
import { HALVES, QUADRANTS } from "../../readings/neurons.js";

const [LEFT, RIGHT, TOP, BELOW] = [48, 10, 26, 46];
const COUNTS = 30; // pixels that no dot is in, above and below, where the counts stand
const [NEAR, STRONG] = [14, 12]; // pixels within which the pointer finds a dot; neurons drawn as strong ones
const OFF = 14; // pixels of the place drawn over a dot that is off

/**
 * @typedef {import("../../readings/neurons.js").Drawn} Drawn
 *
 * @typedef {{ off: number[] | null; word: string }} Unused the layer's switched-off neurons; null: all
 *
 * @typedef {object} Scatter where the dots lie
 * @property {import("../../plot.js").Chart} chart
 * @property {ArrayLike<number>} gate what is across: up, where there is no gate
 * @property {ArrayLike<number>} up what is upwards: what is made of that, where there is no gate
 * @property {number} high
 */

/** @type {(values: ArrayLike<number>, spare: number) => number} */
const reach = (values, spare) => largest(values) * spare || 1;

/**
 * Draws over the switched-off neurons' dots, or the whole chart where the layer's FFN is off.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Scatter} scatter
 * @param {Unused} unused
 */
function drawUnused(context, { chart, gate, up }, { off, word }) {
  if (off === null) return drawOff(context, chart.left, chart.top, chart.width, chart.height, word);
  for (const i of off) drawOff(context, xOf(chart, gate[i]) - OFF / 2, yOf(chart, up[i]) - OFF / 2, OFF, OFF);
  return undefined;
}

/**
 * @param {number} width
 * @param {Drawn} full
 * @returns {Scatter}
 */
function measure(width, full) {
  const [gate, up] = full.gate ? [full.gate, full.up] : [full.up, full.activated];
  const high = Math.min(420, Math.max(300, width * 0.8));
  const half = (high - TOP - BELOW) / 2;
  const [x, y] = [reach(gate, 1.04), reach(up, half / (half - COUNTS))];
  const chart = chartIn([width, high], [LEFT, RIGHT, TOP, BELOW], { low: -x, high: x }, { low: -y, high: y });
  return { chart, gate, up, high };
}

/**
 * The count of a quadrant in its corner.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Scatter} scatter
 * @param {[boolean, boolean]} corner
 * @param {string} words
 */
function label(context, { chart }, [right, above], words) {
  const x = right ? chart.left + chart.width - 4 : chart.left + 4;
  const y = above ? chart.top + 16 : chart.top + chart.height - 8;
  context.lineWidth = 4;
  context.strokeStyle = ink().colour("card");
  context.textAlign = right ? "right" : "left";
  context.strokeText(words, x, y);
  write(context, words, x, y, { align: right ? "right" : "left", weight: 600 });
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scatter} scatter
 * @param {Drawn} full
 * @param {Unused} unused
 * @param {import("../../types.d.ts").Say} text
 */
function drawGround(context, scatter, full, unused, text) {
  const { chart, gate, up } = scatter;
  const { colour } = ink();
  const { act, reads } = full.kind;
  axes(context, chart, { xName: `${reads} →`, yName: full.gate ? "up ↑" : `${act}(up) ↑` });
  rule(context, chart, { x: 0, colour: colour("muted") });
  rule(context, chart, { y: 0, colour: colour("muted") });
  const top = new Set(strongest(full.product, STRONG));
  context.globalAlpha = 0.45;
  context.fillStyle = colour(reads);
  for (let i = 0; i < gate.length; i++)
    if (!top.has(i)) context.fillRect(xOf(chart, gate[i]) - 1.75, yOf(chart, up[i]) - 1.75, 3.5, 3.5);
  context.globalAlpha = 1;
  for (const i of top) dot(context, chart, gate[i], up[i], colour("output"), 4.5);
  drawUnused(context, scatter, unused);
  full.quadrants.forEach(({ count, share }, i) => {
    const words = text("quadrant", { count, share: shown(100 * share, 3) });
    label(context, scatter, (full.gate ? QUADRANTS : HALVES)[i], words);
  });
}

/**
 * A ring around the chosen neuron's dot.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Scatter} scatter
 * @param {number} chosen
 */
function mark(context, { chart, gate, up }, chosen) {
  context.beginPath();
  context.arc(xOf(chart, gate[chosen]), yOf(chart, up[chosen]), 8, 0, 2 * Math.PI);
  context.lineWidth = 2.5;
  context.strokeStyle = ink().colour("text");
  context.stroke();
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {import("../../types.d.ts").Say} text
 */
export function createScatter(canvas, text) {
  const surface = createSurface(canvas);
  /** @type {Scatter | null} null until it is drawn */
  let drawn = null;

  /**
   * @param {number} width
   * @param {Drawn} full
   * @param {Unused} unused
   * @param {number} chosen
   */
  function draw(width, full, unused, chosen) {
    const scatter = (drawn = measure(width, full));
    surface(
      [full, ...Object.values(unused).flat()],
      width,
      scatter.high,
      (context) => drawGround(context, scatter, full, unused, text),
      (context) => mark(context, scatter, chosen),
    );
  }

  /**
   * The neuron nearest to a point, if one is near.
   *
   * @param {number} x
   * @param {number} y
   * @returns {number | null}
   */
  function find(x, y) {
    if (!drawn) return null;
    const { chart, gate, up } = drawn;
    /** @type {number | null} */
    let best = null;
    let apart = NEAR ** 2;
    for (let i = 0; i < gate.length; i++) {
      const far = (xOf(chart, gate[i]) - x) ** 2 + (yOf(chart, up[i]) - y) ** 2;
      if (far < apart) [best, apart] = [i, far];
    }
    return best;
  }
  return { draw, find };
}
