// All terms with what they mean, in the alphabet's order.

import { createDialog } from "../dialog.js";
import { h } from "../dom.js";
import { showTerm } from "./show.js";
import { TERMS } from "./terms.js";

/** The terms in the order of their names. @param {(key: string) => string} text @param {string} language */
export const sorted = (text, language) =>
  TERMS.map(({ name }) => ({ name, title: text(`glossary.${name}`), means: text(`glossary.${name}_means`) }))
    .sort((a, b) => a.title.localeCompare(b.title, language === "zh" ? "zh-CN" : language, { sensitivity: "base" }));

/** @param {object} glass @returns {() => void} opens the list */
export function createList(glass) {
  const lines = h("dl");
  const { element, show } = createDialog({ name: "glossary-title", look: ".page-shortcuts.gl-list", title: "glossary.title", close: "glossary.close" }, lines);
  const line = ({ name, title: word, means }) => {
    const go = () => { element.close(); showTerm(glass, name); };
    return h("div", null, h("dt", null, word), h("dd", null, means, " ", h("button.gl-button", { "aria-label": `${glass.text("glossary.show")}: ${word}`, click: go }, glass.text("glossary.show"))));
  };
  return () => {
    lines.replaceChildren(...sorted(glass.text, glass.state.language).map(line));
    show(glass.translate);
    element.scrollTop = 0;
  };
}
