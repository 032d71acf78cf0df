// The keyboard: in the workbench arrows move the selected token and, where a panel has the focus, the layer; [ and ]
// the head; Escape releases what is previewed; ? lists all this (shortcuts.js).

import { icon } from "./dom.js";
import { isStory } from "./level.js";

/** @type {Map<string, ["layer" | "head" | "query", 1 | -1]>} */
const MOVES = new Map([
  ["ArrowLeft", ["query", -1]],
  ["ArrowRight", ["query", 1]],
  ["ArrowUp", ["layer", 1]],
  ["ArrowDown", ["layer", -1]],
  ["[", ["head", -1]],
  ["]", ["head", 1]],
]);
/** These scroll the page, unless a panel has the focus. */
const SCROLL = new Set(["ArrowUp", "ArrowDown"]);
const PANEL = "section.glass-panel";

const TYPING = "input, textarea, select, [contenteditable], [role=listbox], [role=slider], [role=radiogroup], dialog";

/**
 * @param {KeyboardEvent} event
 * @returns {boolean} whether the key belongs to a field, a menu or the browser
 */
function taken(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return true;
  return event.target instanceof Element && event.target.closest(TYPING) !== null;
}

/**
 * Whether the page, not the selection, moves with this key.
 *
 * @param {KeyboardEvent} event
 */
const scrolls = ({ key, target }) => SCROLL.has(key) && !(target instanceof Element && target.closest(PANEL));

/**
 * @param {import("./types.d.ts").Store} store
 * @param {Texts} texts
 */
export function listenToKeys(store, texts) {
  document.addEventListener("keydown", (event) => {
    if (taken(event)) return;
    if (event.key === "?") return void list(texts);
    if (!store.state.trace) return;
    if (event.key === "Escape") {
      store.endPreview();
      store.select({ neuron: null, pair: null });
      return;
    }
    const move = isStory(store.state.chapter) ? undefined : MOVES.get(event.key); // a story shows places of its own
    if (move && !scrolls(event)) {
      const [name, step] = move;
      store.select({ [name]: store.state.locked[name] + step });
      event.preventDefault();
    }
  });
}

/** @typedef {import("./types.d.ts").Texts} Texts */

/**
 * Opens the list of the keys, which is fetched when it is first asked for.
 *
 * @param {Texts} texts
 */
async function list(texts) {
  const { showShortcuts } = await import("./shortcuts.js");
  showShortcuts(texts);
}

/**
 * @param {HTMLElement} button that opens the list, too
 * @param {Texts} texts
 */
export function listsKeys(button, texts) {
  button.append(icon("M9 9a3 3 0 1 1 4.6 2.5c-1 .7-1.6 1.2-1.6 2.5M12 17.5v.5"));
  button.addEventListener("click", () => list(texts));
}
