// What a view of a lesson may say beside its note, and how long it is shown in each plan, as fields.

import { h } from "../dom.js";
import { changed, MOST, SAYINGS } from "./lesson.js";
import { plansOf } from "./plans.js";

/**
 * @typedef {import("./edit.js").Draft} Draft
 *
 * @typedef {import("./lesson.js").View} View
 */

/** @param {import("../types.d.ts").Say} text of the lessons */
export function createFields(text) {
  /**
   * Headline, question and answer: one left empty is left out.
   *
   * @param {Draft} draft
   * @param {View} view
   * @param {number} i which of its views that is
   * @param {string} label
   */
  function sayingsOf(draft, view, i, label) {
    return SAYINGS.map((name) => {
      const field = h("input.ls-saying", {
        type: "text",
        maxlength: MOST[name],
        value: view[name] ?? "",
        placeholder: text(name),
        "aria-label": text("of", { what: text(name), label }),
        input: () => draft.keep(changed(draft.lesson(), i, { [name]: field.value.trim() ? field.value : undefined })),
      });
      return field;
    });
  }
  /**
   * How long it is shown in each plan of the lesson; a lesson without a plan may get one.
   *
   * @param {Draft} draft
   * @param {View} view
   * @param {number} i which of its views that is
   * @param {string} label
   */
  function minutesOf(draft, view, i, label) {
    const count = Math.max(1, ...plansOf(draft.lesson()).map(({ at }) => at + 1));
    /** @type {HTMLInputElement[]} */
    const fields = Array.from({ length: count }, (_, plan) =>
      h("input.ls-minutes", {
        type: "number",
        min: 0,
        max: MOST.minutes,
        value: view.minutes?.[plan] ?? 0,
        "aria-label": text("of", { what: text("minutes_in", { plan: plan + 1 }), label }),
        input: () =>
          draft.keep(
            changed(draft.lesson(), i, { minutes: fields.map((one) => (one.validity.valid ? +one.value : 0)) }),
          ),
      }),
    );
    return h("span.ls-planned", null, text("minutes"), " ", ...fields);
  }
  return { sayingsOf, minutesOf };
}
