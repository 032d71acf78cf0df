// Finds the largest size at which a panel fits on the stage.

import { stageWidth } from "./column.js";
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
const isWhole = (divided) => isUncut(divided) && !divided.crowded && divided.pages.length === 1;

/**
 * How far pages are from one whole page: first by names that are left out, then by their number.
 *
 * @param {Divided} divided
 */
const faultsOf = ({ crowded, pages }) => (crowded ? 1000 : 0) + pages.length;

const FULL = 0.6; // of the room: what takes less than this is tried in larger sizes

/**
 * The panel's pages at the largest size at which all of it fits, else at one at which no part is cut and no name
 * left out, in few pages; the panel has that size then.
 *
 * @param {ReturnType<typeof import("./presented.js").createPresented>} panel
 * @param {() => boolean} isCurrent false once another fitting has begun
 * @returns {Promise<Divided | null>} null where another took its place
 */
export async function fitLargest(panel, isCurrent) {
  const sizes = sizesFor(stageWidth());
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
  /** Whether much of its first page stays empty. @param {Divided} divided */
  const isHalfEmpty = ({ pages: [[top, bottom]] }) => bottom - top < FULL * panel.room();
  /**
   * What is whole, larger where much of the room would stay empty.
   *
   * @param {number} factor
   * @param {Divided} divided
   */
  async function grown(factor, divided) {
    for (const more of isHalfEmpty(divided) ? sizes.larger : []) {
      const larger = await dividedAt(more * factor);
      if (!larger || isWhole(larger)) return larger;
    }
    return panel.size() === factor ? divided : dividedAt(factor);
  }
  panel.unshrink();
  /** @type {{ factor: number; divided: Divided }[]} */
  const tried = [];
  for (const factor of [...sizes.large, ...sizes.legible]) {
    const divided = await dividedAt(factor);
    if (!divided) return null;
    if (isWhole(divided)) return factor === sizes.large[0] ? grown(factor, divided) : divided;
    tried.push({ factor, divided });
  }
  // at the smallest that a hall reads: better several pages of it, with smaller drawings, than small print
  const last = tried[tried.length - 1].divided;
  const larger = tried.find(({ divided }) => isUncut(divided) && faultsOf(divided) <= faultsOf(last));
  if (isUncut(last) && larger && isHalfEmpty(last)) return dividedAt(larger.factor);
  panel.shrink();
  const divided = panel.divide();
  if (isUncut(divided)) return divided;
  for (const factor of sizes.smaller) {
    const smaller = await dividedAt(factor);
    if (!smaller || isUncut(smaller)) return smaller;
  }
  return dividedAt(least);
}
