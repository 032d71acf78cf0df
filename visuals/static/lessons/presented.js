// The one panel on the stage: how large it is, how tall it may be, and how it divides into pages at that size.

import { createLegend } from "./legend.js";
import { freeOf, pagesOf, partsOf } from "./pages.js";

const LEAST = 0.45; // of its size, a drawing that would be taller than the screen
const EDGE = 2; // px around a page, for what has a frame
const GAP = 8; // px between the panel and the edges of its room
const SCROLLERS = ".gp-list, .gp-scroll, .ch-scroll, .ch-wide, .kv-scroll, .mn-scroll, .ov-scroll, .wy-room";

/** @typedef {ReturnType<typeof pagesOf> & { wide?: boolean }} Divided `wide`: whether a part has to be scrolled */

/** @returns {Divided} of a panel that has nothing in it */
export const onePage = () => ({ pages: [[0, 0]], first: 0, cut: false });

/**
 * @param {HTMLElement} box
 * @returns {(HTMLElement | SVGElement)[]}
 */
function drawingsOf(box) {
  /** @type {NodeListOf<HTMLElement | SVGElement>} */
  const found = box.querySelectorAll("canvas, svg");
  return [...found];
}

/**
 * Makes drawings that are taller than the room, or than what the heading above them leaves of it, as tall as that;
 * what is read stays as large as it is.
 *
 * @param {HTMLElement} box the panel's body
 * @param {number} room in its own pixels
 * @param {number} size how large it is shown
 */
function shrinkDrawings(box, room, size) {
  const free = freeOf(partsOf(box, size));
  const { top } = box.getBoundingClientRect();
  const drawings = drawingsOf(box).map((one) => {
    const place = one.getBoundingClientRect();
    const from = (place.top - top) / size;
    const high = place.height / size;
    const above = from - (free.findLast((y) => y <= from + 1) ?? from);
    return { one, high, most: above > 0 && room - above > LEAST * high ? room - above : room };
  });
  for (const { one, high, most } of drawings)
    if (high > most) one.style.zoom = Math.max(LEAST, (most - 1) / high).toFixed(3);
}

/**
 * The page on which a part of a panel begins; none: Infinity.
 *
 * @param {HTMLElement | null} box the body
 * @param {string} name ".name" of the part
 * @param {number} size how large it is shown
 * @param {Divided["pages"]} pages
 */
function pageOf(box, name, size, pages) {
  const one = box?.querySelector(name);
  if (!box || !one?.getClientRects().length) return Infinity;
  const y = (one.getBoundingClientRect().top - box.getBoundingClientRect().top) / size + box.scrollTop;
  return pages.findLastIndex(([top]) => top <= y + 1);
}

/**
 * @param {import("../types.d.ts").Glass} glass
 * @param {HTMLElement} bar of the lesson, at the lower edge
 */
export function createPresented(glass, bar) {
  const { body } = document;
  /** @type {HTMLElement | null} */
  let section = null;
  let part = "";
  let size = 1;
  const legend = createLegend();
  /** @returns {HTMLElement | null} */
  const inner = () => section?.querySelector(".gp-body") ?? null;

  /**
   * How tall the panel's body may be, in its own pixels.
   *
   * @param {HTMLElement} box the body
   */
  function roomFor(box) {
    const [outer, place] = [(section ?? box).getBoundingClientRect(), box.getBoundingClientRect()];
    return Math.max(40, (innerHeight - bar.offsetHeight - GAP - place.top - (outer.bottom - place.bottom)) / size);
  }
  /** @param {number} factor */
  function enlarge(factor) {
    size = factor;
    body.style.setProperty("--lesson-size", factor.toFixed(3));
    const box = inner();
    const room = box ? Math.floor(roomFor(box)) : undefined;
    if (room) body.style.setProperty("--lesson-room", `${room}px`);
    glass.enlarge(factor, room);
  }

  /** Shows the body as tall as it is, from its top. */
  function release() {
    const box = inner();
    if (!box) return;
    box.style.height = box.style.overflow = "";
    box.scrollTop = 0;
  }
  /**
   * Shows one page alone.
   *
   * @param {Divided["pages"]} pages
   * @param {number} at
   */
  function clip(pages, at) {
    const box = inner();
    if (!box) return;
    const [top, bottom] = pages[at];
    const before = pages[at - 1]?.[1] ?? 0;
    // it scrolls no further than its ends
    const [from, until] = [Math.max(before, top - EDGE), Math.min(box.scrollHeight, bottom + EDGE)];
    box.style.overflow = "hidden";
    box.style.height = `${until - from}px`;
    box.scrollTop = from;
  }

  function shrink() {
    const box = inner();
    if (box) shrinkDrawings(box, roomFor(box), size);
  }
  function unshrink() {
    const box = inner();
    for (const one of box ? drawingsOf(box) : []) one.style.zoom = "";
  }

  /**
   * How the panel divides at this size.
   *
   * @returns {Divided}
   */
  function divide() {
    const box = inner();
    if (!box || !section) return onePage();
    const { top } = box.getBoundingClientRect();
    const [boxes, anchor] = [partsOf(box, size), part ? box.querySelector(part) : null];
    const from = anchor ? (anchor.getBoundingClientRect().top - top) / size : 0; // above all while it is not there
    const begin = Math.min(...boxes.map(([at]) => at).filter((at) => at >= from - 1)); // its first part, below its edge
    const divided = pagesOf(boxes, roomFor(box), begin);
    const wide = [...section.querySelectorAll(SCROLLERS)].some((one) => one.scrollWidth > one.clientWidth + 2);
    return { ...divided, wide };
  }

  /** @param {HTMLElement | null} next */
  function take(next, from = "") {
    legend.drop();
    section?.classList.remove("is-presented");
    [section, part] = [next, from];
    section?.classList.add("is-presented");
  }
  function liftLegend() {
    if (section) legend.lift(section, part);
  }
  return {
    take,
    liftLegend,
    inner,
    enlarge,
    release,
    clip,
    shrink,
    unshrink,
    divide,
    pageOf: (/** @type {string} */ name, /** @type {Divided["pages"]} */ pages) => pageOf(inner(), name, size, pages),
    section: () => section,
    part: () => part,
    size: () => size,
  };
}
