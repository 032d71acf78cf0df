// What of the token strip is scrolled out of sight, and scrolling to a token. The strip stays in view as one row, and
// the chapters below it: the page scrolls past the rest, and what is scrolled to stands below both.

import { h } from "../../dom.js";

/**
 * Says how many chips are scrolled out of sight, and which of the strongest are among them. It measures only where
 * the browser has laid out the page anyway: when the strip was scrolled or resized, or when its first or last chip
 * came into sight or left it.
 *
 * @param {HTMLElement} chips
 * @param {{ list: HTMLElement[] }} built
 * @param {import("../../types.d.ts").Glass} glass
 */
export function createHidden(chips, built, glass) {
  const [above, below] = [h("span", { "aria-hidden": "true" }), h("span", { "aria-hidden": "true" })];
  let [first, end] = [0, 0]; // of the chips in sight
  /** @type {{ t: number; words: string }[]} */
  let strongest = [];
  /**
   * @type {(
   *   element: HTMLElement,
   *   name: "above" | "below",
   *   count: number,
   *   isThere: (t: number) => boolean,
   * ) => void}
   */
  const show = (element, name, count, isThere) => {
    const list = strongest.filter(({ t }) => isThere(t)).map(({ words }) => words);
    const most = list.length ? glass.text("tokens.strongest", { list: list.join(glass.text("why.list")) }) : "";
    const words = count ? glass.text(`tokens.${name}`, { count, most }) : "";
    if (element.textContent !== words) element.textContent = words;
  };
  function say() {
    show(above, "above", first, (t) => t < first);
    show(below, "below", Math.max(0, built.list.length - end), (t) => t >= end);
  }
  function count() {
    const [top, bottom] = [chips.scrollTop, chips.scrollTop + chips.clientHeight];
    const middle = (/** @type {HTMLElement} */ chip) => chip.offsetTop + chip.offsetHeight / 2;
    first = firstWhere(built.list, (chip) => middle(chip) >= top);
    end = firstWhere(built.list, (chip) => middle(chip) > bottom);
    say();
  }
  chips.addEventListener("scroll", count, { passive: true });
  new ResizeObserver(count).observe(chips);
  const ends = new IntersectionObserver(count, { root: chips });
  /** After the chips were replaced, or their words were. */
  function renew() {
    ends.disconnect();
    for (const chip of new Set([built.list[0], built.list[built.list.length - 1]])) ends.observe(chip);
  }
  /** The tokens with the most weight, strongest first. @param {typeof strongest} found */
  function tell(found) {
    strongest = found;
    if (first || end) say(); // once it was measured
  }
  return { element: h("p.gp-note.gp-unseen", null, above, below), renew, tell };
}

/**
 * The first index from which on a condition holds; the length where it never does.
 *
 * @template Item
 * @param {Item[]} list
 * @param {(item: Item) => boolean} holds
 * @returns {number}
 */
function firstWhere(list, holds) {
  let [from, to] = [0, list.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (holds(list[middle])) to = middle;
    else from = middle + 1;
  }
  return from;
}

/**
 * How far a row is scrolled that shows a chip with none cut before it, and the room after the last one that lets
 * any chip be the first: the same wherever the row is scrolled to, so that scrolling does not have the browser lay
 * it out anew.
 *
 * @param {{ left: number; right: number }[]} places of all chips, in their row
 * @param {number} t which is to be seen
 * @param {number} width of the room
 * @param {number} from how far the row is scrolled
 * @returns {{ to: number; after: number }}
 */
export function rowPlace(places, t, width, from) {
  const first = firstWhere(places, ({ left }) => left - EDGE >= from);
  const seen = t >= first && places[t].right + EDGE <= from + width;
  const start = seen
    ? first
    : t < first
      ? t
      : firstWhere(places, ({ left }) => places[t].right - left + 2 * EDGE <= width);
  const after =
    places[places.length - 1].right + EDGE > width
      ? Math.max(...places.map(({ left, right }) => right - left)) + EDGE
      : 0;
  return { to: start === 0 ? 0 : Math.max(0, places[Math.min(start, t)].left - EDGE), after };
}

const EDGE = 4; // px beside a chip, for its frame

/**
 * Scrolls the strip, not the page, until the chip is in view.
 *
 * @param {HTMLElement} chips
 * @param {HTMLElement[]} list its chips
 * @param {number} t which one
 */
export function reveal(chips, list, t) {
  const row = getComputedStyle(chips).flexWrap === "nowrap";
  if (!row) {
    const [top, bottom] = [list[t].offsetTop, list[t].offsetTop + list[t].offsetHeight];
    if (chips.style.paddingInlineEnd) chips.style.paddingInlineEnd = "";
    if (top < chips.scrollTop) chips.scrollTop = top - EDGE;
    else if (bottom > chips.scrollTop + chips.clientHeight) chips.scrollTop = bottom - chips.clientHeight + EDGE;
    return;
  }
  const places = list.map(({ offsetLeft: left, offsetWidth: width }) => ({ left, right: left + width }));
  const { to, after } = rowPlace(places, t, chips.clientWidth, chips.scrollLeft);
  const room = `${EDGE + after}px`;
  if (chips.style.paddingInlineEnd !== room) chips.style.paddingInlineEnd = room;
  if (chips.scrollLeft !== to) chips.scrollLeft = to;
}

const ROW = 48; // px; page.css lays the row out in it

/**
 * The first part of the page below the strip that is shown.
 *
 * @param {HTMLElement} strip
 * @returns {Element | null}
 */
function below(strip) {
  let one = strip.nextElementSibling;
  while (one && !one.getClientRects().length) one = one.nextElementSibling;
  return one;
}

/**
 * Of a strip that sticks (page.css says where it does) only its last ROW pixels could stay in view; once no more is
 * left there it becomes a row of that height, with a margin in the place of the rest, so that nothing on the page
 * moves.
 *
 * @param {HTMLElement} strip
 * @param {() => void} turned called after it became a row, or stands in the page again
 */
export function keepInView(strip, turned) {
  let full = 0; // its height as it stands in the page
  const isSticky = (/** @type {HTMLElement} */ element) => getComputedStyle(element).position === "sticky";

  function look() {
    const holder = strip.parentElement;
    if (!holder) return; // it is not on the page
    const sticks = isSticky(strip);
    const nav = /** @type {HTMLElement | null} */ (holder.querySelector(":scope > .page-nav"));
    const taken = (sticks ? ROW : 0) + (nav && isSticky(nav) ? nav.offsetHeight : 0);
    document.documentElement.style.scrollPaddingTop = taken ? `${taken + 8}px` : "";
    const was = strip.classList.contains("is-row");
    if (!was) full = strip.getBoundingClientRect().height;
    strip.style.setProperty("--strip-past", `${Math.max(0, full - ROW)}px`);
    const gap = parseFloat(getComputedStyle(holder).rowGap) || 0;
    const now = sticks && full > ROW && (below(strip)?.getBoundingClientRect().top ?? Infinity) - gap <= ROW;
    if (now === was) return;
    strip.classList.toggle("is-row", now);
    turned();
  }
  addEventListener("scroll", look, { passive: true });
  addEventListener("resize", look);
  new ResizeObserver(look).observe(strip);
  new MutationObserver(look).observe(document.body, {
    attributes: true,
    attributeFilter: ["data-chapter", "data-lesson"],
  });
}
