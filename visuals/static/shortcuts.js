// Help: where to begin, what explains words, and the list of the keys that the page knows.

import { createDialog } from "./dialog.js";
import { h } from "./dom.js";
import { STORY } from "./level.js";

/**
 * The keys of a line, and the text that says what they do.
 *
 * @type {[string[], string][]}
 */
const SHORTCUTS = [
  [["Space"], "scene"],
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

/** @type {ReturnType<typeof createDialog> | null} */
let dialog = null;

function build() {
  /** @type {(names: string[], together: boolean) => (Node | string)[]} */
  const keys = (names, together) =>
    names.flatMap((name, i) => [...(i && together ? [" + "] : i ? [" "] : []), h("kbd", null, name)]);
  const lines = SHORTCUTS.map(([names, text]) =>
    h(
      "div",
      null,
      h("dt", null, ...keys(names, names.includes("Shift"))),
      h("dd", { "data-text": `shortcuts.${text}` }),
    ),
  );
  const ways = h(
    "p.page-ways",
    null,
    h("button.page-close.is-of-bench", {
      "data-story": STORY,
      "data-text": "story.start",
      click: () => dialog?.element.close(),
    }),
    h("button.page-close", { "data-glossary": "", "data-text": "glossary.open" }),
  );
  const parts = [
    // which of the two is seen goes by the chapter that is open (story/style.css)
    h("p.is-of-bench", { "data-text": "shortcuts.begin" }),
    h("p.is-of-story", { "data-text": "shortcuts.begin_story" }),
    ways,
    h("h3", { "data-text": "shortcuts.keys" }),
    h("dl", null, ...lines),
  ];
  return createDialog({ name: "shortcuts-title", look: ".page-shortcuts", title: "shortcuts.title" }, ...parts);
}

/** @param {import("./types.d.ts").Texts} texts */
export function showShortcuts(texts) {
  dialog ??= build();
  dialog.show(texts.translate);
}
