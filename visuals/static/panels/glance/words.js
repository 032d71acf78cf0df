// How the first screen writes a token, and how a number leads to where it is seen.

import { h } from "../../dom.js";
import { visible } from "../../draw.js";

/** A piece as a word within a sentence. @param {string} piece */
export const word = (piece) => piece.trim() || visible(piece);

/** The other text that was chosen for the text up to a position; "" where none was. @param {number} at */
export function otherText(glass, at) {
  const { text = "", at: chosenAt } = glass.settings.get("why");
  return chosenAt === String(at) ? text : "";
}
export const chooseText = (glass, text, at) => {
  glass.settings.set("why", { ...glass.settings.get("why"), text, at });
  glass.repaint();
};

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
  const click = () => {
    glass.select(selection);
    leadTo(glass, chapter, kind);
  };
  return h("button.wy-lead", { click }, words);
}

/** A text with elements in the place of its {placeholders}. @param {string} template @param {Object<string, Node|string>} given */
export const filled = (template, given) =>
  template.split(/(\{\w+\})/).map((piece) => given[/^\{(\w+)\}$/.exec(piece)?.[1]] ?? piece);

/** Words to change as buttons, which hand on the text that then results. @param {{ word: string, other: string, piece: string, text: string }[]} swaps @param {(text: string) => void} choose */
export const swapButtons = (glass, swaps, choose) =>
  swaps.map((swap) => h("button.gp-option", { "data-swap": swap.text, title: swap.text, click: () => choose(swap.text) }, glass.text("why.swap", { word: swap.word, other: swap.other, answer: word(swap.piece) })));
