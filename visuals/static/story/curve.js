// A line over the tokens that were read, with the stages of the training under it.

import { svg } from "../dom.js";

const [HIGH, TOP, BELOW, LEFT, RIGHT] = [282, 32, 70, 52, 12]; // px
const [STAGES, READS] = [23, 43]; // px under the axis: the stages clear of the axis' own number, and what was read
const [NAMED, NEAR] = [4, 0.95]; // tokens are named at so many places at most, none of them so near the end

/**
 * @typedef {{ x: number; y: number }} Point
 *
 * @typedef {{
 *   points: Point[];
 *   most: number;
 *   ticks: { y: number; words: string }[];
 *   starts: { x: number; words: string }[];
 *   reads: { x: number; words: string }[];
 *   axes: { up: string; stage: string; end: string };
 *   level?: number;
 *   leap?: [Point, Point] | null;
 * }} Curve
 *   `most`: of the upright axis; `starts`: where stages begin; `reads`: tokens that were read, as numbers of the
 *   lower axis; `axes`: what the upright axis is called, the numbers of stages, and the end of the lower axis;
 *   `level`: a line across; `leap`: the part that is marked
 */

/**
 * @param {Curve} curve
 * @param {number} width
 */
function partsOf({ points, most, ticks, starts, reads, axes, level, leap }, width) {
  const last = Math.max(...points.map(({ x }) => x));
  const x = (/** @type {number} */ value) => LEFT + ((width - LEFT - RIGHT) * value) / last;
  const y = (/** @type {number} */ value) => HIGH - BELOW - ((HIGH - TOP - BELOW) * value) / most;
  const path = (/** @type {Point[]} */ some) => some.map((one) => `${x(one.x)},${y(one.y)}`).join(" ");
  const [floor, right] = [y(0), width - RIGHT];
  return [
    ...ticks.flatMap(({ y: value, words }) => [
      svg("line.st-axis", { x1: LEFT, x2: right, y1: y(value), y2: y(value) }),
      svg("text", { x: LEFT - 8, y: y(value) + 5, "text-anchor": "end" }, words),
    ]),
    ...starts.flatMap(({ x: value, words }) => [
      svg("line.st-stage", { x1: x(value), x2: x(value), y1: TOP, y2: floor }),
      svg("text", { x: x(value) + 4, y: floor + STAGES }, words),
    ]),
    ...reads.flatMap(({ x: value, words }) => [
      svg("line.st-axis", { x1: x(value), x2: x(value), y1: floor, y2: floor + 6 }),
      svg("text", { x: x(value), y: floor + READS, "text-anchor": "middle" }, words),
    ]),
    ...(level === undefined ? [] : [svg("line.st-level", { x1: LEFT, x2: right, y1: y(level), y2: y(level) })]),
    svg("polyline.st-curve", { points: path(points) }),
    ...(leap ? [svg("polyline.st-leap", { points: path(leap) })] : []),
    ...points.map((one) => svg("circle.st-point", { cx: x(one.x), cy: y(one.y), r: 2.5 })),
    svg("text", { x: 0, y: 14 }, axes.up),
    ...(starts.length ? [svg("text", { x: 0, y: floor + STAGES }, axes.stage)] : []),
    svg("text", { x: right, y: HIGH - 4, "text-anchor": "end" }, axes.end),
  ];
}

/** A drawing of a curve, and what draws it. */
export function createCurve() {
  const element = svg("svg.st-training", { role: "img" });
  /**
   * @param {Curve} curve
   * @param {number} width
   * @param {string} label what the drawing is called
   */
  function draw(curve, width, label) {
    element.setAttribute("viewBox", `0 0 ${width} ${HIGH}`);
    element.setAttribute("aria-label", label);
    element.replaceChildren(...partsOf(curve, width));
  }
  return { element, draw };
}

/**
 * Where stages begin, for a curve, by their numbers: those that have room.
 *
 * @param {{ number: number; tokens: number }[]} stages `tokens`: that were read when it began
 * @param {number} last tokens that were read in all
 */
export function startsOf(stages, last) {
  const apart = last / 24; // a number and a gap, where the picture is narrowest
  /** @type {{ x: number; words: string }[]} */
  const starts = [];
  for (const { number, tokens } of stages) {
    const room = starts.every(({ x, words }) => !words || tokens - x >= apart);
    starts.push({ x: tokens, words: room ? String(number) : "" });
  }
  return starts;
}

/**
 * The numbers of tokens that a curve names: round ones.
 *
 * @param {number} last tokens that were read in all
 * @param {(tokens: number) => string} said
 */
export function readsOf(last, said) {
  const power = 10 ** Math.floor(Math.log10(last / NAMED));
  const step = power * ([1, 2, 5].find((one) => power * one * NAMED >= last) ?? 10);
  const count = Math.max(0, Math.floor((NEAR * last) / step));
  return Array.from({ length: count }, (_, i) => ({ x: step * (i + 1), words: said(step * (i + 1)) }));
}

/**
 * What the axes of a curve are called.
 *
 * @param {import("../types.d.ts").Say} text
 * @param {"loss" | "induction"} scene
 * @param {string} read tokens that were read in all, in words
 */
export const axesOf = (text, scene, read) => ({
  up: text(`story-learned.${scene}_axis`),
  stage: text("story-learned.loss_stage"),
  end: text("story-learned.tokens_read", { read }),
});
