// Finds the largest size at which a panel fits on the stage.

import { fineness, isColumn, stageWidth } from "./column.js";
import { leastLegible, sizesFor, WORDS } from "./sizes.js";

/**
 * @typedef {import("./presented.js").Divided} Divided
 *
 * @typedef {ReturnType<typeof import("./presented.js").createPresented>} Panel
 */

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

const TOP = 0.25; // of the window's height: what larger words may take at most, or the picture would be small
const FULL = 0.6; // of the room: what takes less than this is tried in larger sizes

/**
 * The panel's pages at the largest size at which all of it fits, else at one at which no part is cut and no name
 * left out, in few pages; the panel has that size then.
 *
 * @param {Panel} panel
 * @param {() => boolean} isCurrent false once another fitting has begun
 * @returns {Promise<Divided | null>} null where another took its place
 */
async function fitLargest(panel, isCurrent) {
  const sizes = sizesFor(stageWidth(), fineness());
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
  /**
   * A chart that is low takes what is free below the panel, where all of it still fits then.
   *
   * @param {Divided} divided
   */
  async function stretched(divided) {
    if (!panel.stretch(divided)) return divided;
    for (let i = 0; i < 3; i++) await frame();
    if (!isCurrent() || !panel.section()) return null;
    const taller = panel.divide();
    return isWhole(taller) ? taller : dividedAt(panel.size());
  }
  panel.unshrink();
  /** @type {{ factor: number; divided: Divided }[]} */
  const tried = [];
  for (const factor of [...sizes.large, ...sizes.legible]) {
    const divided = await dividedAt(factor);
    if (!divided) return null;
    const isFlat = divided.low && factor > least; // its chart gains by smaller letters that a hall still reads
    if (isWhole(divided) && !isFlat) return factor === sizes.large[0] ? grown(factor, divided) : stretched(divided);
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

/**
 * Fits question and answer, and below them the panel: those as large as they may be without it being cut or divided
 * for that, or a chart being low.
 *
 * @param {HTMLElement} top what question and answer stand in
 */
export function createFitting(top) {
  const { body } = document;
  let words = 1; // so many times their least size
  /** How tall they are then. @param {number} size */
  function write(size) {
    words = size;
    body.style.setProperty("--lesson-words", String(size));
    const tall = top.offsetHeight;
    body.style.setProperty("--lesson-top", `${tall}px`);
    return tall;
  }

  /**
   * @param {Panel} panel
   * @param {() => boolean} isCurrent
   */
  async function fitWords(panel, isCurrent) {
    const least = leastLegible(sizesFor(stageWidth(), fineness()));
    let isLow = false;
    /** How far the panel then is from one whole page, at the smallest size that a hall reads. @param {number} size */
    async function faultsAt(size) {
      if (write(size) > TOP * innerHeight && size > 1) return Infinity;
      panel.enlarge(least);
      for (let i = 0; i < 3; i++) await frame();
      if (!isCurrent() || !panel.section()) return 0;
      const divided = panel.divide();
      isLow = divided.low === true;
      return faultsOf(divided) + (isUncut(divided) ? 0 : 1e6);
    }
    /** @type {number[]} */
    const faults = []; // the least words last, when what is drawn late is there
    for (const size of WORDS) {
      faults.push(await faultsAt(size));
      if (!isCurrent() || (faults.at(-1) === 1 && !isLow)) return;
    }
    if (!isLow) write(WORDS[faults.findIndex((one) => one <= faults[WORDS.length - 1])]);
  }

  return {
    /**
     * @param {Panel} panel
     * @param {boolean} isNew another view than before; the same one keeps the size of its words
     * @param {() => boolean} isCurrent false once another fitting has begun
     * @returns {Promise<Divided | null>} null where another took its place
     */
    async fit(panel, isNew, isCurrent) {
      const isRead = !isColumn() && !body.hasAttribute("data-notes"); // by a hall, and not by somebody near it
      if (isRead && isNew) await fitWords(panel, isCurrent);
      else write(isRead ? words : 1);
      const [size, divided] = [words, await fitLargest(panel, isCurrent)];
      if (!divided || size === 1 || divided.pages.length === 1) return divided;
      write(1);
      const plain = await fitLargest(panel, isCurrent);
      if (!plain || plain.pages.length < divided.pages.length) return plain;
      write(size);
      return fitLargest(panel, isCurrent);
    },
  };
}
