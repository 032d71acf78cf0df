// The size of the stream by layer: a line for each sink, and one for the median of the other tokens.

import { fit, ink, write } from "../../draw.js";
import { axes, chartIn, path, spread, yOf } from "../../plot.js";

const [HIGH, LEFT, RIGHT, TOP, BELOW] = [260, 60, 116, 30, 46];
const DASHES = [[], [7, 4], [2, 3]];
const APART = 18; // of two names, in pixels

/** @typedef {{ name: string; role: string; values: ArrayLike<number> }} Line `values` by depth */

/**
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {Line[]} lines
 * @param {{ axis: string; scale: string }} words
 */
export function drawSizes(canvas, width, lines, { axis, scale }) {
  const context = fit(canvas, width, HIGH);
  const every = lines.flatMap(({ values }) => Array.from(values)).filter((value) => value > 0);
  const last = lines[0].values.length - 1;
  const y = { low: Math.min(...every) / 1.2, high: Math.max(...every) * 1.2, log: true };
  const chart = chartIn([width, HIGH], [LEFT, RIGHT, TOP, BELOW], { low: 0, high: last }, y);
  axes(context, chart, { xTicks: spread(last + 1, Math.max(3, chart.width / 60)), xName: axis, yName: scale });
  const labels = lines.map(({ values, name, role }, i) => {
    /** @type {[number, number][]} */
    const points = Array.from(values, (value, depth) => /** @type {[number, number]} */ ([depth, value]));
    const seen = points.filter(([, value]) => value > 0);
    const colour = ink().colour(role);
    path(context, chart, seen, { colour, dash: role === "output" ? DASHES[i % DASHES.length] : [] });
    return { name, colour, y: yOf(chart, seen.at(-1)?.[1] ?? y.low) };
  });
  labels.sort((a, b) => a.y - b.y);
  for (const [i, label] of labels.entries()) {
    if (i) label.y = Math.max(label.y, labels[i - 1].y + APART);
    const { name, colour } = label;
    write(context, name, LEFT + chart.width + 8, label.y, { base: "middle", colour, most: RIGHT - 8 });
  }
}
