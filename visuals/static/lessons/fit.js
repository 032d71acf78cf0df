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
  /** @type {{ factors: number[]; good: (divided: Divided) => boolean; shrinks: boolean }[]} */
  const plan = [
    { factors: sizes.large, good: isWhole, shrinks: true },
    { factors: sizes.legible, good: isUncut, shrinks: true },
    { factors: sizes.smaller, good: isUncut, shrinks: false },
  ];
  for (const { factors, good, shrinks } of plan.filter((one) => one.factors.length)) {
    if (shrinks) panel.unshrink();
    for (const factor of factors) {
      const divided = await dividedAt(factor);
      if (!divided || good(divided)) return divided;
    }
    if (!shrinks) continue;
    // its smallest: better several pages of it, with smaller drawings, than small print
    panel.shrink();
    const divided = panel.divide();
    if (isUncut(divided)) return divided;
  }
  return dividedAt(least);
}
