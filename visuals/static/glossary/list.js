// All terms with what they mean, in the alphabet's order, and a box to find one.

import { createDialog } from "../dialog.js";
import { h, withPowers } from "../dom.js";
import { showTerm } from "./show.js";
import { TERMS } from "./terms.js";

/** @typedef {{ name: string; title: string; means: string }} Told a term in the reader's language */

/**
 * The terms in the order of their names.
 *
 * @param {(key: string) => string} text
 * @param {string} language
 */
export const sorted = (text, language) =>
  TERMS.map(({ name }) => ({ name, title: text(`glossary.${name}`), means: text(`glossary.${name}_means`) })).sort(
    (a, b) => a.title.localeCompare(b.title, language === "zh" ? "zh-CN" : language, { sensitivity: "base" }),
  );

/**
 * @param {import("../types.d.ts").Glass} glass
 * @returns {(term?: string) => void} opens the list, at a term
 */
export function createList(glass) {
  const lines = h("dl");
  const box = h("input", { type: "search", autocomplete: "off", input: () => filter() });
  const find = h("label.gl-find", null, h("span", { "data-text": "glossary.find" }), " ", box);
  const none = h("p", { role: "status" });
  const { element, show } = createDialog(
    {
      name: "glossary-title",
      look: ".page-shortcuts.gl-list",
      title: "glossary.title",
      close: "glossary.close",
      head: [find],
    },
    none,
    lines,
  );
  /** @type {Told[]} */
  let terms = [];

  /** Leaves the lines that have what is typed in them, those first that are called so. */
  function filter() {
    const wanted = box.value.trim().toLowerCase();
    const named = (/** @type {Told} */ { title }) => title.toLowerCase().includes(wanted);
    const found = terms.filter((one) => named(one) || one.means.toLowerCase().includes(wanted));
    lines.replaceChildren(...[...found.filter(named), ...found.filter((one) => !named(one))].map(line));
    none.textContent = found.length ? "" : glass.text("glossary.none", { word: box.value.trim() });
  }
  const line = (/** @type {Told} */ { name, title: word, means }) => {
    const go = () => {
      element.close();
      showTerm(glass, name);
    };
    return h(
      "div",
      { "data-term": name },
      h("dt", null, word),
      h(
        "dd",
        null,
        ...withPowers(means),
        " ",
        h(
          "button.gl-button",
          { "aria-label": glass.text("glossary.show") + glass.text("marks.colon") + word, click: go },
          glass.text("glossary.show"),
        ),
      ),
    );
  };
  return (term) => {
    terms = sorted(glass.text, glass.state.language);
    box.value = "";
    filter();
    show(glass.translate);
    element.scrollTop = 0;
    lines.querySelector(`[data-term="${term}"]`)?.scrollIntoView({ block: "center", behavior: "instant" });
  };
}
