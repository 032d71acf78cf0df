// What the cache takes a token against how far the prediction moves: a dot for each number of K/V heads, and one for
// each rank of a latent.

import { h } from "../../dom.js";
import { chartHeight, fit, ink, textWidth, write } from "../../draw.js";
import { axes, chartIn, dot, path, xOf, yOf } from "../../plot.js";

const [HIGH, LEFT, RIGHT, TOP, BELOW] = [280, 52, 24, 36, 46];
const [NEAR, RADIUS, LINE] = [24, 9, 18]; // px: of the pointer, of a dot, of a line of text

/** @typedef {import("../../readings/attention-kinds.js").KindsReading} KindsReading */
/** @typedef {import("../../readings/attention-kinds.js").KvKind} KvKind */
/** @typedef {(name: string, params?: Record<string, unknown>) => string} Text */
/** @typedef {{ kind: KvKind; x: number; y: number }} Place */
/** @typedef {[left: number, top: number, right: number, bottom: number]} Box */

/** @param {Box} a @param {Box} b */
const overlap = (a, b) => a[0] < b[2] && a[2] > b[0] && a[1] < b[3] && a[3] > b[1];

/**
 * Points of a line through these places, close enough that no name slips between two.
 *
 * @param {Place[]} line
 * @returns {Box[]}
 */
function along(line) {
  return line.slice(1).flatMap((to, i) => {
    const from = line[i];
    const steps = Math.ceil(Math.hypot(to.x - from.x, to.y - from.y) / 4);
    return Array.from({ length: steps }, (_, step) => {
      const [x, y] = [from.x + ((to.x - from.x) * step) / steps, from.y + ((to.y - from.y) * step) / steps];
      return /** @type {Box} */ ([x, y, x, y]);
    });
  });
}

/**
 * A name's box beside its dot: above and below it, then at its right and left; the first that is free of all dots,
 * all lines, all other names and the edges; null where there is none.
 *
 * @param {Place} place
 * @param {number} wide
 * @param {Box[]} taken
 * @param {[number, number]} size
 * @returns {Box | null}
 */
function roomFor({ x, y }, wide, taken, [width, high]) {
  /** @type {[number, number][]} */
  const starts = [
    [x - wide / 2, y - RADIUS - LINE],
    [x + RADIUS, y - RADIUS - LINE / 2],
    [x - wide / 2, y + RADIUS],
    [x - wide - RADIUS, y - RADIUS - LINE / 2],
    [x - RADIUS, y - RADIUS - LINE],
    [x + 2, y - RADIUS - LINE],
    [x - wide + RADIUS, y - RADIUS - LINE],
  ];
  const boxes = starts.map(([left, top]) => /** @type {Box} */ ([left, top, left + wide, top + LINE]));
  const inside = boxes.filter((box) => box[0] >= LEFT && box[1] >= 0 && box[2] <= width && box[3] <= high - BELOW + 4);
  return inside.find((box) => !taken.some((other) => overlap(box, other))) ?? null;
}

/**
 * The dots' names, those of the chosen and of the network's own first: one that has no room is left out.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Place[]} places
 * @param {KindsReading} reading
 * @param {[number, number]} size
 * @param {Text} text
 */
function drawNames(context, places, { own, chosen }, size, text) {
  /** @type {Box[]} */
  const dots = places.map(({ x, y }) => [x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS]);
  const lines = [false, true].map((latent) => places.filter(({ kind }) => Boolean(kind.rank) === latent));
  const taken = [...dots, ...lines.flatMap(along)];
  const first = (/** @type {Place} */ { kind }) => Number(kind === chosen) * 4 + Number(kind === own) * 2;
  for (const place of [...places].sort((a, b) => first(b) - first(a) || b.kind.heads - a.kind.heads)) {
    const { heads, rank, name } = place.kind;
    const called = { heads, rank, name: name.toUpperCase() };
    const words = text(place.kind === own ? "dot_own" : rank ? "dot_latent" : "dot", called);
    const box = roomFor(place, textWidth(context, words) + 6, taken, size);
    if (!box) continue;
    taken.push(box);
    write(context, words, box[0] + 3, box[3] - 5, { weight: place.kind === chosen ? 600 : 400 });
  }
}

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
   */
  function draw(width, reading) {
    const { kinds, latents, own, chosen } = reading;
    const high = chartHeight(HIGH);
    const context = fit(canvas, width, high);
    const all = [...kinds, ...latents];
    const known = all.filter(({ kl }) => !Number.isNaN(kl));
    const bytes = all.map((one) => one.bytes);
    const chart = chartIn(
      [width, high],
      [LEFT, RIGHT, TOP, BELOW],
      { low: Math.min(...bytes) / 1.3, high: Math.max(...bytes) * 1.3, log: true },
      { low: 0, high: Math.max(...known.map(({ kl }) => kl)) * 1.25 || 1 },
    );
    axes(context, chart, { xName: text("bytes_axis"), yName: text("kl_axis") });
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
    for (const one of known) {
      const hue = one === own ? "k" : one.rank ? "norm" : "output";
      dot(context, chart, one.bytes, one.kl, colour(hue), one === chosen ? RADIUS : 6);
    }
    drawNames(context, places, reading, [width, high], text);
  }
  return { canvas, draw, find };
}
