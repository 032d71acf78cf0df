// @ts-check
// The worksheet of a lesson: its questions with room to write, and the answers on a page of their own. A window shows
// it, from which the browser prints it, also as a PDF.

import { h } from "../dom.js";
import { furnish } from "./own-window.js";

const LINES = 4; // to write on, for each question

/**
 * @typedef {import("./lesson.js").View} View
 *
 * @typedef {(name: string, params?: object) => string} Text
 */

/** @param {View} view */
const name = ({ headline }) => headline ?? "";

/** @param {View} view */
const task = (view) =>
  h(
    "li.ls-task",
    null,
    h("div", null, h("strong", null, name(view)), h("p", null, view.question ?? "")),
    h("div.ls-lines", { "aria-hidden": "true" }, ...Array.from({ length: LINES }, () => h("span"))),
  );

/** @param {View} view */
const solved = (view) => h("li", null, h("strong", null, name(view)), h("p", null, view.answer ?? ""));

/**
 * The views that ask something, as two lists with the same numbers.
 *
 * @param {import("./lesson.js").Lesson} lesson
 * @param {Text} text of the lessons
 */
function sheetOf({ title, views }, text) {
  const asked = views.filter(({ question }) => question);
  return h(
    "main.ls-sheet",
    null,
    h("button.ls-button.is-first.ls-print", null, text("print")),
    h("h1", null, title),
    h("p.ls-who", null, text("sheet_name"), h("span"), text("sheet_date"), h("span")),
    h("ol", null, ...asked.map(task)),
    h("section.ls-answers", null, h("h2", null, text("answers")), h("ol", null, ...asked.map(solved))),
  );
}

/**
 * @param {import("./lesson.js").Lesson} lesson
 * @param {Text} text of the lessons
 * @returns {boolean} false where the browser opens no window
 */
export function openSheet(lesson, text) {
  const opened = window.open("", "");
  if (!opened) return false;
  const sheet = sheetOf(lesson, text);
  sheet.querySelector(".ls-print")?.addEventListener("click", () => opened.print());
  const show = () => furnish(opened, sheet, lesson.title);
  show();
  opened.document.body.className = ""; // paper is light
  opened.addEventListener("load", show);
  return true;
}
