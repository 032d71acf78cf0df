// The worksheet of a lesson: its questions with room to write, and the answers on a page of their own. A window shows
// it, from which the browser prints it with the answers or without them, also as a PDF.

import { h } from "../dom.js";
import { nameOf } from "../marks/cell-names.js";
import { tasksOf } from "./lesson.js";
import { furnish } from "./own-window.js";

/** @typedef {import("./stills.js").Stills} Stills */

const LINES = 4; // to write on, for each question, at least
const MOST_MORE = 12; // further ones under a picture, where the page has room
const [HIGH, MM] = [267, 96 / 25.4]; // mm of an A4 page within its margins, px in one
const SPARE = 6; // px of a page that stay free: a printer rounds otherwise
const SMALLEST = 0.8; // of their size, pictures that make room for one box more on their page

/**
 * @typedef {import("./lesson.js").View} View
 *
 * @typedef {import("../types.d.ts").Say} Text
 */

/** @param {View} view */
const name = ({ headline }) => headline ?? "";

/** A place for a picture, filled once that is taken. */
const place = () => h("figure.ls-shown", { hidden: "" });

/**
 * The text, a box a token, with room to write what comes next.
 *
 * @param {string[]} pieces
 */
const strip = (pieces) =>
  h("p.ls-strip", null, ...pieces.map((piece) => h("span", null, nameOf(piece))), h("span.is-open"));

/** @param {number} count */
const lines = (count) => Array.from({ length: count }, () => h("span"));

/**
 * What a picture without its answer is to be completed with on paper, by the view's part or panel: a text of the
 * lessons.
 */
const TO_DO = new Map([
  [".wy-missed", "sheet_missed"],
  ["attention", "sheet_looks"],
  ["kv-race", "sheet_lines"],
  ["kv-chart", "sheet_lines"],
  ["kv-kinds", "sheet_kinds"],
  ["kv-calculator", "sheet_product"],
]);

/**
 * @param {View} view
 * @param {Text} text of the lessons
 */
function task(view, text) {
  const toDo = view.hidden ? (TO_DO.get(view.part) ?? TO_DO.get(view.panel)) : undefined;
  return h(
    "li.ls-task",
    null,
    h("div", null, h("strong", null, name(view)), h("p", null, view.question ?? "")),
    h("div.ls-lines", { "aria-hidden": "true" }, ...lines(LINES)),
    ...(toDo ? [h("div.ls-todo", null, text(toDo))] : []),
    place(),
  );
}

/**
 * Whether a view speaks of the head that is called so in the lessons.
 *
 * @param {View} view
 * @param {Text} text of the lessons
 */
const namesHead = ({ headline = "", question = "" }, text) =>
  `${headline} ${question}`.toLowerCase().includes(text("our_head"));

/**
 * Says which head is meant.
 *
 * @param {HTMLElement} item the task
 * @param {Text} text of the lessons
 * @param {import("./stills.js").Head} chosen
 */
const define = (item, text, chosen) =>
  item.querySelector("div")?.append(h("div.ls-defined", null, text("sheet_our_head", chosen)));

/** @param {View} view */
const solved = (view) =>
  h(
    "li",
    null,
    h("strong", null, name(view)),
    h("p", null, view.answer ?? ""),
    h("p.ls-result", { hidden: "" }),
    ...(view.hidden ? [place()] : []),
  );

/**
 * Which of some boxes stand on a page together, and how much room is left on each.
 *
 * @param {number[]} heights
 * @param {number} room of a page
 * @param {number} first what is taken of the first page
 * @param {number[]} [pictures] how much of each height its picture is, which may be a little smaller where one box
 *   more has room then
 * @returns {{ from: number; to: number; left: number; size: number }[]} `to`: the next page's first box; `size`: of
 *   the page's pictures, 1 where they stay as they are
 */
export function pagesOfBoxes(heights, room, first, pictures = heights.map(() => 0)) {
  const sum = (/** @type {number[]} */ numbers) => numbers.reduce((a, b) => a + b, 0);
  /** @type {(from: number, to: number) => { from: number; to: number; left: number; size: number }} */
  const pageOf = (from, to) => {
    const left = room - (from ? 0 : first) - sum(heights.slice(from, to));
    const drawn = sum(pictures.slice(from, to));
    const fits = left < 0 && to - from > 1 && left + (1 - SMALLEST) * drawn >= 0;
    return { from, to, left: fits ? 0 : left, size: fits ? 1 + left / drawn : 1 };
  };
  const pages = [pageOf(0, 0)];
  for (const i of heights.keys()) {
    const { from, to } = pages[pages.length - 1];
    const longer = pageOf(from, i + 1);
    if (longer.left < 0 && to > from) pages.push(pageOf(i, i + 1));
    else pages[pages.length - 1] = longer;
  }
  return pages;
}

/** The picture of a task or an answer, if it has one. @param {Element} item @returns {HTMLElement | null} */
const pictureIn = (item) => item.querySelector(".ls-picture");

/**
 * Has a page begin where what follows finds no room on the one before, with pictures a little smaller where two
 * short ones share a page then, and fills each with further lines to write on.
 *
 * @param {HTMLElement[]} items of one list
 */
function divide(items) {
  if (!items.length) return;
  const tops = items.map((one) => one.getBoundingClientRect().top);
  const list = /** @type {HTMLElement} */ (items[0].parentElement);
  const ends = [...tops.slice(1), list.getBoundingClientRect().bottom];
  const around = /** @type {HTMLElement} */ (list.parentElement);
  const start = around.getBoundingClientRect().top + parseFloat(getComputedStyle(around).paddingTop);
  const heights = ends.map((end, i) => end - tops[i]);
  const pictures = items.map((one) => pictureIn(one)?.offsetHeight ?? 0);
  for (const { from, to, left, size } of pagesOfBoxes(heights, HIGH * MM - SPARE, tops[0] - start, pictures)) {
    items[from].classList.toggle("is-first", from > 0);
    for (const [i, one] of items.slice(from, to).entries())
      if (size < 1) pictureIn(one)?.style.setProperty("height", `${Math.floor(size * pictures[from + i])}px`);
    const own = items.slice(from, to).filter((one) => one.matches(".ls-task"));
    const high = own[0]?.querySelector(".ls-lines span")?.getBoundingClientRect().height ?? 0;
    const more = high ? Math.min(MOST_MORE, Math.floor(left / own.length / high)) : 0;
    if (more > 0)
      for (const one of own) one.append(h("div.ls-lines.is-more", { "aria-hidden": "true" }, ...lines(more)));
  }
}

/**
 * Fills the sheet in, one view after the other: its pictures, where an answer is to be guessed beside the answers;
 * and under each answer what the run says.
 *
 * @param {HTMLElement} sheet
 * @param {import("./lesson.js").Lesson} lesson
 * @param {Text} text
 * @param {Stills} stills
 */
async function fill(sheet, lesson, text, stills) {
  const asked = tasksOf(lesson);
  const those = (/** @type {string} */ name) => /** @type {HTMLElement[]} */ ([...sheet.querySelectorAll(name)]);
  const [tasks, answers] = [those(".ls-task"), those(".ls-answers li")];
  const prints = /** @type {NodeListOf<HTMLButtonElement>} */ (sheet.querySelectorAll(".ls-prints button"));
  /**
   * @param {Element} item
   * @param {View} view
   * @param {string | undefined} src undefined: it did not come
   */
  function show(item, view, src) {
    /** @type {HTMLElement | null} */
    const figure = item.querySelector(".ls-shown");
    if (!figure) return;
    figure.append(src ? h("img.ls-picture", { src, alt: name(view) }) : h("p", null, text("no_picture")));
    figure.hidden = false;
  }
  const first = asked.findIndex((view) => namesHead(view, text));
  for (const [i, view] of asked.entries()) {
    prints[0].textContent = text("print_waits", { at: i + 1, views: asked.length });
    const still = sheet.isConnected ? await stills.take(lesson, view) : null;
    show(view.hidden ? answers[i] : tasks[i], view, still?.src);
    if (still?.asked) show(tasks[i], view, still.asked);
    else if (still?.pieces.length) tasks[i].append(strip(still.pieces));
    if (still?.chosen && i === first) define(tasks[i], text, still.chosen);
    if (still?.given) tasks[i].querySelector(".ls-lines")?.after(h("div.ls-todo", null, still.given));
    /** @type {HTMLElement | null} */
    const result = answers[i].querySelector(".ls-result");
    if (!result || !still?.result) continue;
    result.textContent = text("result", { result: still.result });
    result.hidden = false;
  }
  await Promise.all([...sheet.querySelectorAll("img")].map((one) => one.decode().catch(() => {}))); // it says so itself
  sheet.toggleAttribute("data-paper", true); // as on paper, while its pages are measured
  divide(tasks);
  divide(answers);
  sheet.toggleAttribute("data-paper", false);
  prints[0].textContent = text("print");
  for (const one of prints) one.disabled = one.hidden = false;
  sheet.toggleAttribute("data-whole", true);
  stills.end();
}

/**
 * What is asked, as two lists with the same numbers.
 *
 * @param {import("./lesson.js").Lesson} lesson
 * @param {Text} text of the lessons
 */
function sheetOf(lesson, text) {
  const asked = tasksOf(lesson);
  return h(
    "main.ls-sheet",
    null,
    h(
      "div.ls-prints",
      null,
      h("button.ls-button.is-first", { disabled: "" }),
      h("button.ls-button", { disabled: "", hidden: "" }, text("print_questions")),
    ),
    h("h1", null, lesson.title),
    h("p.ls-who", null, ...["name", "class", "date"].flatMap((one) => [text(`sheet_${one}`), h("span")])),
    h("ol", null, ...asked.map((view) => task(view, text))),
    h("section.ls-answers", null, h("h2", null, text("answers")), h("ol", null, ...asked.map(solved))),
  );
}

/**
 * The first button prints all of a sheet, the second leaves the answers out. What is printed past them has all of
 * it.
 *
 * @param {HTMLElement} sheet
 * @param {Window} opened which shows it
 */
function listenToPrints(sheet, opened) {
  const leaveOut = (/** @type {boolean} */ answers) => sheet.toggleAttribute("data-questions", answers);
  for (const [i, button] of [...sheet.querySelectorAll(".ls-prints button")].entries())
    button.addEventListener("click", () => {
      leaveOut(i > 0);
      opened.print();
    });
  opened.addEventListener("afterprint", () => leaveOut(false));
}

/**
 * @param {import("./lesson.js").Lesson} lesson
 * @param {Text} text of the lessons
 * @param {Stills} stills
 * @returns {boolean} false where the browser opens no window
 */
export function openSheet(lesson, text, stills) {
  const opened = window.open("", "");
  if (!opened) return false;
  const sheet = sheetOf(lesson, text);
  listenToPrints(sheet, opened);
  const show = () => furnish(opened, sheet, lesson.title);
  show();
  opened.document.body.className = ""; // paper is light
  opened.addEventListener("load", show);
  fill(sheet, lesson, text, stills);
  return true;
}
