// How the first screen writes a token, and how a number leads to where it is seen.

import { h } from "../../dom.js";
import { visible } from "../../draw.js";

/** A piece as a word within a sentence. @param {string} piece */
export const word = (piece) => piece.trim() || visible(piece);

/** Opens a panel of a chapter and brings it into view. */
export async function leadTo(glass, chapter, kind) {
  glass.open(chapter);
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const panel = document.querySelector(`section[data-kind="${kind}"]`);
  panel?.scrollIntoView({ block: "start" });
  panel?.focus({ preventScroll: true });
}

/** A number of a sentence that selects what it is of, and leads to the panel that shows it. */
export function lead(glass, words, selection, chapter, kind) {
  const button = h("button.wy-lead", { type: "button" }, words);
  button.addEventListener("click", () => {
    glass.select(selection);
    leadTo(glass, chapter, kind);
  });
  return button;
}

/** A text with elements in the place of its {placeholders}. @param {string} template @param {Object<string, Node|string>} given */
export const filled = (template, given) =>
  template.split(/(\{\w+\})/).map((piece) => given[/^\{(\w+)\}$/.exec(piece)?.[1]] ?? piece);
