// What can stand in place of a network's own parts: a row of choices for each part that it can have another of.

import { h } from "../../dom.js";
import { shownIn } from "../../run-for.js";
import { partName } from "../../run-changes.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("./change-list.js").Chosen} Chosen the changes that are chosen
 */

/**
 * The changes with this part in place of another of its field, or without it where it is there.
 *
 * @param {Chosen["changes"]} changes
 * @param {string} part
 */
export function exchanged(changes, part) {
  const [field] = part.split(":");
  const others = (changes.parts ?? []).filter((one) => one.split(":")[0] !== field);
  const parts = changes.parts?.includes(part) ? others : [...others, part];
  return { ...changes, parts };
}

/** Fields whose choices are numbers. */
const NUMBERS = ["window"];
/** Fields of which there is more to say. */
const EXPLAINED = ["position", "window"];

/**
 * @param {Glass} glass
 * @param {Chosen} view
 */
export function createParts(glass, view) {
  const rows = h("div.cmp-parts");
  const element = h(
    "div",
    { hidden: "" },
    h("h3.cmp-head", { "data-text": "compare.exchange" }),
    h("p.gp-note", { "data-text": "compare.exchange_hint" }),
    rows,
  );

  /**
   * @param {string} part
   * @param {string} words
   */
  const choice = (part, words) =>
    h(
      "button.gp-option",
      {
        "data-part-choice": part,
        "aria-label": partName(part, glass.text),
        "aria-pressed": String(view.changes.parts?.includes(part) ?? false),
        click: () => {
          view.changes = exchanged(view.changes, part);
        },
      },
      words,
    );

  function draw() {
    const offered = shownIn(glass).trace.whole ? {} : (glass.detail("parts", {})?.offered ?? {});
    const fields = Object.entries(offered);
    element.hidden = !fields.length;
    const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset.partChoice;
    rows.replaceChildren(
      ...fields.map(([field, values]) => {
        const label = glass.text(`part.field_${field}`);
        const inNumbers = NUMBERS.includes(field); // of what is said beside them
        const choices = values.map((value) => {
          const part = `${field}:${value}`;
          return choice(part, inNumbers ? String(value) : partName(part, glass.text));
        });
        const group = h("div.gp-choices", { role: "group", "aria-label": label }, ...choices);
        return h("div.cmp-row", null, h("span.cmp-field", null, label), group);
      }),
      ...EXPLAINED.filter((field) => Object.hasOwn(offered, field)).map((field) =>
        h("p.gp-note", null, glass.text(`compare.exchange_${field}`)),
      ),
    );
    /** @type {HTMLElement | null} */ (rows.querySelector(`[data-part-choice="${focused}"]`))?.focus();
  }
  return { elements: [element], draw };
}
