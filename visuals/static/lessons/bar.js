// The bar under a presented panel: which view it is, the note, the class's guess while the answer is covered, and the
// ways.

import { h } from "../dom.js";

/**
 * @param {import("../types.d.ts").Glass} glass
 * @param {Object<string, () => void>} acts next, back, notes, reveal, full, list, leave
 * @returns {{
 *   element: HTMLElement;
 *   show: Function;
 *   say: (words: string) => void;
 *   page: (at: number, pages: number) => void;
 * }}
 */
export function createBar(glass, acts) {
  const text = (name, params) => glass.text(`lessons.${name}`, params);
  const button = (name, sign, act) =>
    h(
      `button.ls-button.ls-${name}`,
      { "data-text-label": `lessons.${name}`, "data-text-title": `lessons.${name}`, click: act },
      sign,
    );
  const count = h("output.ls-count");
  const part = h("output.ls-part");
  const back = button("back", "‹", acts.back);
  const next = button("next", "›", acts.next);
  const note = h("p.ls-note", { "data-text-label": "lessons.note", role: "note", tabindex: "0" });
  const trouble = h("p.ls-trouble", { role: "status", hidden: "" });
  const guess = h("input.ls-guess", {
    type: "text",
    maxlength: 80,
    autocomplete: "off",
    "data-text-label": "lessons.guess",
    keydown: ({ key }) => {
      if (key === "Enter" && !asked.hidden) acts.reveal();
    },
  });
  const asked = h("span", { "data-text": "lessons.asks" });
  const reveal = h("button.ls-button.ls-reveal", { click: acts.reveal });
  const game = h(
    "div.ls-game",
    null,
    asked,
    h("label", null, h("span", { "data-text": "lessons.guess" }), " ", guess),
    reveal,
  );
  const full = document.fullscreenEnabled ? [button("full", "⤢", acts.full)] : [];
  const tools = h(
    "div.ls-tools",
    null,
    button("notes", "✎", acts.notes),
    ...full,
    button("list", "☰", acts.list),
    button("leave", "✕", acts.leave),
  );
  const element = h(
    "aside.ls-bar",
    { role: "region", "data-text-label": "lessons.bar", hidden: "" },
    trouble,
    note,
    game,
    h(
      "div.ls-ways",
      null,
      back,
      count,
      next,
      part,
      h("span.ls-title"),
      h("span.ls-keys", { "data-text": "lessons.keys" }),
      tools,
    ),
  );

  /**
   * @param {import("./lesson.js").Lesson} lesson
   * @param {{ at: number; covered: boolean; notes: boolean; moved: boolean }} now
   */
  function show({ title, views }, { at, covered, notes, moved }) {
    const view = views[at];
    if (moved) {
      guess.value = "";
      say("");
      note.scrollTop = 0;
    }
    count.textContent = text("count", { at: at + 1, views: views.length });
    element.querySelector(".ls-title").textContent = title;
    note.textContent = view.note;
    note.hidden = !notes || !view.note;
    game.hidden = !view.hidden;
    asked.hidden = !covered;
    if (!covered) guess.blur();
    guess.disabled = !covered; // it is made: from here on the keys are the lesson's
    reveal.textContent = text(covered ? "reveal" : "cover");
    back.disabled = at === 0;
    next.disabled = at === views.length - 1 && !covered;
  }
  /** @param {string} words of a message; none: "" */
  function say(words) {
    trouble.textContent = words;
    trouble.hidden = !words;
  }
  /** Which page of a tall panel is shown. */
  function page(at, pages) {
    part.textContent = pages > 1 ? text("part", { at: at + 1, pages }) : "";
  }
  return { element, show, say, page };
}
