// The list of the keys that the page knows. A modal dialog: the browser keeps the focus in it, closes it with Escape and
// gives the focus back to where it was.

import { h } from "./dom.js";

/** The keys of a line, and the text that says what they do. */
export const SHORTCUTS = [
  [["←", "→"], "token"],
  [["[", "]"], "head"],
  [["↑", "↓"], "layer"],
  [["Tab"], "tab"],
  [["Esc"], "escape"],
  [["Enter"], "run"],
  [["Shift", "Enter"], "line"],
  [["Space"], "pace"],
  [["."], "pace_next"],
  [["?"], "list"],
];

let dialog = null;

function build() {
  const title = h("h2", { id: "shortcuts-title", "data-text": "shortcuts.title" });
  const close = h("button.page-close", { type: "button", "data-text": "shortcuts.close" });
  const keys = (names, together) => names.flatMap((name, i) => [...(i && together ? [" + "] : i ? [" "] : []), h("kbd", null, name)]);
  const lines = SHORTCUTS.map(([names, text]) =>
    h("div", null, h("dt", null, ...keys(names, names.includes("Shift"))), h("dd", { "data-text": `shortcuts.${text}` })));
  const made = h("dialog.page-shortcuts", { "aria-labelledby": "shortcuts-title" }, h("header", null, title, close), h("dl", null, ...lines), h("p", null, h("button.page-close", { type: "button", "data-glossary": "", "data-text": "glossary.open" })));
  close.addEventListener("click", () => made.close());
  made.addEventListener("click", ({ target }) => { if (target === made) made.close(); }); // outside of what it holds
  return made;
}

export function showShortcuts(texts) {
  dialog ??= build();
  if (!dialog.isConnected) document.querySelector(".gradio-container")?.append(dialog);
  texts.translate(dialog);
  if (!dialog.open) dialog.showModal();
}
