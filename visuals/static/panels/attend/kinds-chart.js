// What the cache takes a token against how far the prediction moves: a dot for each number of K/V heads, and one for
// each rank of a latent. Each has its name beside it, or where none fits a letter in it, whose name stands below: names
// begin with numbers.

import { count, h } from "../../dom.js";
import { chartHeight, fit, ink, textWidth, write } from "../../draw.js";
import { axes, chartIn, dot, path, xOf, yOf } from "../../plot.js";
import { namesBeside, RADIUS } from "./dot-names.js";

const [HIGH, LEFT, RIGHT, TOP, BELOW] = [280, 52, 24, 36, 46];
const NEAR = 24; // px: of the pointer
const LETTER = 13; // px: of a letter in a dot

/** @typedef {import("../../readings/attention-kinds.js").KindsReading} KindsReading */
/** @typedef {import("../../readings/attention-kinds.js").KvKind} KvKind */
/** @typedef {(name: string, params?: Record<string, unknown>) => string} Text */
/** @typedef {{ kind: KvKind; x: number; y: number }} Place */

/**
 * The dots' names, those of the chosen and of the network's own first.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Place[]} places
 * @param {KindsReading} reading
 * @param {[number, number]} size
 * @param {Text} text
 * @returns {{ place: Place; words: string }[]} those that have no room, from left to right
 */
function drawNames(context, places, { own, chosen }, size, text) {
  const first = (/** @type {Place} */ { kind }) => Number(kind === chosen) * 4 + Number(kind === own) * 2;
  const names = [...places]
    .sort((a, b) => first(b) - first(a) || b.kind.heads - a.kind.heads)
    .map((place) => {
      const { heads, rank, name } = place.kind;
      const called = { heads, rank, name: name.toUpperCase() };
      const words = text(place.kind === own ? "dot_own" : rank ? "dot_latent" : "dot", called);
      return { place, words, wide: textWidth(context, words) + 6 };
    });
  const lines = [false, true].map((latent) => places.filter(({ kind }) => Boolean(kind.rank) === latent));
  const { beside, left } = namesBeside(names, lines, [LEFT, size[0], size[1] - BELOW + 4]);
  for (const { place, words, box } of beside)
    write(context, words, box[0] + 3, box[3] - 5, { weight: place.kind === chosen ? 600 : 400 });
  return left.sort((a, b) => a.place.x - b.place.x);
}

/** a, b, c … @param {number} i */
export const letterOf = (i) => String.fromCharCode("a".charCodeAt(0) + i);

/** @param {Text} text of the panel */
export function createKindsChart(text) {
  const canvas = h("canvas.gp-canvas", { "data-text-label": "attention-kinds.chart" });
  /** @type {Place[]} */
  let places = [];

  /** What lies under a point: heads, or a rank. */
  function find(/** @type {number} */ x, /** @type {number} */ y) {
    const apart = places.map((place) => Math.hypot(place.x - x, place.y - y));
    const at = apart.indexOf(Math.min(...apart));
    if (!(apart[at] <= NEAR)) return null;
    const { heads, rank } = places[at].kind;
    return { heads, rank };
  }

  /**
   * @param {number} width
   * @param {KindsReading} reading
   * @returns {string[]} the names of the dots that have a letter in them, a first
   */
  function draw(width, reading) {
    const { kinds, latents, own, chosen } = reading;
    const high = chartHeight(HIGH);
    const context = fit(canvas, width, high);
    const all = [...kinds, ...latents];
    const known = all.filter(({ kl }) => !Number.isNaN(kl));
    const bytes = all.map((one) => one.bytes);
    const most = Math.max(...known.map(({ kl }) => kl)) || 1;
    const chart = chartIn(
      [width, high],
      [LEFT, RIGHT, TOP, BELOW],
      { low: Math.min(...bytes) / 1.3, high: Math.max(...bytes) * 1.3, log: true },
      { low: -0.07 * most, high: most * 1.25 }, // the dots at 0 stand clear of the ticks' texts
    );
    axes(context, chart, { xText: count, xName: text("bytes_axis"), yName: text("kl_axis") });
    const { colour } = ink();
    for (const [line, hue] of /** @type {[KvKind[], string][]} */ ([
      [kinds, "muted"],
      [latents, "norm"],
    ])) {
      const points = line.filter((one) => known.includes(one));
      path(
        context,
        chart,
        points.map((one) => [one.bytes, one.kl]),
        { colour: colour(hue), dash: [4, 4], width: 1.5 },
      );
    }
    places = known.map((kind) => ({ kind, x: xOf(chart, kind.bytes), y: yOf(chart, kind.kl) }));
    /** @type {(one: KvKind, radius: number) => void} */
    const mark = (one, radius) =>
      dot(context, chart, one.bytes, one.kl, colour(one === own ? "k" : one.rank ? "norm" : "output"), radius);
    for (const one of known) mark(one, one === chosen ? RADIUS : 6);
    const left = drawNames(context, places, reading, [width, high], text);
    left.forEach(({ place: { kind, x, y } }, i) => {
      mark(kind, RADIUS);
      const how = { size: LETTER, weight: 700, colour: colour("card"), align: "center", base: "middle" };
      write(context, letterOf(i), x, y + 1, /** @type {Parameters<typeof write>[4]} */ (how));
    });
    return left.map(({ words }) => words);
  }
  return { canvas, draw, find };
}
