// A token's neurons as dots, gate across and up upwards: four quadrants with their counts. Without a gate up is across
// and its activation upwards: two halves.

import { strongest } from "../../arrays.js";
import { shown } from "../../dom.js";
import { ink, write } from "../../draw.js";
import { createSurface } from "../../marks/surface.js";
import { drawOff } from "../../off.js";
import { axes, chartIn, dot, rule, xOf, yOf } from "../../plot.js";
import { HALVES, QUADRANTS } from "./kinds.js";

const [LEFT, RIGHT, TOP, BELOW] = [48, 10, 26, 46];
const COUNTS = 30; // pixels that no dot is in, above and below, where the counts stand
const [NEAR, STRONG] = [14, 12]; // pixels within which the pointer finds a dot; neurons drawn as strong ones
const OFF = 14; // pixels of the place drawn over a dot that is off

const reach = (values, spare) => values.reduce((a, b) => Math.max(a, Math.abs(b)), 0) * spare || 1;

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Function} text
 */
export function createScatter(canvas, text) {
  const surface = createSurface(canvas);
  let [chart, gate, up] = [null, [], []]; // up and what is made of it, where there is no gate
  let size = { width: 0, high: 0 };

  /** Draws over the switched-off neurons' dots, or the whole chart where the layer's FFN is off. */
  function drawUnused(context, off, word) {
    if (off === null) return drawOff(context, chart.left, chart.top, chart.width, chart.height, word);
    for (const i of off) drawOff(context, xOf(chart, gate[i]) - OFF / 2, yOf(chart, up[i]) - OFF / 2, OFF, OFF);
  }

  function measure(width, full) {
    [gate, up] = full.gate ? [full.gate, full.up] : [full.up, full.activated];
    size = { width, high: Math.min(420, Math.max(300, width * 0.8)) };
    const half = (size.high - TOP - BELOW) / 2;
    const [x, y] = [reach(gate, 1.04), reach(up, half / (half - COUNTS))];
    chart = chartIn([width, size.high], [LEFT, RIGHT, TOP, BELOW], { low: -x, high: x }, { low: -y, high: y });
  }

  function drawGround(context, full, { off, word }) {
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
    drawUnused(context, off, word);
    full.quadrants.forEach(({ count, share }, i) =>
      label(context, (full.gate ? QUADRANTS : HALVES)[i], text("quadrant", { count, share: shown(100 * share, 3) })),
    );
  }

  function label(context, [right, above], words) {
    const x = right ? chart.left + chart.width - 4 : chart.left + 4;
    const y = above ? chart.top + 16 : chart.top + chart.height - 8;
    context.lineWidth = 4;
    context.strokeStyle = ink().colour("card");
    context.textAlign = right ? "right" : "left";
    context.strokeText(words, x, y);
    write(context, words, x, y, { align: right ? "right" : "left", weight: 600 });
  }

  function mark(context, chosen) {
    context.beginPath();
    context.arc(xOf(chart, gate[chosen]), yOf(chart, up[chosen]), 8, 0, 2 * Math.PI);
    context.lineWidth = 2.5;
    context.strokeStyle = ink().colour("text");
    context.stroke();
  }

  /**
   * @param {ReturnType<typeof import("./kinds.js").drawnOf>} full
   * @param {{ off: number[] | null; word: string }} unused the layer's switched-off neurons; null: all
   */
  function draw(width, full, unused, chosen) {
    measure(width, full);
    surface(
      [full, ...Object.values(unused).flat()],
      size.width,
      size.high,
      (context) => drawGround(context, full, unused),
      (context) => mark(context, chosen),
    );
  }

  /** The neuron nearest to a point, if one is near. */
  function find(x, y) {
    let [best, apart] = [null, NEAR ** 2];
    for (let i = 0; i < gate.length; i++) {
      const far = (xOf(chart, gate[i]) - x) ** 2 + (yOf(chart, up[i]) - y) ** 2;
      if (far < apart) [best, apart] = [i, far];
    }
    return best;
  }
  return { draw, find };
}
