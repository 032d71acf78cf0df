// Marks each term where it first stands: in the lines of the chapter that is open, and in each explanation that is
// opened, which is read by itself. Text nodes are cut and put into buttons; the words stay as they are.

import { h } from "../dom.js";
import { createFinder } from "./forms.js";
import { TERMS } from "./terms.js";

const LINES = ".gp-title, .gp-note, .wy-said p, .wy-how p, .wy-faith p";
const HOLDERS = ".glass-panel > .gp-body, .wy-said, .wy-how, .wy-faith"; // lines may come into them later
const BOX = ".gp-explain";
const PARTS = ".gp-explain .gp-part > [data-text], .gp-explain .gp-part > span";
const MARK = "button.gl-term";
const HOLD = "span.gl-hold"; // a line may end before and after a button: brackets and points stay with their word
const [OPENS, CLOSES] = [/[([（「“]+$/, /^[)\]）」”.,:;!?。，：；！？]+/];
const OTHER = "button, a, summary, label, select, input, .gp-hidden";
const soon = globalThis.requestIdleCallback ?? ((act) => setTimeout(act, 50));

const shows = (element) => element.getClientRects().length > 0;

const { get: wordsOf, set: write } = Object.getOwnPropertyDescriptor(Node.prototype, "textContent");

/**
 * Panels write their lines with every draw: words that an element has already are not written, so that its marks
 * stay.
 */
function keepMarks(element) {
  Object.defineProperty(element, "textContent", {
    get: wordsOf,
    set(words) {
      if (wordsOf.call(this) !== words) write.call(this, words);
    },
  });
}

/** Takes the marks off. */
function bare(element) {
  const marks = element.querySelectorAll(MARK);
  for (const part of [...element.querySelectorAll(HOLD), ...marks]) part.replaceWith(...part.childNodes);
  if (marks.length) element.normalize();
}

/**
 * The element's text nodes in which a term may be marked.
 *
 * @returns {Text[]}
 */
function textsOf(element) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT, (node) =>
    node.parentElement.closest(OTHER) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT,
  );
  const nodes = [];
  while (walker.nextNode()) nodes.push(/** @type {Text} */ (walker.currentNode));
  return nodes;
}

/**
 * Marks the terms of an element that are free to it, each once.
 *
 * @param {(name: string) => boolean} free
 * @returns {string[]} the terms that it has marked
 */
function mark(element, find, free) {
  const focus = /** @type {HTMLElement | null} */ (document.activeElement);
  const focused = element.contains(focus) ? focus.dataset.term : undefined;
  bare(element);
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
  if (focused) element.querySelector(`${MARK}[data-term="${focused}"]`)?.focus({ preventScroll: true });
  return [...named];
}

/** @param {import("../types.d.ts").Glass} glass */
export function createMarks(glass) {
  let find = null;
  let due = false;
  const holders = new Map(); // each scope, a chapter's lines or a box: by term, the element that marks it
  const known = new WeakMap(); // of a line the text, the finder, and the terms that it marks
  const scopeOf = (element) => element.closest(BOX) ?? document.body;
  /** The terms that an element marks, where its marks stand as they should and none is missing; else null. */
  function marksOf(element, free) {
    const last = known.get(element);
    if (last?.text !== element.textContent || last.find !== find || !last.now.every(free)) return null;
    const there = [...element.querySelectorAll(MARK)].map(({ dataset }) => dataset.term);
    const more = find(element.textContent).some(({ name }) => !there.includes(name) && free(name));
    return there.length === last.now.length && !more ? last.now : null;
  }
  function markIn(element) {
    const scope = scopeOf(element);
    if (!holders.has(scope)) holders.set(scope, new Map());
    const held = holders.get(scope);
    const free = (name) => {
      const holder = held.get(name);
      return !holder || holder === element || !holder.isConnected || !shows(holder);
    };
    const now = marksOf(element, free) ?? mark(element, find, free);
    known.set(element, { text: element.textContent, find, now });
    for (const [name, holder] of held) if (holder === element && !now.includes(name)) held.delete(name);
    for (const name of now) held.set(name, element);
  }

  // What a panel writes anew is marked when the browser is idle: to look where it stands makes the browser lay the page
  // out, and a panel may write with every move of the pointer.
  const touched = new Set();
  const lines = new MutationObserver((records) => {
    if (!touched.size) soon(markTouched);
    for (const { target } of records)
      touched.add((target instanceof Element ? target : target.parentElement)?.closest(`${LINES}, ${PARTS}`));
  });
  function markTouched() {
    if (find) for (const element of touched) if (element?.isConnected && shows(element)) markIn(element);
    touched.clear();
    lines.takeRecords(); // what was done here
  }
  const boxes = new MutationObserver(later);
  const written = new MutationObserver(later);
  const seen = new WeakSet();
  function observeNew(observer, selector, what) {
    for (const element of document.querySelectorAll(selector)) {
      if (!seen.has(element)) observer.observe(element, what);
      seen.add(element);
    }
  }
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
    holders.clear();
    observeNew(boxes, `.glass-panel ${BOX}`, { attributes: true, attributeFilter: ["hidden"] });
    observeNew(written, HOLDERS, { childList: true, attributes: true, attributeFilter: ["hidden"] });
    for (const element of document.querySelectorAll(`.glass-panel :is(${LINES}), .glass-panel :is(${PARTS})`)) {
      watch(element);
      if (shows(element)) markIn(element);
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
