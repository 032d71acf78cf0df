// Where a reader was before the page led elsewhere, and the way back there: a button that stands in the corner until it
// is pressed or put away, or the reader goes on to something else.

import { h } from "./dom.js";
import { bring, placeNow } from "./reading-place.js";
import { hold } from "./scroll-anchor.js";

const MOST = 8; // places that are kept

/** @returns {Promise<void>} */
const frame = () =>
  new Promise((done) => {
    requestAnimationFrame(() => done());
  });
/** @param {import("./decode.js").Trace} run */
const textOf = ({ model, tokens }) => JSON.stringify([model.name, tokens.ids]);

/**
 * Gives the keyboard's focus to the first of these that takes it: one may be drawn anew since, or be the page
 * itself.
 *
 * @param {(Element | null)[]} elements
 */
function giveKeys(elements) {
  for (const one of elements) {
    if (!(one instanceof HTMLElement || one instanceof SVGElement) || one === document.body) continue;
    one.focus({ preventScroll: true });
    if (document.activeElement === one) return;
  }
}

/**
 * @typedef {{
 *   chapter: string;
 *   stack: "encoder" | "decoder";
 *   locked: import("./selection.js").Selection;
 *   chosen: boolean;
 *   at: import("./reading-place.js").ReadingPlace | null;
 *   top: number;
 *   focus: Element | null;
 *   text: string | null;
 * }} Place
 *   of a reader on the page; `at`: what is read, by which a way back finds it in a window of another width, too;
 *   `top`: how far the page is scrolled, where that is nothing
 */

/**
 * @typedef {{
 *   here: () => Place;
 *   goTo: (place: Place) => Promise<void>;
 *   remember: () => void;
 *   led: (act: () => void) => void;
 *   isLeading: () => boolean;
 * }} WayBack
 *
 *
 * @typedef {Pick<
 *   import("./types.d.ts").Glass,
 *   "state" | "on" | "open" | "select" | "selectByPage" | "chosen" | "readStack" | "translate"
 * >} Needed
 *   of glass
 * @param {Needed} glass
 * @returns {WayBack}
 */
export function createWayBack(glass) {
  const { state } = glass;
  /** @type {Place[]} */
  const places = [];
  /** @type {Place | null} */
  let coming = null; // the place that is gone to
  let leading = false; // it is the page that opens a chapter
  const button = h("button", {
    "data-text": "page.way_back",
    click: () => {
      const place = places.pop();
      show();
      if (place) goTo(place);
    },
  });
  const away = h("button.page-back-away", { "data-text-label": "page.way_back_away", click: () => forget() }, "×");
  const corner = h("div.page-back", { hidden: "" }, button, away);

  function show() {
    corner.hidden = !places.length;
    if (corner.hidden || corner.isConnected) return;
    document.body.append(corner);
    glass.translate(corner);
  }
  function forget() {
    if (leading) return;
    places.length = 0;
    show();
  }
  /**
   * Has the page open a chapter, which is no choice of the reader's.
   *
   * @param {() => void} act
   */
  function led(act) {
    leading = true;
    act();
    leading = false;
  }
  /**
   * Where the reader is, or is being brought.
   *
   * @returns {Place}
   */
  function here() {
    const place = coming ?? {
      chapter: state.chapter,
      stack: state.stack,
      locked: { ...state.locked },
      chosen: glass.chosen(),
      at: placeNow(),
      top: scrollY,
      focus: document.activeElement,
      text: state.run && textOf(state.run),
    };
    coming = null;
    return place;
  }
  function remember() {
    places.push(here());
    places.splice(0, places.length - MOST);
    show();
  }
  /**
   * Back to a place; in another text than it was in, to its chapter alone.
   *
   * @param {Place} place
   */
  async function goTo(place) {
    const { chapter, stack, locked, chosen, at, top, focus, text } = place;
    coming = place;
    if (chapter !== state.chapter) led(() => glass.open(chapter));
    if (state.run && textOf(state.run) === text) {
      if (stack !== state.stack) glass.readStack(stack);
      (chosen ? glass.select : glass.selectByPage)(locked);
    }
    await frame(); // laid out,
    await frame(); // and drawn
    if (coming !== place) return;
    coming = null;
    hold(() => (at ? bring(at) : scrollTo({ top, behavior: "instant" })), document.body);
    giveKeys([focus, ...(at ?? []).map(({ element }) => element.closest("[tabindex]"))]);
  }
  for (const event of ["begin", "chapter", "run"]) glass.on(event, forget);
  return { here, goTo, remember, led, isLeading: () => leading };
}
