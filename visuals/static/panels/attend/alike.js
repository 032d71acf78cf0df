// Weights and shares as they are written beside each other: with as many digits each, and never as the whole that they
// are not.

import { percent, share } from "../../dom.js";

const ROUNDING = 1e-9; // what is left of a sum that comes to 0

/** Whether so many decimals tell a weight from 0 and from 1. @type {(weight: number, decimals: number) => boolean} */
const tells = (weight, decimals) => weight === 0 || weight === 1 || Number(weight.toFixed(decimals)) % 1 !== 0;

/**
 * Weights with the same number of decimals, as few as tell those near 1 from it; what would be all zeros as
 * `share`.
 *
 * @param {number[]} weights
 * @returns {string[]}
 */
export function sharesAlike(weights) {
  const large = weights.filter((weight) => weight >= 0.5);
  const decimals = [3, 4, 5, 6, 7].find((count) => large.every((weight) => tells(weight, count))) ?? 8;
  return weights.map((weight) => (tells(weight, decimals) ? weight.toFixed(decimals) : share(weight)));
}

/**
 * Two weights and their difference, with as many decimals each: so few that what is written comes out.
 *
 * @param {number} a
 * @param {number} b
 * @returns {{ a: string; b: string; difference: string }}
 */
export function writtenApart(a, b) {
  const all = [a, b, a - b];
  const comesOut = (/** @type {number} */ decimals) => {
    const [first, second, apart] = all.map((x) => Math.round(x * 10 ** decimals));
    return first - second === apart && tells(a, decimals) && tells(b, decimals);
  };
  const decimals = [3, 4, 5, 6, 7].find(comesOut) ?? 8;
  const [first, second, apart] = all.map((x) => x.toFixed(decimals).replace("-", "−"));
  return { a: first, b: second, difference: a > b ? `+${apart}` : apart };
}

/**
 * A share that is lost, or by which something changes, in per cent: what rounding leaves is 0, and what is not all
 * is not written as all.
 *
 * @param {import("../../types.d.ts").Texts["text"]} text of the page
 * @param {number} lost
 */
export function lostIn(text, lost) {
  if (lost < ROUNDING) return percent(0);
  const written = [2, 3].map((digits) => percent(lost, digits)).find((one) => one !== "100%");
  return lost < 1 ? (written ?? text("chance.nearly_all")) : percent(lost);
}
