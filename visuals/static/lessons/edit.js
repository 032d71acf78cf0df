// One lesson being made: its title, and its views in their order. Each change is kept at once.

import { h } from "../dom.js";
import { readLink } from "../link.js";
import { panelsInView, viewNow } from "./capture.js";
import { changed, MOST, moved, withView, without } from "./lesson.js";
import { saveLesson } from "./save.js";

/**
 * @param {import("../types.d.ts").Glass} glass
 * @param {object} desk of desk.js
 */
export function createEditor(glass, desk) {
  const { text, shelf, tell } = desk;
  const button = (name, act, label, more = {}) =>
    h("button.ls-button", { click: act, "aria-label": label && `${text(name)}: ${label}`, ...more }, text(name));
  const nameOf = (kind) => glass.text(`panel.${kind}`);

  /** What a view is of, in a line. */
  function summary({ link, panel }) {
    const {
      chapter,
      prompt = "",
      selection: { layer, head },
    } = readLink(link);
    const place = [
      ["layer", layer],
      ["head", head],
    ]
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `${glass.text(`tokens.${name}`)} ${value}`);
    return [
      glass.text(`chapter.${chapter ?? "glance"}`),
      nameOf(panel),
      ...place,
      prompt.length > 60 ? `…${prompt.slice(-60)}` : prompt,
    ]
      .filter(Boolean)
      .join(" · ");
  }

  return function edit({ id, focus }) {
    let lesson = shelf.get(id);
    const keep = (next) => {
      lesson = next;
      return desk.put(id, next);
    };
    /** Draws it anew, with the focus at a control of a view. */
    const show = (to = null) => {
      desk.go({ pane: "edit", id, focus: to });
    };

    function rename({ target }) {
      const fits = target.value.trim() !== "";
      target.setAttribute("aria-invalid", String(!fits));
      tell(fits ? "" : text("no_title", { most: MOST.title }));
      if (fits) keep({ ...lesson, title: target.value });
    }
    const title = h("input.ls-name", { type: "text", maxlength: MOST.title, value: lesson.title, input: rename });

    const seen = panelsInView(desk.pressed());
    const panel = h(
      "select.ls-panel",
      null,
      ...seen.map((one) => h("option", { value: one.dataset.kind }, nameOf(one.dataset.kind))),
    );
    async function add() {
      if (!glass.state.trace) return tell(glass.text("page.starting"));
      if (lesson.views.length >= MOST.views) return tell(text("full_lesson", { most: MOST.views }));
      const view = await viewNow(
        glass,
        seen.find((one) => one.dataset.kind === panel.value),
      );
      if (keep(withView(lesson, view))) tell(text("added", { at: lesson.views.length }));
      return show([lesson.views.length - 1, "note"]);
    }

    function row(view, i) {
      const label = text("view", { at: i + 1 });
      const note = h("textarea.ls-words", {
        maxlength: MOST.note,
        rows: 3,
        "aria-label": `${text("note")}: ${label}`,
        "data-act": "note",
        input: () => keep(changed(lesson, i, { note: note.value })),
      });
      note.value = view.note;
      const hidden = h("input", {
        type: "checkbox",
        change: () => keep(changed(lesson, i, { hidden: hidden.checked })),
      });
      hidden.checked = view.hidden;
      const move = (name, by) =>
        button(
          name,
          () => {
            keep(moved(lesson, i, by));
            show([i + by, name]);
          },
          label,
          { "data-act": name, ...(lesson.views[i + by] ? {} : { disabled: "" }) },
        );
      function drop() {
        const before = lesson;
        keep(without(lesson, i));
        show();
        tell(text("dropped", { at: i + 1 }), () => {
          keep(before);
          show([i, "note"]);
        });
      }
      return h(
        "li.ls-view",
        null,
        h("p.ls-summary", null, h("strong", null, label), " ", summary(view)),
        note,
        h(
          "div.ls-does",
          null,
          h("label.ls-check", null, hidden, " ", text("hidden")),
          move("earlier", -1),
          move("later", 1),
          button(
            "show",
            () => {
              desk.close();
              glass.visit(view.link);
            },
            label,
          ),
          button("present", () => desk.start(lesson, { at: i }), label),
          button("drop", drop, label),
        ),
      );
    }

    const views = h("ol.ls-views", null, ...lesson.views.map(row));
    if (focus)
      queueMicrotask(() => {
        const [at, act] = focus;
        /** @type {HTMLElement | null | undefined} */
        const button = views.children[at]?.querySelector(`[data-act="${act}"]:enabled`);
        button?.focus();
      });
    return {
      name: text("editing"),
      elements: [
        h("label.ls-field", null, text("name"), title),
        h(
          "div.ls-does.ls-add",
          null,
          button("add", add, undefined, { class: "ls-button is-first" }),
          h("label", null, text("panel"), " ", panel),
        ),
        lesson.views.length ? views : h("p.ls-none", null, text("empty")),
        h(
          "div.ls-does",
          null,
          button("list", () => {
            tell("");
            desk.go({ pane: "list" });
          }),
          ...(lesson.views.length ? [button("present", () => desk.start(lesson))] : []),
          button("save", () => saveLesson(lesson)),
          button("share", () => desk.go({ pane: "share", id, lesson })),
        ),
      ],
    };
  };
}
