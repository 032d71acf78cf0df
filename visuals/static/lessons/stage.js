// The stage: the token strip and one panel, alone on the screen, as large as they fit; what is taller than the screen,
// page by page.

import { freeOf, pagesOf, partsOf } from "./pages.js";

// px of the smallest text: as panels have it, as a hall has it, as it needs it at least; a screen's width
const [PLAIN, LARGE, LEGIBLE, WIDE] = [14, 24, 22, 1280];
const LEAST = 0.45; // of its size, a drawing that would be taller than the screen
const EDGE = 2; // px around a page, for what has a frame
const GAP = 8; // px between the panel and the edges of its room

/**
 * The sizes to try, from double (at 1280 px; more on a larger screen) to that at which no text is under 24 px,
 * then, for a part that is taller than the screen, to 22 px, and down to how the page has it. A telephone has it so
 * from the start.
 *
 * @param {number} width of the window
 * @returns {{ large: number[]; legible: number[]; smaller: number[] }}
 */
export function sizesFor(width) {
  const most = Math.max(1, Math.min(3, (2 * width) / WIDE));
  const [large, legible] = [LARGE, LEGIBLE].map((size) =>
    Math.min(most, Math.max(1, (size / PLAIN) * Math.min(1, width / WIDE))),
  );
  const between = (from, to, steps) => Array.from({ length: steps }, (_, i) => from + ((to - from) * i) / (steps - 1));
  return {
    large: [...new Set(between(most, large, 3))],
    legible: legible < large ? [legible] : [],
    smaller: [...new Set(between(legible, 1, 4))].slice(1),
  };
}

const PATIENCE = 1500; // ms until a panel is shown as far as it is

const frame = () =>
  new Promise((done) => {
    requestAnimationFrame(() => done());
  });
const SCROLLERS = ".gp-list, .gp-scroll, .ch-scroll, .ch-wide, .kv-scroll, .mn-scroll, .ov-scroll, .wy-room";

/** @typedef {ReturnType<typeof pagesOf> & { wide?: boolean }} Divided `wide`: whether a part has to be scrolled */

/**
 * @param {import("../types.d.ts").Glass} glass
 * @param {HTMLElement} bar of the lesson, at the lower edge
 * @param {(page: number, pages: number) => void} tell which page of the panel is shown
 */
export function createStage(glass, bar, tell) {
  const { body } = document;
  let section = null;
  let part = "";
  let turn = 0; // which fitting is the newest
  let size = 1;
  /** @type {Divided} */
  let found = { pages: [[0, 0]], first: 0, cut: false };
  let page = 0;
  const stands = () => ["shown", "again"].includes(body.dataset.lesson); // again: shown, while it is fitted once more
  const inner = () => section?.querySelector(".gp-body") ?? null;

  function enlarge(factor) {
    size = factor;
    body.style.setProperty("--lesson-size", factor.toFixed(3));
    const room = inner() ? Math.floor(roomFor(inner())) : undefined;
    if (room) body.style.setProperty("--lesson-room", `${room}px`);
    glass.enlarge(factor, room);
  }
  function release() {
    const box = inner();
    if (!box) return;
    box.style.height = box.style.overflow = "";
    box.scrollTop = 0;
  }
  const unshrink = () => {
    for (const one of inner()?.querySelectorAll("canvas, svg") ?? []) one.style.zoom = "";
  };

  /** How tall the panel's body may be, in its own pixels. */
  function roomFor(box) {
    const [outer, place] = [section.getBoundingClientRect(), box.getBoundingClientRect()];
    return Math.max(40, (innerHeight - bar.offsetHeight - GAP - place.top - (outer.bottom - place.bottom)) / size);
  }

  /**
   * Makes drawings that are taller than the room, or than what the heading above them leaves of it, as tall as
   * that; what is read stays as large as it is.
   */
  function shrink() {
    const box = inner();
    if (!box) return;
    const room = roomFor(box);
    const free = freeOf(partsOf(box, size));
    const { top } = box.getBoundingClientRect();
    const drawings = [...box.querySelectorAll("canvas, svg")].map((one) => {
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
   * How the panel divides at this size.
   *
   * @returns {Divided}
   */
  function divide() {
    const box = inner();
    if (!box) return { pages: [[0, 0]], first: 0, cut: false };
    const place = box.getBoundingClientRect();
    const room = roomFor(box);
    const anchor = part ? box.querySelector(part) : null;
    const parts = partsOf(box, size);
    const divided = pagesOf(parts, room, anchor ? (anchor.getBoundingClientRect().top - place.top) / size : 0);
    const wide = [...section.querySelectorAll(SCROLLERS)].some((one) => one.scrollWidth > one.clientWidth + 2);
    return { ...divided, wide };
  }

  /** As `fit`, for what is on the stage already: about where it was. */
  async function again() {
    if (!stands()) return;
    body.dataset.lesson = "again";
    const [{ pages }, at] = [found, page];
    const share = pages[at][0] / (pages.at(-1)[1] || 1);
    if (!(await fit()) || at === 0) return;
    const there = share * found.pages.at(-1)[1];
    turnTo(found.pages.findLastIndex(([top]) => top <= there + 1));
  }

  /**
   * Finds the largest size at which all fits, else at which no part is cut.
   *
   * @returns {Promise<boolean>} false where another took its place
   */
  async function fit() {
    const mine = (turn += 1);
    unwatch();
    release();
    unshrink();
    body.style.setProperty("--lesson-bar", `${bar.offsetHeight}px`);
    const { large, legible, smaller } = sizesFor(innerWidth);
    const least = legible[0] ?? large.at(-1);
    body.style.setProperty("--lesson-strip", least.toFixed(3));
    /** @type {((one: Divided) => boolean)[]} */
    const fits = [(one) => !one.cut && !one.wide && one.pages.length === 1, (one) => !one.cut && !one.wide];
    /** @type {[number, Divided][]} */
    const tried = [];
    /** @type {[number[], (one: Divided) => boolean][]} */
    const plan = [
      [large, fits[0]],
      [legible, fits[1]],
      [smaller, fits[1]],
    ];
    for (const [sizes, good] of plan) {
      const shrinks = sizes.length > 0 && sizes !== smaller;
      if (shrinks) unshrink();
      for (const factor of sizes) {
        enlarge(factor);
        for (let i = 0; i < 3; i++) await frame(); // laid out, drawn for its width, laid out with that
        if (mine !== turn || !section) return false;
        tried.push([factor, divide()]);
        if (good(tried.at(-1)[1])) return shown(tried.at(-1));
      }
      if (shrinks) {
        // its smallest: better several pages of it, with smaller drawings, than small print
        shrink();
        tried.push([size, divide()]);
      }
      const last = tried.at(-1);
      if (fits[1](last[1])) return shown(last);
    }
    enlarge(least);
    for (let i = 0; i < 3; i++) await frame();
    return mine === turn && section ? shown([least, divide()]) : false;
  }

  /** @param {[number, Divided]} tried the size, and how the panel divides at it */
  function shown([, divided]) {
    found = divided;
    turnTo(found.first);
    body.dataset.lesson = "shown";
    heights = heightsNow();
    watch();
    return true;
  }

  /** Shows one page of the panel. */
  function turnTo(to) {
    const box = inner();
    page = Math.max(0, Math.min(to, found.pages.length - 1));
    tell(page, found.pages.length);
    if (!box) return;
    if (found.pages.length === 1 && !found.cut) return release();
    release();
    const [top, bottom] = found.pages[page];
    const before = found.pages[page - 1]?.[1] ?? 0;
    // it scrolls no further than its ends
    const [from, until] = [Math.max(before, top - EDGE), Math.min(box.scrollHeight, bottom + EDGE)];
    box.style.overflow = "hidden";
    box.style.height = `${until - from}px`;
    box.scrollTop = from;
  }

  const heightsNow = () => [...(inner()?.children ?? [])].map((one) => Math.round(one.offsetHeight)).join();
  let heights = "";
  /** What came later made the panel another height: divided anew, once it rests. */
  const grown = new ResizeObserver(() => {
    if (body.dataset.lesson !== "shown" || heightsNow() === heights) return;
    heights = heightsNow();
    requestAnimationFrame(() => {
      if (section && body.dataset.lesson === "shown") renew();
    });
  });
  const added = new MutationObserver(() => watch());
  function watch() {
    grown.observe(section);
    for (const one of inner()?.children ?? []) grown.observe(one);
    if (inner()) added.observe(inner(), { childList: true });
  }
  function unwatch() {
    grown.disconnect();
    added.disconnect();
  }
  function renew() {
    const at = found.pages[page]?.[0] ?? 0;
    release();
    const divided = divide();
    const { large, legible } = sizesFor(innerWidth);
    const smallest = size <= (legible[0] ?? large.at(-1)) + 0.01;
    // it may fit when it is smaller
    if ((!smallest && divided.pages.length > found.pages.length) || (divided.cut && !found.cut)) return void again();
    const keep = divided.pages.findIndex(([top, bottom]) => at >= top - 1 && at < bottom);
    const first = part || page > 0 ? keep : divided.first;
    found = { ...divided, first: divided.first };
    turnTo(Math.max(0, first));
  }

  /**
   * @param {string} kind of a panel whose chapter is open
   * @param {string} [from] ".name" of the part to begin at
   */
  function show(kind, from = "") {
    hide();
    glass.present(kind);
    section = document.querySelector(`section.glass-panel[data-kind="${kind}"]`);
    part = from;
    page = 0;
    body.dataset.lesson = "coming";
    section?.classList.add("is-presented");
    return ready().then(() => fit());
  }
  /** Until the panel has something in it, and nothing that it asked for is under way; not for ever. */
  async function ready() {
    const [mine, until] = [section, performance.now() + PATIENCE];
    while (section === mine && mine && performance.now() < until) {
      if (
        inner()?.childElementCount &&
        mine.dataset.value !== undefined &&
        !mine.hasAttribute("data-loading") &&
        !glass.asking()
      )
        return;
      await frame();
    }
  }

  /** Another view is under way: what is on the stage is not fitted any more. */
  function coming() {
    turn += 1;
    unwatch();
    body.dataset.lesson = "coming";
  }

  function hide() {
    unwatch();
    release();
    unshrink();
    section?.classList.remove("is-presented");
    section = null;
  }

  /** Leaves the page as it was. */
  function end() {
    turn += 1;
    hide();
    delete body.dataset.lesson;
    glass.present(null);
    enlarge(1);
  }
  return { show, again, end, coming, turn: (by) => turnTo(page + by) };
}
