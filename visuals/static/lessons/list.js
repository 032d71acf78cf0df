// The list of lessons: that of a link, the reader's own, those that come with the page.

import { h } from "../dom.js";
import { inPlan, plansOf } from "./plans.js";
import { isNarrow } from "./column.js";
import { tasksOf } from "./lesson.js";
import { save } from "./save.js";
import { openSheet } from "./sheet.js";
import { createStills } from "./stills.js";

/**
 * @typedef {import("../types.d.ts").Glass} Glass
 *
 * @typedef {import("./lesson.js").Lesson} Lesson
 *
 * @typedef {import("./desk.js").Desk} Desk
 *
 * @typedef {Pick<Lesson, "title" | "views" | "model">} Listed
 */

/**
 * @param {Glass} glass
 * @param {Listed} lesson
 * @returns {HTMLElement[]} what is said of a lesson whose model is not on offer
 */
const strange = (glass, { model }) =>
  model === undefined || glass.models().some(({ name }) => name === model)
    ? []
    : [h("p.ls-none", null, glass.text("lessons.other_model", { model }))];

/**
 * The plans of a lesson, each with the views that it shows and for how long; pressed, one is presented. Each has a
 * worksheet with the questions of its views.
 *
 * @param {Desk} desk
 * @param {Lesson} lesson
 * @param {(lesson: Lesson) => void} sheet
 * @returns {HTMLElement[]} none where nothing is planned
 */
function plansRow({ text, start }, lesson, sheet) {
  const plans = plansOf(lesson);
  if (!plans.length) return [];
  /** @type {(view: import("./lesson.js").View, at: number) => string} */
  const minutesOf = ({ minutes }, at) => (minutes?.[at] ? text("plan", { minutes: minutes[at] }) : "–");
  /**
   * @param {import("./plans.js").Plan} plan
   * @param {string} words
   * @param {(lesson: Lesson) => void} act
   */
  const button = ({ at, minutes }, words, act) =>
    h(
      "button.ls-button",
      {
        click: () => act(inPlan(lesson, at)),
        "aria-label": text("of", {
          what: [...new Set([words, text("plan", { minutes })])].join(" · "),
          label: lesson.title,
        }),
      },
      words,
    );
  const heads = plans.map((plan) =>
    h("th", { scope: "col" }, button(plan, text("plan", { minutes: plan.minutes }), start)),
  );
  const sheets = plans.map((plan) => h("td", null, button(plan, text("sheet"), sheet)));
  const asks = tasksOf(lesson).length > 0;
  /** @type {(view: import("./lesson.js").View, i: number) => HTMLElement} */
  const line = (view, i) =>
    h(
      "tr",
      null,
      h("th", { scope: "row" }, view.headline ?? text("view", { at: i + 1 })),
      ...plans.map(({ at }) => h("td", null, minutesOf(view, at))),
    );
  return [
    h(
      "details.ls-plans",
      null,
      h("summary", null, text("plans", { minutes: plans.map(({ minutes }) => minutes).join(" · ") })),
      h(
        "table",
        null,
        h("tr", null, h("td"), ...heads),
        ...lesson.views.map(line),
        ...(asks ? [h("tr", null, h("td"), ...sheets)] : []),
      ),
      ...(asks ? [h("p.ls-none", null, text("plans_sheet"))] : []),
    ),
  ];
}

/**
 * A lesson of the list, with what can be done with it.
 *
 * @param {Glass} glass
 * @param {Desk} desk
 * @param {Listed} lesson
 * @param {HTMLElement[]} plans
 * @param {HTMLElement[]} buttons
 */
const rowOf = (glass, desk, lesson, plans, buttons) =>
  h(
    "li.ls-row",
    null,
    h(
      "div",
      null,
      h("strong", null, lesson.title),
      h("span.ls-count-of", null, desk.text("views", { views: lesson.views.length })),
      ...strange(glass, lesson),
    ),
    h("div.ls-does", null, ...buttons),
    ...plans,
  );

/**
 * A heading with rows below it; nothing where there are none and nothing is said of that.
 *
 * @param {string} title
 * @param {HTMLElement[]} rows
 * @param {string} [none] what is said where there are none
 * @returns {HTMLElement[]}
 */
function section(title, rows, none) {
  if (rows.length) return [h("h3", null, title), h("ul.ls-list", null, ...rows)];
  return none ? [h("h3", null, title), h("p.ls-none", null, none)] : [];
}

/**
 * @param {Glass} glass
 * @param {Desk} desk
 */
export function createList(glass, desk) {
  const { text, shelf, tell } = desk;
  /** @type {(name: string, act: () => void, label?: string) => HTMLElement} */
  const button = (name, act, label) =>
    h("button.ls-button", { click: act, "aria-label": label && text("of", { what: text(name), label }) }, text(name));

  /** @type {(lesson: Lesson, buttons: HTMLElement[]) => HTMLElement} */
  const row = (lesson, buttons) => rowOf(glass, desk, lesson, plansRow(desk, lesson, sheet), buttons);
  /** @param {Lesson} lesson */
  function sheet(lesson) {
    tell(openSheet(lesson, text, createStills(glass, true)) ? "" : text("no_sheet"));
  }
  /** @type {(lesson: Lesson, id?: string) => HTMLElement[]} */
  const showing = (lesson, id) =>
    lesson.views.length
      ? [
          button("present", () => desk.start(lesson, { id }), lesson.title),
          ...(isNarrow()
            ? []
            : [button("present_notes", () => desk.start(lesson, { id, speaks: true }), lesson.title)]),
          button("follow", () => desk.start(lesson, { notes: true, id }), lesson.title),
          ...(tasksOf(lesson).length ? [button("sheet", () => sheet(lesson), lesson.title)] : []),
        ]
      : [];
  /** @type {(lesson: Lesson, name: string) => HTMLElement} */
  const foreign = (lesson, name) =>
    row(lesson, [...showing(lesson), button(name, () => desk.adopt(lesson), lesson.title)]);
  /** @param {import("./shelf.js").Entry} entry */
  function mine({ id, lesson, words = "", error }) {
    if (lesson) {
      return row(lesson, [
        ...showing(lesson, id),
        button("edit", () => desk.go({ pane: "edit", id }), lesson.title),
        button("share", () => desk.go({ pane: "share", id, lesson }), lesson.title),
        button("remove", () => desk.remove(id), lesson.title),
      ]);
    }
    // What is stored here and cannot be read is not thrown away.
    return rowOf(
      glass,
      desk,
      { title: text("unreadable"), views: [] },
      [],
      [
        button("why", () => desk.complain(error)),
        button("save", () => save(words, id)),
        button("remove", () => {
          shelf.remove(id);
          tell("");
          desk.go({ pane: "list" });
        }),
      ],
    );
  }

  const shipped = (/** @type {Lesson} */ lesson) => foreign(lesson, "copy");

  /** @returns {import("./desk.js").Pane} */
  return function list() {
    const file = h("input.ls-file", {
      type: "file",
      accept: ".json,application/json",
      "aria-label": text("file"),
      change: () => {
        const [chosen] = file.files ?? [];
        if (chosen) desk.read(chosen);
        file.value = "";
      },
    });
    const received = desk.received();
    return {
      name: text("title"),
      elements: [
        h(
          "div.ls-does",
          null,
          button("share_view", () => desk.go({ pane: "share" })),
          button("fresh", desk.begin),
          h("label.ls-button", null, text("file"), file),
        ),
        ...section(text("of_link"), received ? [foreign(received, "adopt")] : []),
        ...section(text("mine"), shelf.all().map(mine), text("none")),
        ...section(text("shipped"), desk.shipped().map(shipped)),
      ],
    };
  };
}
