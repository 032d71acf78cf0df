// Finds the largest size at which a panel fits on the stage.

import { leastLegible, sizesFor } from "./sizes.js";

/** @typedef {import("./presented.js").Divided} Divided */

/** @returns {Promise<void>} */
export const frame = () =>
  new Promise((done) => {
    requestAnimationFrame(() => done());
  });

/** @param {Divided} divided */
const isUncut = ({ cut, wide }) => !cut && !wide;
/** @param {Divided} divided */
const isWhole = (divided) => isUncut(divided) && divided.pages.length === 1;

/**
 * The panel's pages at the largest size at which all of it fits, else at which no part is cut; the panel has that
 * size then.
 *
 * @param {ReturnType<typeof import("./presented.js").createPresented>} panel
 * @param {() => boolean} isCurrent false once another fitting has begun
 * @returns {Promise<Divided | null>} null where another took its place
 */
export async function fitLargest(panel, isCurrent) {
  const sizes = sizesFor(innerWidth);
  const least = leastLegible(sizes);
  document.body.style.setProperty("--lesson-strip", least.toFixed(3));

  /**
   * @param {number} factor
   * @returns {Promise<Divided | null>}
   */
  async function dividedAt(factor) {
    panel.enlarge(factor);
    for (let i = 0; i < 3; i++) await frame(); // laid out, drawn for its width, laid out with that
    return isCurrent() && panel.section() ? panel.divide() : null;
  }
  panel.unshrink();
  for (const factor of [...sizes.large, ...sizes.legible]) {
    const divided = await dividedAt(factor);
    if (!divided || isWhole(divided)) return divided;
  }
  // at the smallest that a hall reads: better several pages of it, with smaller drawings, than small print
  panel.shrink();
  const divided = panel.divide();
  if (isUncut(divided)) return divided;
  for (const factor of sizes.smaller) {
    const smaller = await dividedAt(factor);
    if (!smaller || isUncut(smaller)) return smaller;
  }
  return dividedAt(least);
}
