// The chart of sparsity by layer: mean over the tokens as lines, the selected token as dots.

import { fit, ink, write } from "../../draw.js";
import { drawOff } from "../../off.js";
import { axes, chartIn, dot, path, rule, spread, xOf } from "../../plot.js";
import { meanName, MEASURES } from "../../readings/firing.js";

const [LEFT, RIGHT, BELOW, HIGH] = [44, 12, 46, 330];
const [ONE, THREE, WIDE] = [56, 92, 760]; // px above it: of a legend in one line, where it is so wide, or in three
/**
 * Each measure's hue and stroke.
 *
 * @type {Record<(typeof MEASURES)[number], [role: string, dash: number[]]>}
 */
const LOOKS = { top: ["output", []], open: ["gate", [8, 4]], needed: ["up", [2, 3]] };

/** @type {(width: number, layers: number) => import("../../plot.js").Chart} */
const chartOf = (width, layers) =>
  chartIn(
    [width, HIGH],
    [LEFT, RIGHT, width < WIDE ? THREE : ONE, BELOW],
    { low: -0.5, high: layers - 0.5 },
    { low: 0, high: 100 },
  );

/**
 * Draws over the layers whose FFN is off.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {import("../../plot.js").Chart} chart
 * @param {number[]} off
 * @param {string} word
 */
function drawUnused(context, chart, off, word) {
  const wide = xOf(chart, 1) - xOf(chart, 0);
  for (const layer of off) drawOff(context, xOf(chart, layer) - wide / 2, chart.top, wide, chart.height, word);
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {import("../../readings/reading.js").Table} table a row for each layer
 * @param {{ layer: number; text: import("../../types.d.ts").Say; off: number[]; word: string }} how `off`: layers
 *   whose FFN is off
 */
export function drawSparsity(canvas, width, { keys, columns }, { layer, text, off, word }) {
  const context = fit(canvas, width, HIGH);
  const layers = keys.layer.length;
  const chart = chartOf(width, layers);
  axes(context, chart, {
    xTicks: spread(layers, Math.max(3, chart.width / 44)),
    xName: text("layers"),
    yTicks: [0, 20, 40, 60, 80, 100],
    yName: text("sparsity_axis"),
  });
  rule(context, chart, { x: layer, colour: ink().colour("line"), width: 2 });
  let left = 0;
  let line = 0;
  for (const [at, name] of MEASURES.entries()) {
    const [role, dash] = LOOKS[name];
    const colour = ink().colour(role);
    path(
      context,
      chart,
      Array.from(columns[meanName(name)], (mean, i) => /** @type {[number, number]} */ ([i, 100 * mean])),
      { colour, dash, width: 2.5 },
    );
    const wider = MEASURES.length - 1 - at; // dots on one spot are rings around the last
    for (let i = 0; i < layers; i++)
      dot(context, chart, i, 100 * columns[name][i], colour, i === layer ? 4 + 2 * wider : 2.5 + wider);
    const words = text(`measure_${name}`);
    const long = context.measureText(words).width + 46;
    if (left > 0 && left + long > width) [left, line] = [0, line + 1];
    context.strokeStyle = colour;
    context.lineWidth = 2.5;
    context.setLineDash(dash);
    context.beginPath();
    context.moveTo(left, 10 + line * 18);
    context.lineTo(left + 24, 10 + line * 18);
    context.stroke();
    context.setLineDash([]);
    write(context, words, left + 30, 10 + line * 18, { base: "middle", colour });
    left += long;
  }
  drawUnused(context, chart, off, word);
}

/**
 * The layer at a pixel.
 *
 * @param {number} width
 * @param {number} layers
 * @param {number} x
 */
export function findLayer(width, layers, x) {
  const chart = chartOf(width, layers);
  return Math.max(0, Math.min(layers - 1, Math.round(((x - chart.left) / chart.width) * layers - 0.5)));
}
