// Marks each term where it first stands: in the lines of the chapter or story that is open, and in each explanation
// that is opened, which is read by itself. Text nodes are cut and put into buttons; the words stay as they are.

import { h } from "../dom.js";
import { createFinder } from "./forms.js";
import { TERMS } from "./terms.js";

const LINES = ".gp-title, .gp-note, .wy-needed caption, .wy-outside p, .wy-said p, .wy-how p, .wy-faith p";
const TOLD = ".st-says, .st-asks, .st-scene .st-note, .st-scene .wy-outside p"; // of a story
const GUESSED = ".st-scene"; // where what is said is seen once the reader has guessed
const HOLDERS = ".glass-panel > .gp-body, .wy-said, .wy-how, .wy-faith, .page-story"; // lines may come into them later
const BOX = ".gp-explain";
const PARTS = ".gp-explain .gp-part > [data-text], .gp-explain .gp-part > span";
const MARK = "button.gl-term";
const HOLD = "span.gl-hold"; // a line may end before and after a button: brackets and points stay with their word
const [OPENS, CLOSES] = [/[([（「“]+$/, /^[)\]）」”.,:;!?。，：；！？]+/];
// a run's words and numbers are bold; of a source, names of files are no terms
const OTHER = "button, a, summary, label, select, input, sup, .gp-hidden, .st-says b, [data-source]";
const LATEST = 1000; // milliseconds: a browser that is never idle marks them then
/** @type {(act: () => void, options?: IdleRequestOptions) => void} */
const whenIdle = globalThis.requestIdleCallback ?? ((act) => setTimeout(act, 50));
const soon = (/** @type {() => void} */ act) => whenIdle(act, { timeout: LATEST });

/** @typedef {ReturnType<typeof createFinder>} Finder */

/** @param {Element} element */
const shows = (element) => element.getClientRects().length > 0;
/** @type {(one: Element, other: Element) => boolean} */
const standsBefore = (one, other) => Boolean(one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING);

/** How the browser itself reads and writes an element's words. */
const OWN = /** @type {Required<Pick<PropertyDescriptor, "get" | "set">>} */ (
  Object.getOwnPropertyDescriptor(Node.prototype, "textContent")
);

/**
 * Panels write their lines with every draw: words that an element has already are not written, so that its marks
 * stay.
 *
 * @param {HTMLElement} element
 */
function keepMarks(element) {
  Object.defineProperty(element, "textContent", {
    get: OWN.get,
    set(words) {
      if (OWN.get.call(this) !== words) OWN.set.call(this, words);
    },
  });
}

/** Takes the marks off. @param {HTMLElement} element */
function bare(element) {
  const marks = element.querySelectorAll(MARK);
  for (const part of [...element.querySelectorAll(HOLD), ...marks]) part.replaceWith(...part.childNodes);
  if (marks.length) element.normalize();
}

/**
 * The element's text nodes in which a term may be marked.
 *
 * @param {HTMLElement} element
 * @returns {Text[]}
 */
function textsOf(element) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT, (node) =>
    node.parentElement?.closest(OTHER) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT,
  );
  /** @type {Text[]} */
  const nodes = [];
  while (walker.nextNode()) nodes.push(/** @type {Text} */ (walker.currentNode));
  return nodes;
}

/**
 * Marks the terms of an element that are free to it, each once.
 *
 * @param {HTMLElement} element
 * @param {Finder} find
 * @param {(name: string) => boolean} free
 * @returns {string[]} the terms that it has marked
 */
function mark(element, find, free) {
  const focus = /** @type {HTMLElement | null} */ (document.activeElement);
  const focused = element.contains(focus) ? focus?.dataset.term : undefined;
  bare(element);
  /** @type {Set<string>} */
  const named = new Set();
  for (const node of textsOf(element)) {
    const found = find(node.data).filter(({ name }) => free(name) && !named.has(name) && named.add(name));
    for (const { name, start, end } of found.reverse()) {
      const [opens, closes] = [
        OPENS.exec(node.data.slice(0, start))?.[0].length ?? 0,
        CLOSES.exec(node.data.slice(end))?.[0].length ?? 0,
      ];
      const after = node.splitText(end + closes);
      const close = node.splitText(end);
      const word = node.splitText(start);
      const open = node.splitText(start - opens);
      const button = h("button.gl-term", { "data-term": name, "aria-haspopup": "dialog" }, word);
      after.before(opens + closes ? h(HOLD, null, open, button, close) : button);
    }
  }
  /** @type {HTMLElement | null} */
  const again = focused ? element.querySelector(`${MARK}[data-term="${focused}"]`) : null;
  again?.focus({ preventScroll: true });
  return [...named];
}

/** Marks lines, so that each term is marked once in its scope, where it first stands. */
function createMarker() {
  /** @type {Map<Element, Map<string, HTMLElement>>} each scope, a chapter's lines or a box: by term, what marks it */
  const holders = new Map();
  /** @type {WeakMap<Element, { text: string | null; find: Finder; now: string[] }>} of a line the terms it marks */
  const known = new WeakMap();
  const scopeOf = (/** @type {Element} */ element) => element.closest(BOX) ?? document.body;
  /**
   * The terms that an element marks, where its marks stand as they should and none is missing; else null.
   *
   * @param {HTMLElement} element
   * @param {Finder} finder
   * @param {(name: string) => boolean} free
   */
  function marksOf(element, finder, free) {
    const last = known.get(element);
    if (!last || last.text !== element.textContent || last.find !== finder || !last.now.every(free)) return null;
    /** @type {NodeListOf<HTMLElement>} */
    const marks = element.querySelectorAll(MARK);
    const there = [...marks].map(({ dataset }) => dataset.term);
    const more = finder(element.textContent ?? "").some(({ name }) => !there.includes(name) && free(name));
    return there.length === last.now.length && !more ? last.now : null;
  }
  /**
   * Marks a line. What was written late may stand before the line that marks one of its terms: that line gives it
   * up.
   *
   * @param {HTMLElement} element
   * @param {Finder} finder
   */
  function markIn(element, finder) {
    const scope = scopeOf(element);
    /** @type {Map<string, HTMLElement>} */
    const held = holders.get(scope) ?? new Map();
    holders.set(scope, held);
    const free = (/** @type {string} */ name) => {
      const holder = held.get(name);
      if (!holder || holder === element) return true;
      return !holder.isConnected || !shows(holder) || standsBefore(element, holder);
    };
    const now = marksOf(element, finder, free) ?? mark(element, finder, free);
    known.set(element, { text: element.textContent, find: finder, now });
    for (const [name, holder] of held) if (holder === element && !now.includes(name)) held.delete(name);
    const others = new Set(now.map((name) => held.get(name)));
    for (const name of now) held.set(name, element);
    for (const other of others) if (other && other !== element && shows(other)) markIn(other, finder);
  }
  return { markIn, forget: () => holders.clear() };
}

/** @param {import("../types.d.ts").Glass} glass */
export function createMarks(glass) {
  /** @type {Finder | null} null until the texts are here */
  let find = null;
  let due = false;
  const { markIn, forget } = createMarker();
  // What a panel writes anew is marked when the browser is idle: to look where it stands makes the browser lay the page
  // out, and a panel may write with every move of the pointer.
  /** @type {Set<HTMLElement>} */
  const touched = new Set();
  let waiting = false; // for the browser to be idle
  const lines = new MutationObserver((records) => {
    if (!waiting) soon(markTouched);
    waiting = true;
    for (const { target } of records) {
      const line = (target instanceof Element ? target : target.parentElement)?.closest(`${LINES}, ${PARTS}, ${TOLD}`);
      if (line instanceof HTMLElement) touched.add(line);
    }
  });
  function markTouched() {
    if (find) for (const element of touched) if (element.isConnected && shows(element)) markIn(element, find);
    touched.clear();
    waiting = false;
    lines.takeRecords(); // what was done here
  }
  const boxes = new MutationObserver(later);
  const written = new MutationObserver(later);
  /** @type {WeakSet<Element>} */
  const seen = new WeakSet();
  /**
   * @param {MutationObserver} observer
   * @param {string} selector
   * @param {MutationObserverInit} what
   */
  function observeNew(observer, selector, what) {
    for (const element of document.querySelectorAll(selector)) {
      if (!seen.has(element)) observer.observe(element, what);
      seen.add(element);
    }
  }
  /** @param {HTMLElement} element */
  function watch(element) {
    if (seen.has(element)) return;
    seen.add(element);
    keepMarks(element);
    lines.observe(element, { childList: true, characterData: true, subtree: true });
  }

  /** Every line of what is shown, from the top. */
  function scan() {
    due = false;
    if (!find || glass.state.status === "generating") return;
    forget();
    observeNew(boxes, `.glass-panel ${BOX}`, { attributes: true, attributeFilter: ["hidden"] });
    observeNew(boxes, GUESSED, { attributes: true, attributeFilter: ["data-guess"] });
    observeNew(written, HOLDERS, { childList: true, attributes: true, attributeFilter: ["hidden"] });
    /** @type {NodeListOf<HTMLElement>} */
    const all = document.querySelectorAll(`.glass-panel :is(${LINES}, ${PARTS}), ${TOLD}`);
    for (const element of all) {
      watch(element);
      if (shows(element)) markIn(element, find);
    }
    lines.takeRecords();
  }
  function later() {
    if (due) return;
    due = true;
    soon(scan);
  }

  function learn() {
    find = createFinder(Object.fromEntries(TERMS.map(({ name }) => [name, glass.text(`glossary.${name}_forms`)])));
    later();
  }
  learn();
  glass.on("language", learn);
  glass.on("chapter", later);
  glass.on("painted", (fresh) => {
    if (fresh) later();
  });
}
