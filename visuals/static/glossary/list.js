// All terms with what they mean, in the alphabet's order. A modal dialog, as the list of the keys is (shortcuts.js).

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
  const close = h("button.page-close", { "data-text": "glossary.close", click: () => dialog.close() });
  const title = h("h2", { id: "glossary-title", "data-text": "glossary.title" });
  const dialog = h("dialog.page-shortcuts.gl-list", { "aria-labelledby": "glossary-title" }, h("header", null, title, close), lines);
  dialog.addEventListener("click", ({ target }) => { if (target === dialog) dialog.close(); });
  const line = ({ name, title: word, means }) => {
    const go = () => { dialog.close(); showTerm(glass, name); };
    return h("div", null, h("dt", null, word), h("dd", null, means, " ", h("button.gl-button", { "aria-label": `${glass.text("glossary.show")}: ${word}`, click: go }, glass.text("glossary.show"))));
  };
  return () => {
    if (!dialog.isConnected) document.querySelector(".gradio-container")?.append(dialog);
    glass.translate(dialog);
    lines.replaceChildren(...sorted(glass.text, glass.state.language).map(line));
    for (const other of document.querySelectorAll("dialog[open]")) other.close();
    dialog.showModal();
    dialog.scrollTop = 0;
  };
}
