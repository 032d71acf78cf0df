// Where a reader is: what stands at the line at which the page is read, and how far down in it that line is. A number
// of pixels says it only until the window has another width, or what stands above is of another height.

import { hold, READER } from "./scroll-anchor.js";

const LINE = 0.36; // of the window, from its top: in the band where a scene counts as read (story/read-scene.js)
const READ = ".page-body, .page-story";
const SETTLES = 150; // ms after a scroll, or after something has become another height

/**
 * @typedef {{ element: Element; share: number }[]} ReadingPlace from the smallest element outwards: one that is
 *   drawn anew in another width is another one then; `share` of its height, from its top to the line
 */

/** Whether an element stays where it is while the page scrolls. @param {Element} element */
const isStuck = (element) => ["sticky", "fixed"].includes(getComputedStyle(element).position);

/**
 * What is read now; null where the line lies in none of what is read.
 *
 * @returns {ReadingPlace | null}
 */
export function placeNow() {
  const line = LINE * innerHeight;
  for (const inner of document.elementsFromPoint(innerWidth / 2, line)) {
    const around = inner.closest(READ);
    if (!around) continue;
    const chain = [];
    for (let one = inner; one !== around && one.parentElement; one = one.parentElement) chain.push(one);
    if (chain.some(isStuck)) continue;
    const tall = [...chain, around].map((element) => ({ element, box: element.getBoundingClientRect() }));
    return tall
      .filter(({ box }) => box.height > 0)
      .map(({ element, box: { top, height } }) => ({ element, share: (line - top) / height }));
  }
  return null;
}

/** Scrolls so that a place is read again. @param {ReadingPlace} place */
export function bring(place) {
  for (const { element, share } of place) {
    const { top, height } = element.getBoundingClientRect();
    if (!height) continue; // it is gone, or not shown
    scrollBy({ top: top + share * height - LINE * innerHeight, behavior: "instant" });
    return;
  }
}

/** Keeps the place where the window becomes another width, as a phone does that is turned. */
export function keepPlace() {
  const width = () => document.documentElement.clientWidth;
  /** @type {ReadingPlace | null} */
  let place = null;
  let wide = width();
  let turned = false; // since the reader last did something: it is still the place from before
  let timer = 0;
  const note = () => {
    if (width() === wide && !turned) place = scrollY > 0 ? placeNow() : null;
  };
  const noteSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(note, SETTLES);
  };
  addEventListener("scroll", noteSoon, { passive: true });
  new ResizeObserver(noteSoon).observe(document.body);
  const moved = () => {
    turned = false;
    noteSoon();
  };
  for (const event of READER) addEventListener(event, moved, { capture: true, passive: true });
  addEventListener("resize", () => {
    if (width() === wide) return;
    wide = width();
    const kept = place;
    turned = kept !== null;
    if (kept) hold(() => bring(kept), document.body);
  });
}
