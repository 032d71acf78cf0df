// One view of a lesson that is edited: what it is of, its note, and what can be done with it.

import { h } from "../dom.js";
import { readLink } from "../link.js";
import { changed, MOST, moved, without } from "./lesson.js";
import { createFields } from "./view-fields.js";

/**
 * @typedef {import("./edit.js").Draft} Draft
 *
 * @typedef {import("./lesson.js").View} View
 */

const LONGEST = 60; // characters of a prompt that are shown

/**
 * What a view is of, in a line.
 *
 * @param {import("../types.d.ts").Glass} glass
 * @param {View} view
 */
function summary(glass, { link, panel }) {
  const { chapter, prompt = "", selection } = readLink(link);
  const place = /** @type {const} */ (["layer", "head"])
    .filter((name) => selection[name] !== undefined)
    .map((name) => `${glass.text(`tokens.${name}`)} ${selection[name]}`);
  const end = prompt.length > LONGEST ? `…${prompt.slice(-LONGEST)}` : prompt;
  return [glass.text(`chapter.${chapter ?? "glance"}`), glass.text(`panel.${panel}`), ...place, end]
    .filter(Boolean)
    .join(" · ");
}

/**
 * @param {import("../types.d.ts").Glass} glass
 * @param {import("./desk.js").Desk} desk
 * @returns {(draft: Draft, view: View, i: number) => HTMLElement} the row of its view i
 */
export function createViewRow(glass, desk) {
  const { text, tell } = desk;
  const { sayingsOf, minutesOf } = createFields(text);
  /** @type {(name: string, act: () => void, label: string, more?: Record<string, string>) => HTMLElement} */
  const button = (name, act, label, more = {}) =>
    h("button.ls-button", { click: act, "aria-label": text("of", { what: text(name), label }), ...more }, text(name));

  /**
   * @param {Draft} draft
   * @param {View} view
   * @param {number} i
   * @param {string} label
   */
  function noteOf(draft, { note }, i, label) {
    const words = h("textarea.ls-words", {
      maxlength: MOST.note,
      rows: 3,
      placeholder: text("note_hint"),
      "aria-label": text("of", { what: text("note"), label }),
      "data-act": "note",
      input: () => draft.keep(changed(draft.lesson(), i, { note: words.value })),
    });
    words.value = note;
    return words;
  }
  /**
   * @param {Draft} draft
   * @param {View} view
   * @param {number} i
   */
  function hiddenOf(draft, { hidden }, i) {
    const box = h("input", {
      type: "checkbox",
      change: () => draft.keep(changed(draft.lesson(), i, { hidden: box.checked })),
    });
    box.checked = hidden;
    return h("label.ls-check", null, box, " ", text("hidden"));
  }
  /**
   * @param {Draft} draft
   * @param {number} i
   * @param {[string, number]} way its name, and by how many places
   * @param {string} label
   */
  function move(draft, i, [name, by], label) {
    const act = () => {
      draft.keep(moved(draft.lesson(), i, by));
      draft.show([i + by, name]);
    };
    return button(name, act, label, { "data-act": name, ...(draft.lesson().views[i + by] ? {} : { disabled: "" }) });
  }
  /**
   * @param {Draft} draft
   * @param {number} i
   */
  function drop(draft, i) {
    const before = draft.lesson();
    draft.keep(without(before, i));
    draft.show();
    tell(text("dropped", { at: i + 1 }), () => {
      draft.keep(before);
      draft.show([i, "note"]);
    });
  }
  /** @param {View} view */
  function look({ link }) {
    desk.close();
    glass.visit(link);
  }

  return function row(draft, view, i) {
    const label = text("view", { at: i + 1 });
    return h(
      "li.ls-view",
      null,
      h("p.ls-summary", null, h("strong", null, label), " ", summary(glass, view)),
      ...sayingsOf(draft, view, i, label),
      noteOf(draft, view, i, label),
      h(
        "div.ls-does",
        null,
        hiddenOf(draft, view, i),
        minutesOf(draft, view, i, label),
        move(draft, i, ["earlier", -1], label),
        move(draft, i, ["later", 1], label),
        button("show", () => look(view), label),
        button("present", () => desk.start(draft.lesson(), { at: i, id: draft.id }), label),
        button("drop", () => drop(draft, i), label),
      ),
    );
  };
}
