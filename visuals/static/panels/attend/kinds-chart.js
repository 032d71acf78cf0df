// @ts-check
// What the cache takes a token against how far the prediction moves: a dot for each number of K/V heads.

import { h } from "../../dom.js";
import { chartHeight, fit, ink, textWidth, write } from "../../draw.js";
import { axes, chartIn, dot, path, xOf, yOf } from "../../plot.js";

const [HIGH, LEFT, RIGHT, TOP, BELOW] = [260, 52, 24, 32, 46];
const NEAR = 24; // px

/** @typedef {import("../../readings/attention-kinds.js").KindsReading} KindsReading */
/** @typedef {(name: string, params?: Record<string, unknown>) => string} Text */

/**
 * The dots' names, those of the chosen and of the network's own first: one that has no room is left out.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {{ x: number; y: number }[]} places
 * @param {KindsReading} reading
 * @param {Text} text
 */
function drawNames(context, places, { kinds, own, chosen }, text) {
  /** @type {[number, number, number][]} left, right and height of what is written */
  const taken = [];
  const first = (/** @type {number} */ i) => Number(kinds[i].heads === chosen.heads) * 2 + Number(kinds[i] === own);
  for (const i of [...kinds.keys()].sort((a, b) => first(b) - first(a))) {
    const { heads, name, kl } = kinds[i];
    const { x, y } = places[i];
    const called = `${heads} ${name.toUpperCase()}`;
    const words = kinds[i] === own ? text("dot_own", { heads, name: name.toUpperCase() }) : called;
    const wide = textWidth(context, words) + 10;
    const falls = kl > 0 || (kinds[i - 1]?.kl ?? 0) > kl; // the line comes down from the left
    const left = i && i === kinds.length - 1 ? x - wide + 14 : falls ? x + 12 : x - wide / 2;
    if (taken.some(([from, to, at]) => left < to && left + wide > from && Math.abs(at - y) < 18)) continue;
    taken.push([left, left + wide, y]);
    write(context, words, left, y - 12, { weight: heads === chosen.heads ? 600 : 400 });
  }
}

/** @param {Text} text of the panel */
export function createKindsChart(text) {
  const canvas = h("canvas.gp-canvas", { "data-text-label": "attention-kinds.chart" });
  /** @type {{ heads: number; x: number; y: number }[]} */
  let places = [];

  /** The number of heads whose dot is under a point. */
  function find(/** @type {number} */ x, /** @type {number} */ y) {
    const apart = places.map((place) => Math.hypot(place.x - x, place.y - y));
    const at = apart.indexOf(Math.min(...apart));
    return apart[at] <= NEAR ? places[at].heads : null;
  }

  /**
   * @param {number} width
   * @param {KindsReading} reading
   */
  function draw(width, reading) {
    const { kinds, own, chosen } = reading;
    const high = chartHeight(HIGH);
    const context = fit(canvas, width, high);
    const [most, kl] = [Math.max(...kinds.map(({ bytes }) => bytes)), Math.max(...kinds.map((one) => one.kl))];
    const chart = chartIn(
      [width, high],
      [LEFT, RIGHT, TOP, BELOW],
      { low: 0, high: most * 1.06 },
      { low: 0, high: kl * 1.25 || 1 },
    );
    axes(context, chart, { xName: text("bytes_axis"), yName: text("kl_axis") });
    const { colour } = ink();
    path(
      context,
      chart,
      kinds.map((one) => [one.bytes, one.kl]),
      { colour: colour("muted"), dash: [4, 4], width: 1.5 },
    );
    places = kinds.map(({ heads, bytes, kl: far }) => ({ heads, x: xOf(chart, bytes), y: yOf(chart, far) }));
    for (const { heads, bytes, kl: far } of kinds)
      dot(context, chart, bytes, far, colour(heads === own.heads ? "k" : "output"), heads === chosen.heads ? 9 : 6);
    drawNames(context, places, reading, text);
  }
  return { canvas, draw, find };
}
