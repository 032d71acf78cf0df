// The stage: the token strip and one panel, alone on the screen, as large as they fit; what is taller than the screen,
// page by page.

import { panelOf } from "../panel-parts.js";
import { createFitting, frame } from "./fit.js";
import { createPresented, onePage } from "./presented.js";
import { fineness, stageWidth } from "./column.js";
import { leastLegible, sizesFor } from "./sizes.js";

const PATIENCE = 1500; // ms in which nothing comes, until a panel is shown as far as it is
const CALM = 3; // frames in which nothing is asked for: between two questions is one, too

/** @typedef {ReturnType<typeof createPresented>} Presented */

/**
 * Until the panel has the part that is shown, and nothing that it asked for is under way, unless it says by itself
 * how far that is (`data-underway`). A part that is not there yet is waited for as long as anything is under way
 * for it: the rest of the panel in its place would be another view.
 *
 * @param {import("../types.d.ts").Glass} glass
 * @param {Presented} panel
 */
async function ready(glass, panel) {
  const mine = panel.section();
  if (!mine) return;
  let until = performance.now() + PATIENCE;
  const isFilled = () => panel.hasPart() && mine.dataset.value !== undefined && !mine.hasAttribute("data-loading");
  const isUnderWay = () => glass.asking() > 0 || mine.hasAttribute("data-fetching") || glass.state.status !== "idle";
  for (let calm = 0; panel.section() === mine && performance.now() < until; await frame()) {
    calm = isFilled() && (!glass.asking() || mine.querySelector("[data-underway]")) ? calm + 1 : 0;
    if (calm === CALM) return;
    if (!isFilled() && isUnderWay()) until = performance.now() + PATIENCE;
  }
}

/**
 * Calls `changed` once the parts of the panel are of other heights than they were.
 *
 * @param {Presented} panel
 * @param {() => boolean} isShown
 * @param {() => void} changed
 */
function watchHeights(panel, isShown, changed) {
  const children = () => /** @type {HTMLElement[]} */ ([...(panel.inner()?.children ?? [])]);
  const heightsNow = () =>
    children()
      .map((one) => Math.round(one.offsetHeight))
      .join();
  let heights = "";
  const grown = new ResizeObserver(() => {
    if (!isShown() || heightsNow() === heights) return;
    heights = heightsNow();
    requestAnimationFrame(() => {
      if (panel.section() && isShown()) changed();
    });
  });
  const added = new MutationObserver(() => observe());
  function observe() {
    const [section, inner] = [panel.section(), panel.inner()];
    for (const one of [...(section ? [section] : []), ...children()]) grown.observe(one);
    if (inner) added.observe(inner, { childList: true });
  }
  return {
    start() {
      heights = heightsNow();
      observe();
    },
    stop() {
      grown.disconnect();
      added.disconnect();
    },
  };
}

/** Whether a panel could not be read in a hall if it were smaller. @param {number} size */
const isLeast = (size) => size <= leastLegible(sizesFor(stageWidth(), fineness())) + 0.01;

/**
 * Where the last page ends.
 *
 * @param {[number, number][]} pages
 */
const endOf = (pages) => Math.max(0, ...pages.map(([, bottom]) => bottom));

/**
 * The page that a height is on; the first where it is on none.
 *
 * @param {[number, number][]} pages
 * @param {number} y
 */
const pageAt = (pages, y) =>
  Math.max(
    0,
    pages.findIndex(([top, bottom]) => y >= top - 1 && y < bottom),
  );

/**
 * Fits once more what is on the stage already.
 *
 * @param {{ top: HTMLElement; bar: HTMLElement }} edges of the lesson
 * @param {{ fit: () => Promise<boolean>; placeNow: () => () => void; divideAgain: () => void }} stage `placeNow`:
 *   gives what turns to where the reader is now
 */
function createRefit({ top, bar }, { fit, placeNow, divideAgain }) {
  const { dataset } = document.body;
  const edges = () => [innerWidth, innerHeight, top.offsetHeight, bar.offsetHeight].join();
  let fittedIn = "";
  const nothing = () => {};
  let waits = nothing; // what is done once it is fitted
  const drop = () => void (waits = nothing);

  /** About where it was. */
  async function again() {
    if (dataset.lesson !== "shown" && dataset.lesson !== "again") return;
    dataset.lesson = "again"; // shown, while it is fitted once more
    const turnBack = placeNow();
    if (!(await fit())) return;
    turnBack();
    const act = waits;
    drop();
    act();
  }
  return {
    again,
    drop,
    isFitted: () => void (fittedIn = edges()),
    /** What is said of the view is another. It stays as it is, unless that leaves it another room. */
    async said() {
      const isSame = () => dataset.lesson === "shown" && edges() === fittedIn;
      if (!isSame()) return again();
      for (let i = 0; i < 2; i++) await frame(); // what was covered is drawn
      return isSame() ? divideAgain() : undefined;
    },
    /**
     * Does something at once, or where the panel is being fitted again once it is: until then nobody knows its
     * screens. Of several the last.
     *
     * @param {() => void} act
     */
    then(act) {
      if (dataset.lesson === "again") waits = act;
      else act();
    },
  };
}

/**
 * Whether a panel divides so much worse than it did that it may fit better when it is smaller.
 *
 * @type {(now: ReturnType<typeof onePage>, before: ReturnType<typeof onePage>, size: number) => boolean}
 */
const isWorse = (now, before, size) =>
  (!isLeast(size) && now.pages.length > before.pages.length) || (now.cut && !before.cut);

/** The page at a share of all of it. @type {(pages: [number, number][], share: number) => number} */
const pageBy = (pages, share) => pages.findLastIndex(([top]) => top <= share * endOf(pages) + 1);

/**
 * @param {import("../types.d.ts").Glass} glass
 * @param {{ top: HTMLElement; bar: HTMLElement }} edges of the lesson: at the upper edge, and at the lower
 * @param {(page: number, pages: number) => void} tell which page of the panel is shown
 */
export function createStage(glass, { top, bar }, tell) {
  const [{ body }, panel] = [document, createPresented(glass, bar)];
  const fitted = createFitting(top);
  const refit = createRefit({ top, bar }, { fit, placeNow, divideAgain });
  let fitting = 0; // which is the newest
  let [found, page] = [onePage(), 0];
  let [isNew, atEnd] = [true, false]; // not fitted yet; at its last screen, however many, until one turns
  const isShown = () => body.dataset.lesson === "shown";
  const heights = watchHeights(panel, isShown, divideAgain);

  /** Gives what turns to about where the reader is now, once the panel is divided anew. */
  function placeNow() {
    const [share, stays] = [found.pages[page][0] / (endOf(found.pages) || 1), page === 0 || atEnd];
    return () => void (stays || turnTo(pageBy(found.pages, share)));
  }

  /** @returns {Promise<boolean>} false where another fitting took its place */
  async function fit() {
    const mine = (fitting += 1);
    heights.stop();
    panel.release();
    panel.unshrink();
    panel.furnish();
    body.style.setProperty("--lesson-bar", `${bar.offsetHeight}px`);
    const divided = await fitted.fit(panel, isNew, () => mine === fitting);
    if (!divided) return false;
    [found, isNew] = [divided, false];
    refit.isFitted();
    turnTo(atEnd ? Infinity : 0);
    body.dataset.lesson = "shown";
    heights.start();
    return true;
  }

  /** Shows one page of the panel; whether it is another. @param {number} to */
  function turnTo(to) {
    const before = page;
    page = Math.max(0, Math.min(to, found.pages.length - 1));
    tell(page, found.pages.length);
    panel.release();
    if (panel.inner() && (found.pages.length > 1 || found.cut || found.partial)) panel.clip(found.pages, page);
    return page !== before;
  }

  /** What came later made the panel another height. */
  function divideAgain() {
    const at = found.pages[page]?.[0] ?? 0;
    panel.release();
    const divided = panel.divide();
    if (isWorse(divided, found, panel.size())) return void refit.again();
    found = divided;
    turnTo(atEnd ? Infinity : page === 0 ? 0 : pageAt(divided.pages, at)); // where it begins, unless turned on
  }

  /**
   * @param {string} kind of a panel whose chapter is open
   * @param {import("./presented.js").Extent} extent what of it
   * @param {boolean} last whether it opens at its last screen
   */
  async function show(kind, extent, last) {
    hide();
    glass.present(kind);
    [page, atEnd, isNew] = [0, last, true];
    body.dataset.lesson = "coming";
    panel.take(panelOf(kind), extent);
    await ready(glass, panel);
    return fit();
  }

  /** Another view is under way: what is on the stage is not fitted any more. */
  function coming() {
    fitting += 1;
    refit.drop();
    heights.stop();
    body.dataset.lesson = "coming";
  }

  function hide() {
    heights.stop();
    panel.release();
    panel.unshrink();
    panel.take(null);
  }

  /** Leaves the page as it was. */
  function end() {
    fitting += 1;
    refit.drop();
    hide();
    delete body.dataset.lesson;
    glass.present(null);
    panel.enlarge(1);
  }
  /** @type {(by: number) => boolean} */
  function turn(by) {
    atEnd = false;
    return isShown() && turnTo(page + by);
  }
  return { show, again: refit.again, said: refit.said, then: refit.then, isWhole: panel.isWhole, end, coming, turn };
}
