// The glossary on the page: marked words, the card of one, and the list of all.

import { addressOf } from "../addresses.js";
import { h } from "../dom.js";
import { createCard } from "./card.js";
import { createList } from "./list.js";
import { createMarks } from "./marks.js";

/**
 * @param {import("../types.d.ts").Glass} glass
 * @returns {{ all: () => void }}
 */
export function createGlossary(glass) {
  document.head.append(h("link", { rel: "stylesheet", href: addressOf("glossary/style.css") }));
  const all = createList(glass);
  const card = createCard(glass, all);
  document.addEventListener("click", ({ target }) => {
    /** @type {HTMLElement | null} */
    const word = /** @type {Element} */ (target).closest?.(".gl-term");
    if (word) card.open(word);
  });
  createMarks(glass);
  return { all };
}
