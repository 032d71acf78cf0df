// The list of the keys that the page knows.

import { createDialog } from "./dialog.js";
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
  const keys = (names, together) => names.flatMap((name, i) => [...(i && together ? [" + "] : i ? [" "] : []), h("kbd", null, name)]);
  const lines = SHORTCUTS.map(([names, text]) =>
    h("div", null, h("dt", null, ...keys(names, names.includes("Shift"))), h("dd", { "data-text": `shortcuts.${text}` })));
  const glossary = h("p", null, h("button.page-close", { "data-glossary": "", "data-text": "glossary.open" }));
  return createDialog({ name: "shortcuts-title", look: ".page-shortcuts", title: "shortcuts.title" }, h("dl", null, ...lines), glossary);
}

export function showShortcuts(texts) {
  dialog ??= build();
  dialog.show(texts.translate);
}
