// The card that says what a term means, beside the word that was pressed. It does not block the page: a press elsewhere
// or Escape closes it, and Escape gives the focus back.

import { h, putText } from "../dom.js";
import { showTerm } from "./show.js";

const GAP = 6; // px between the card and what it must not cover
const SAID = "p, li, dd, td, th, caption, summary, h2, h3"; // what a word is said in
const WIDE = 0.6; // of the page: a card so wide leaves no room beside it

/**
 * Places the card below its word or above it; where it is as wide as the page, and would cover what is said with
 * the word, below or above all of that, if there is room.
 *
 * @param {HTMLElement} card
 * @param {HTMLElement} pressed the word
 */
function place(card, pressed) {
  const word = pressed.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = card;
  const said = pressed.closest(SAID)?.getBoundingClientRect() ?? word;
  const page = document.documentElement.clientWidth;
  const isBelow = (/** @type {DOMRect} */ { bottom }) => bottom + GAP + height <= innerHeight;
  const isAbove = (/** @type {DOMRect} */ { top }) => top >= height + GAP;
  const clear = width > WIDE * page && (isBelow(said) || isAbove(said)) ? said : word;
  const below = isBelow(clear) || !isAbove(clear);
  card.style.left = `${scrollX + Math.max(8, Math.min(word.left, page - 8 - width))}px`;
  card.style.top = `${scrollY + (below ? clear.bottom + GAP : clear.top - GAP - height)}px`;
}

/**
 * Escape closes the card, and so does Tab past its ends: that goes on from the word, which stands elsewhere.
 *
 * @param {HTMLElement} card
 * @param {() => void} leave closes it, and gives the focus to the word
 */
function listenToKeys(card, leave) {
  /** @param {KeyboardEvent} event */
  function tab(event) {
    const at = document.activeElement;
    const buttons = [...card.querySelectorAll("button")];
    if (!at || !card.contains(at)) return;
    if (at !== (event.shiftKey ? buttons[0] : buttons.at(-1)) && !(event.shiftKey && at === card)) return;
    if (event.shiftKey) event.preventDefault(); // to the word itself
    leave();
  }
  /** @param {KeyboardEvent} event */
  function listen(event) {
    if (card.hidden) return;
    if (event.key === "Tab") tab(event);
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopImmediatePropagation();
    leave();
  }
  addEventListener("keydown", listen, true); // before the page's own keys, which would let go of what is selected
}

/**
 * @param {import("../types.d.ts").Glass} glass
 * @param {(term: string) => void} all opens the whole list at a term
 */
export function createCard(glass, all) {
  const title = h("h2.gl-title", { id: "gl-title" });
  const means = h("p");
  const close = h("button.gl-close", { "data-text-label": "glossary.close", click: () => leave() }, "×");
  const show = h("button.gl-button.gl-show", {
    "data-text": "glossary.show",
    click: () => {
      leave(); // from the word the way leads back to it
      showTerm(glass, term);
    },
  });
  const list = h("button.gl-button", {
    "data-text": "glossary.all",
    click: () => {
      hide();
      all(term);
    },
  });
  const element = h(
    "div.gl-card",
    { role: "dialog", "aria-labelledby": "gl-title", tabindex: "-1", popover: "manual", hidden: "" },
    title,
    close,
    means,
    h("p.gl-ways", null, show, list),
  );
  let term = "";
  /** @type {HTMLElement | null} the word that was pressed */
  let from = null;

  function hide() {
    if (element.hidden) return;
    element.hidePopover?.();
    element.hidden = true;
  }
  /** Closes it, and goes back to the word; where a panel has written it anew, to that one. */
  function leave() {
    hide();
    /** @type {HTMLElement | null} */
    const written = document.querySelector(`.gl-term[data-term="${term}"]`);
    (from?.isConnected ? from : written)?.focus({ preventScroll: true });
  }
  /** @param {HTMLElement} word with data-term */
  function open(word) {
    if (!element.hidden && from === word) return leave();
    hide();
    [from, term] = [word, word.dataset.term ?? ""];
    if (!element.isConnected) document.body.append(element);
    glass.translate(element);
    title.textContent = glass.text(`glossary.${term}`);
    putText(means, glass.text(`glossary.${term}_means`));
    element.hidden = false;
    element.showPopover?.();
    place(element, word);
    element.focus({ preventScroll: true });
    return undefined;
  }

  listenToKeys(element, leave);
  element.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget instanceof Node && !element.contains(relatedTarget)) hide();
  });
  document.addEventListener(
    "pointerdown",
    ({ target }) => {
      if (!element.contains(/** @type {Node} */ (target)) && target !== from) hide();
    },
    true,
  );
  for (const event of ["chapter", "language"]) glass.on(event, hide);
  return { open };
}
