// Scales of colour: where a value stands on one of the two tables, and the ticks of its bar.

import { shown } from "../dom.js";
import { centred } from "../draw.js";

/** @typedef {{ table: "magnitude" | "signed"; place: (value: number) => number; ticks: [number, string][] }} Scale */

/**
 * Attention weights: roots, since most of them are small.
 *
 * @type {Scale}
 */
export const WEIGHTS = {
  table: "magnitude",
  place: Math.sqrt,
  ticks: [0, 0.01, 0.1, 0.25, 0.5, 1].map((weight) => [Math.sqrt(weight), String(weight)]),
};

/**
 * From −limit to +limit.
 *
 * @param {number} limit
 * @param {number} [digits] significant ones of its ticks
 * @returns {Scale}
 */
export function signedScale(limit, digits = 3) {
  return {
    table: "signed",
    place: (value) => centred(value, limit),
    ticks: [
      [0, `−${shown(limit, digits)}`],
      [0.5, "0"],
      [1, `+${shown(limit, digits)}`],
    ],
  };
}

/**
 * Roots of what has no sign, up to a limit.
 *
 * @param {number} limit
 * @returns {Scale}
 */
export const rootScale = (limit) => ({
  table: "magnitude",
  place: (value) => Math.sqrt(value / limit),
  ticks: [0, 0.1, 0.4, 1].map((part) => [Math.sqrt(part), part ? shown(part * limit, 3) : "0"]),
});

/**
 * Ticks of a logarithmic scale: both ends, and 1, 2, 5 × 10ⁿ where there is room.
 *
 * @param {number} low the logarithm of its lower end
 * @param {number} high of its upper one
 * @returns {[number, string][]}
 */
function logTicks(low, high) {
  const span = high - low || 1;
  /** @type {[number, string][]} */
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

/**
 * Logarithms, from the least to the largest of the values that have one.
 *
 * @param {ArrayLike<number>} values
 * @returns {Scale}
 */
export function logScale(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of Array.from(values))
    if (value > 0) [low, high] = [Math.min(low, Math.log10(value)), Math.max(high, Math.log10(value))];
  const span = high - low || 1;
  return { table: "magnitude", place: (value) => (Math.log10(value) - low) / span, ticks: logTicks(low, high) };
}
