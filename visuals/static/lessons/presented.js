// The one panel on the stage: how large it is, how tall it may be, and how it divides into pages at that size.

import { asksIn } from "./answer.js";
import { fineness, isColumn, stageWidth } from "./column.js";
import { createLegend } from "./legend.js";
import { lettersFor } from "./sizes.js";
import { blocksOf, freeOf, headsOf, pagesOf, partsOf } from "./pages.js";

const LEAST = 0.45; // of its size, a drawing that would be taller than the screen
const [EDGE, SEEN] = [2, 3]; // px around a page, for what has a frame; and at most on the screen, or more would show
const GAP = 8; // px between the panel and the edges of its room
// Of the window's height, what a picture may take that stands in a column with its words: upright, and lying.
const [OF_COLUMN, OF_LYING] = [0.6, 0.4];
const SCROLLERS = ".gp-list, .gp-scroll, .ch-scroll, .ch-wide, .kv-scroll, .mn-scroll, .ov-scroll, .wy-room";

/**
 * @typedef {ReturnType<typeof pagesOf> & {
 *   wide?: boolean;
 *   partial?: boolean;
 *   crowded?: boolean;
 *   low?: boolean;
 * }} Divided
 *   `wide`: whether a part has to be scrolled; `partial`: whether the panel has more than is shown of it; `crowded`:
 *   whether a drawing leaves out names (`data-crowded`), as letters of this size have no room for all; `low`:
 *   whether letters of this size make a chart lower than it need be (`data-low`)
 *
 * @typedef {{ part: string; until: string }} Extent ".name" of the part that a view begins at, and of that at which
 *   the next one does; "": at the panel's top, to its end
 */

/** @returns {Divided} of a panel that has nothing in it */
export const onePage = () => ({ pages: [[0, 0]], cut: false });

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
 * Whether a page that begins at a height has rows of a table at its top, whose head is on the page before.
 *
 * @param {ReturnType<typeof headsOf>[number]} head
 * @param {number} top
 */
const isWithin = ({ from, to }, top) => top > from + 1 && top < to - 1;

/**
 * What of a panel's parts a view shows: from its own part on, as near as that is between two of them, to where the
 * next view begins, and no more than the part where that holds several things.
 *
 * @param {HTMLElement} box the body
 * @param {[number, number][]} parts of all of it
 * @param {Extent} extent
 * @param {number} size how large it is shown
 */
function extentOf(box, parts, { part, until }, size) {
  const { top } = box.getBoundingClientRect();
  const free = freeOf(parts);
  /** Where a part begins, and it ends. @param {string} name */
  function placeOf(name) {
    const one = name ? box.querySelector(name) : null;
    if (!one?.getClientRects().length) return null;
    const place = one.getBoundingClientRect();
    const from = (place.top - top) / size;
    const first = Math.min(...parts.map(([at]) => at).filter((at) => at >= from - 1)); // below its edge
    const end = one.childElementCount > 1 ? (place.bottom - top) / size : Infinity;
    return { from: free.findLast((y) => y <= first + 1) ?? first, end };
  }
  const [own, next] = [placeOf(part), placeOf(until)];
  const from = own?.from ?? -Infinity;
  const to = Math.min(own?.end ?? Infinity, next && next.from > from ? next.from : Infinity);
  return parts.filter(([at]) => at >= from - 1 && at < to - 1);
}

/**
 * Whether the part that a view shows is there; of one that shows all, whether anything is.
 *
 * @param {HTMLElement | null} box the body
 * @param {Extent} extent
 */
const isThere = (box, { part }) =>
  Boolean(part ? box?.querySelector(part)?.getClientRects().length : box?.childElementCount);

/**
 * Whether a part of a panel has to be scrolled across.
 *
 * @param {HTMLElement} section
 * @param {HTMLElement} box its body
 */
const hasWide = (section, box) =>
  [section, box, ...section.querySelectorAll(SCROLLERS)].some((one) => one.scrollWidth > one.clientWidth + 2);

/**
 * Shows all of a body, from its top.
 *
 * @param {HTMLElement} box the body
 * @param {number} size how large it is shown
 */
function unclip(box, size) {
  box.style.height = box.style.overflow = "";
  box.scrollTop = 0;
  for (const { head } of headsOf(box, size)) head.style.transform = "";
}

/**
 * Whether a drawing is seen in a body that is clipped to one page.
 *
 * @param {HTMLElement} box the body
 */
function hasDrawing(box) {
  const page = box.getBoundingClientRect();
  return drawingsOf(box).some((one) => {
    const { top, bottom, height } = one.getBoundingClientRect();
    return height > 0 && top < page.bottom - EDGE * 2 && bottom > page.top + EDGE * 2;
  });
}

/**
 * Shows one page of a body alone; a table that begins on an earlier one has its head above the rows here.
 *
 * @param {HTMLElement} box the body
 * @param {Divided["pages"]} pages
 * @param {number} at
 * @param {number} size how large it is shown
 * @returns {boolean} whether it has a drawing
 */
function clipTo(box, pages, at, size) {
  const [top, bottom] = pages[at];
  const before = pages[at - 1]?.[1] ?? 0;
  const cut = headsOf(box, size).filter((one) => isWithin(one, top));
  const above = Math.max(0, ...cut.map(({ height }) => height));
  const edge = Math.min(EDGE, SEEN / size);
  // it scrolls no further than its ends
  const [from, until] = [Math.max(above ? 0 : before, top - above - edge), Math.min(box.scrollHeight, bottom + edge)];
  box.style.overflow = "hidden";
  box.style.height = `${until - from}px`;
  box.scrollTop = from;
  for (const { head, top: own } of cut) head.style.transform = `translateY(${from - own}px)`;
  return hasDrawing(box);
}

/** What a low chart may take of a room more than it has. @type {(divided: Divided, room: number) => number} */
const spareOf = ({ low, pages }, room) => (low && pages.length === 1 ? Math.floor(room - pages[0][1]) - 1 : 0);

const CHART = 300; // px of its own that a chart of plotly.js may have at least, or it is low

/** Whether a chart that is shown is lower than it need be. @param {Element} shown */
const isLow = (shown) =>
  [...shown.querySelectorAll("[data-low]")].some((one) => one.getClientRects().length > 0) ||
  [...shown.querySelectorAll(".gp-chart")].some(({ clientHeight: high }) => high > 0 && high < CHART);

/**
 * How tall a panel's body may be, in its own pixels.
 *
 * @param {{ section: HTMLElement; box: HTMLElement; bar: HTMLElement }} edges the panel, its body, and what is
 *   below
 * @param {number} size how large it is shown
 */
function roomIn({ section, box, bar }, size) {
  if (isColumn()) return ((innerWidth > innerHeight ? OF_LYING : OF_COLUMN) * innerHeight) / size;
  const [outer, place] = [section.getBoundingClientRect(), box.getBoundingClientRect()];
  return Math.max(40, (innerHeight - bar.offsetHeight - GAP - place.top - (outer.bottom - place.bottom)) / size);
}

/**
 * How a panel divides.
 *
 * @param {{ section: HTMLElement; box: HTMLElement; room: number }} of the panel, its body, and how tall a page may
 *   be
 * @param {Extent} extent what of it
 * @param {number} size how large it is shown
 * @returns {Divided}
 */
function dividedAs({ section, box, room }, extent, size) {
  section.toggleAttribute("data-asks", asksIn(section, extent.part)); // what comes late may mark its answer, too
  const all = partsOf(box, size);
  const boxes = extentOf(box, all, extent, size);
  const heads = headsOf(box, size);
  const divided = pagesOf(boxes, room, {
    blocks: blocksOf(box, size, room),
    repeated: (top) => Math.max(0, ...heads.filter((one) => isWithin(one, top)).map(({ height }) => height)),
  });
  const shown = (extent.part && section.querySelector(extent.part)) || section;
  const crowded = shown.querySelector("[data-crowded]") !== null;
  const partial = boxes.length < all.length || box.scrollHeight > room; // if only of what is empty below its parts
  return { ...divided, wide: hasWide(section, box), partial, crowded, low: isLow(shown) };
}

/**
 * @param {import("../types.d.ts").Glass} glass
 * @param {HTMLElement} bar of the lesson, at the lower edge
 */
export function createPresented(glass, bar) {
  const { body } = document;
  /** @type {HTMLElement | null} */
  let section = null;
  /** @type {Extent} */
  let extent = { part: "", until: "" };
  let size = 1;
  const legend = createLegend();
  /** @returns {HTMLElement | null} */
  const inner = () => section?.querySelector(".gp-body") ?? null;

  /** @param {HTMLElement} box the body */
  const roomFor = (box) => roomIn({ section: section ?? box, box, bar }, size);
  const letters = () => lettersFor(stageWidth(), fineness());
  /** @param {number} factor */
  function enlarge(factor) {
    size = factor;
    body.style.setProperty("--lesson-size", factor.toFixed(3));
    const box = inner();
    const room = box ? Math.floor(roomFor(box)) : undefined;
    if (room) body.style.setProperty("--lesson-room", `${room}px`);
    glass.enlarge(factor, room, letters());
  }
  /** Gives a low chart what stays free below the one page; whether there is any. @param {Divided} divided */
  function stretch(divided) {
    const room = Math.floor(roomFor(inner() ?? body));
    const spare = spareOf(divided, room);
    if (spare > 0) glass.enlarge(size, room + spare, letters());
    return spare > 0;
  }

  /** Shows the body as tall as it is, from its top. */
  function release() {
    const box = inner();
    legend.above(true);
    if (box) unclip(box, size);
  }
  /** @type {(pages: Divided["pages"], at: number) => void} shows one page alone */
  function clip(pages, at) {
    const box = inner();
    if (box) legend.above(clipTo(box, pages, at, size));
  }

  function shrink() {
    const box = inner();
    if (box) shrinkDrawings(box, roomFor(box), size);
  }
  function unshrink() {
    const box = inner();
    for (const one of box ? drawingsOf(box) : []) one.style.zoom = "";
  }

  /** How the panel divides at this size. @returns {Divided} */
  function divide() {
    const box = inner();
    return box && section ? dividedAs({ section, box, room: roomFor(box) }, extent, size) : onePage();
  }

  /**
   * @param {HTMLElement | null} next
   * @param {Extent} [shown]
   */
  function take(next, shown = { part: "", until: "" }) {
    legend.drop();
    section?.classList.remove("is-presented");
    section?.removeAttribute("data-shown-part");
    [section, extent] = [next, shown];
    section?.classList.add("is-presented");
    if (section && shown.part) section.dataset.shownPart = shown.part.slice(1);
  }
  /** What is above all its pages. */
  function furnish() {
    if (!section) return;
    const shown = extent.part ? section.querySelector(extent.part) : null;
    section.toggleAttribute("data-apart-shown", shown?.matches("[data-apart]") ?? false);
    legend.lift(section, extent.part);
  }
  return {
    take,
    furnish,
    inner,
    hasPart: () => isThere(inner(), extent),
    enlarge,
    stretch,
    release,
    clip,
    shrink,
    unshrink,
    divide,
    section: () => section,
    isWhole: () => !section?.querySelector("[data-underway]"), // it has all that it measures
    size: () => size,
    room: () => roomFor(inner() ?? body),
  };
}
