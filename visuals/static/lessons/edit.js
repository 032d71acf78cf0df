// One lesson being made: its title, and its views in their order. Each change is kept at once.

import { h } from "../dom.js";
import { kindsInView, viewNow } from "./capture.js";
import { MOST, withView } from "./lesson.js";
import { saveLesson } from "./save.js";
import { createViewRow } from "./view-row.js";

/**
 * A lesson as it is edited.
 *
 * @typedef {import("./lesson.js").Lesson} Lesson
 *
 * @typedef {import("./desk.js").Desk} Desk
 *
 * @typedef {{
 *   id: string;
 *   lesson: () => Lesson;
 *   keep: (next: Lesson) => boolean;
 *   show: (focus?: [number, string] | null) => void;
 * }} Draft
 *   `keep`: false where the browser cannot keep it; `show`: draws it anew, with the focus at a control of a view
 */

/**
 * @param {Desk} desk
 * @param {string} id
 * @returns {Draft | null} null where there is no such lesson
 */
export function draftOf(desk, id) {
  const stored = desk.shelf.get(id);
  if (!stored) return null;
  let lesson = stored;
  return {
    id,
    lesson: () => lesson,
    keep(next) {
      lesson = next;
      return desk.put(id, next);
    },
    show: (focus = null) => desk.go({ pane: "edit", id, focus }),
  };
}

/**
 * @param {Desk} desk
 * @param {Draft} draft
 */
function titleField({ text, tell }, draft) {
  const { title } = draft.lesson();
  function rename() {
    const fits = field.value.trim() !== "";
    field.setAttribute("aria-invalid", String(!fits));
    tell(fits ? "" : text("no_title", { most: MOST.title }));
    if (fits) draft.keep({ ...draft.lesson(), title: field.value });
  }
  const field = h("input.ls-name", { type: "text", maxlength: MOST.title, value: title, input: rename });
  return field;
}

/**
 * Adds what is shown now to a lesson.
 *
 * @param {import("../types.d.ts").Glass} glass
 * @param {Pick<Draft, "lesson" | "keep">} draft
 * @param {string} kind of a panel in view
 * @returns {Promise<string>} what is to be said of it; "" where that was said already
 */
export async function addView(glass, draft, kind) {
  if (!glass.state.trace) return glass.text("page.starting");
  if (draft.lesson().views.length >= MOST.views) return glass.text("lessons.full_lesson", { most: MOST.views });
  const longer = withView(draft.lesson(), await viewNow(glass, kind));
  if (!draft.keep(longer)) return "";
  return glass.text("lessons.added", { at: longer.views.length, panel: glass.text(`panel.${kind}`) });
}

/**
 * The button that takes up what is on the page, and which of the panels in view it takes.
 *
 * @param {import("../types.d.ts").Glass} glass
 * @param {Desk} desk
 * @param {Draft} draft
 */
function addingOf(glass, desk, draft) {
  const { text, tell } = desk;
  const options = kindsInView(desk.pressed()).map((kind) => h("option", { value: kind }, glass.text(`panel.${kind}`)));
  const panel = h("select.ls-panel", null, ...options);
  async function add() {
    const before = draft.lesson().views.length;
    tell(await addView(glass, draft, panel.value));
    if (draft.lesson().views.length > before) draft.show([before, "note"]);
  }
  return h(
    "div.ls-does.ls-add",
    null,
    h("button.ls-button.is-first", { click: add }, text("add")),
    h("label", null, text("panel"), " ", panel),
  );
}

/**
 * Once the list is on the page: the control of a view that the reader was at.
 *
 * @param {HTMLElement} views
 * @param {[number, string]} focus
 */
function focusLater(views, [at, act]) {
  queueMicrotask(() => {
    /** @type {NodeListOf<HTMLElement>} */
    const controls = views.querySelectorAll(`[data-act="${act}"]`);
    controls[at]?.focus();
  });
}

/**
 * @param {import("../types.d.ts").Glass} glass
 * @param {Desk} desk
 */
export function createEditor(glass, desk) {
  const { text, tell } = desk;
  /** @type {(name: string, act: () => void) => HTMLElement} */
  const button = (name, act) => h("button.ls-button", { click: act }, text(name));
  const rowOf = createViewRow(glass, desk);

  /**
   * @param {{ focus?: [number, string] | null }} to
   * @param {Draft} draft
   * @returns {import("./desk.js").Pane}
   */
  return function edit({ focus }, draft) {
    const rows = draft.lesson().views.map((view, i) => rowOf(draft, view, i));
    const views = h("ol.ls-views", null, ...rows);
    if (focus) focusLater(views, focus);
    const toList = () => {
      tell("");
      desk.go({ pane: "list" });
    };
    const ends = [
      button("list", toList),
      ...(rows.length ? [button("present", () => desk.start(draft.lesson()))] : []),
      button("save", () => saveLesson(draft.lesson())),
      button("share", () => desk.go({ pane: "share", id: draft.id, lesson: draft.lesson() })),
    ];
    return {
      name: text("editing"),
      elements: [
        h("label.ls-field", null, text("name"), titleField(desk, draft)),
        addingOf(glass, desk, draft),
        rows.length ? views : h("p.ls-none", null, text("empty")),
        h("div.ls-does", null, ...ends),
      ],
    };
  };
}
