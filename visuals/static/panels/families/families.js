// The families beside each other: a table, each of whose cells leads to the panel that shows such a part at work.

import { h } from "../../dom.js";
import { frame } from "../../frame.js";
import { inView } from "../../pointing.js";
import { reactive } from "../../reads.js";
import { troubleText } from "../kv/trouble.js";
import {
  chooseModel,
  chooseView,
  columnsOf,
  familiesOf,
  liveOf,
  modelOf,
  placeOf,
  show,
  VIEWS,
  viewOf,
} from "./answer.js";
import { linesOf, rowsOf, savedTable, valueOf } from "./cells.js";
import { byKeys } from "./grid.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("./answer.js").Answer} Answer
 *
 * @typedef {import("./answer.js").Column} Column
 */

/** @type {import("../../frame.js").About} */
export const about = { namesChanges: false };
const WIDTHS = { first: 84, each: 132 }; // at the least, in pixels, as style.css has them

/**
 * A line of a cell, marked where LLaMA has none such.
 *
 * @param {{ words: string; differs?: boolean }} line
 * @param {Say} text of the panel
 */
function lineOf({ words, differs }, text) {
  if (!differs) return h("span.fa-line", null, words);
  return h(
    "span.fa-line.is-other",
    null,
    h("span.fa-mark", { "aria-hidden": "true" }, "≠ "),
    h("span.gp-hidden", null, `${text("differs")}: `),
    words,
  );
}

/**
 * A column's name, its release, and the model on offer that shows it.
 *
 * @param {Glass} glass
 * @param {Answer} answer
 * @param {Column} column
 * @param {Say} text of the panel
 */
function head(glass, answer, column, text) {
  const [name] = liveOf(answer, column);
  const live = name ? text("live", { model: glass.modelName(name) }) : "";
  const said = [column.release, live].filter(Boolean);
  return h(
    "th",
    { scope: "col" },
    h("strong", null, column.name),
    ...said.map((words) => h("span.fa-line", null, words)),
  );
}

/**
 * The table of a view's columns.
 *
 * @param {Glass} glass
 * @param {Answer} answer
 * @param {Column[]} columns
 * @param {import("../../frame.js").Panel} panel which tells the cell that is looked at
 */
function tableOf(glass, answer, columns, { text, tell }) {
  /**
   * @param {Column} column
   * @param {string} row
   */
  function cell(column, row) {
    const act = () => tell(valueOf(column, row));
    const button = h(
      "button.fa-cell",
      {
        "data-cell": `${column.id} ${row}`,
        click: () => show(glass, liveOf(answer, column), placeOf(answer, column, row)),
        focus: act,
        pointerenter: act,
      },
      ...linesOf(column, row, text, glass.state.language).map((line) => lineOf(line, text)),
    );
    return h(`td${column.cells[row]?.differs ? ".is-other" : ""}`, null, button);
  }
  const body = rowsOf(answer).map((row) =>
    h("tr", null, h("th", { scope: "row" }, text(`row_${row}`)), ...columns.map((column) => cell(column, row))),
  );
  const heads = columns.map((column) => head(glass, answer, column, text));
  const top = h("thead", null, h("tr", null, h("th", { scope: "col" }, text("part")), ...heads));
  const sizes = h("colgroup", null, ...[null, ...columns].map(() => h("col")));
  return h(
    "table.gp-table.fa-table",
    { "aria-label": text("title"), style: `min-width: ${WIDTHS.first + WIDTHS.each * columns.length}px` },
    sizes,
    top,
    h("tbody", null, ...body),
  );
}

/**
 * Where the columns' facts come from.
 *
 * @param {Column[]} columns
 * @param {Say} text of the panel
 */
function sourcesOf(columns, text) {
  const list = columns
    .filter(({ sources }) => sources.length)
    .map(({ name, sources }) => h("div", null, h("dt", null, name), h("dd", { lang: "en" }, sources.join("; "))));
  return h(
    "details.fa-sources",
    null,
    h("summary", null, text("sources")),
    h("p.gp-note", null, text("sources_text")),
    h("dl", null, ...list),
  );
}

/**
 * The buttons that choose a view.
 *
 * @param {Glass} glass
 */
function createViews(glass) {
  const buttons = VIEWS.map((name) =>
    h("button.gp-option", {
      "data-view": name,
      "data-text": `families.view_${name}`,
      click: () => chooseView(glass, name),
    }),
  );
  const group = h("div.gp-choices", { role: "group", "data-text-label": "families.views" }, ...buttons);
  function mark() {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.view === viewOf(glass)));
  }
  return { element: h("div.gp-options", null, group), mark };
}

/**
 * On a narrow screen the table shows its first column and one more: the buttons that choose which.
 *
 * @param {Glass} glass
 * @param {Column[]} columns
 */
function createBeside(glass, columns) {
  const [first, ...others] = columns;
  const label = glass.text("families.beside", { name: first.name });
  const buttons = others.map(({ id, name }) =>
    h("button.gp-option", { "data-beside": id, click: () => chooseModel(glass, id) }, name),
  );
  const element = h(
    "div.fa-beside",
    { role: "group", "aria-label": label },
    h("span.gp-note", null, label),
    ...buttons,
  );
  /** @param {HTMLElement} table */
  function mark(table) {
    const { id } = others.find((column) => column.id === modelOf(glass)) ?? others[0];
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.beside === id));
    const at = columns.findIndex((column) => column.id === id) + 2; // as :nth-child counts, after the parts' names
    for (const cell of table.querySelectorAll("th, td"))
      cell.classList.toggle("is-beside", cell.matches(`:nth-child(${at})`));
  }
  return { element, mark };
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function families(element, glass) {
  const { state } = glass;
  /** @type {{ answer: Answer | null; trouble: import("../../types.d.ts").Refusal | null }} */
  const first = { answer: null, trouble: null };
  const view = reactive(first, glass.repaint);
  const shown = (/** @type {Answer} */ answer) => columnsOf(answer, viewOf(glass));
  const panel = frame(element, glass, "families", {
    csv: () => (view.answer ? savedTable(view.answer, shown(view.answer), panel.text, state.language) : [["part"]]),
    pointed: false,
  });
  familiesOf(glass).then(({ data, message }) =>
    Object.assign(view, { answer: data ?? null, trouble: message ?? null }),
  );
  const views = createViews(glass);
  const scroll = h("div.fa-scroll", { "data-part": "table" });
  const [from, choice] = [h("div"), h("div")];
  let markBeside = () => {};
  panel.body.append(
    h("p.gp-note.fa-notice", { "data-text": "families.notice" }),
    views.element,
    choice,
    scroll,
    h("p.gp-note", { "data-text": "families.legend" }),
    from,
  );

  /** The table and its sources, in which the same cell keeps the focus. @param {Answer} answer */
  function build(answer) {
    const columns = shown(answer);
    const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset?.cell;
    const made = tableOf(glass, answer, columns, panel);
    byKeys(made, "button.fa-cell", focused);
    const beside = createBeside(glass, columns);
    markBeside = () => beside.mark(made);
    markBeside();
    choice.replaceChildren(beside.element);
    scroll.replaceChildren(made);
    from.replaceChildren(sourcesOf(columns, panel.text));
    const again = focused ? made.querySelector(`[data-cell="${focused}"]`) : null;
    /** @type {HTMLElement | null} */ (again)?.focus({ preventScroll: true });
    panel.tell(`view=${viewOf(glass)} columns=${columns.length}`);
  }

  let built = "";
  return inView(element, function draw() {
    panel.title.textContent = panel.text(`title_${viewOf(glass)}`);
    views.mark();
    markBeside();
    if (view.trouble) scroll.replaceChildren(h("p.gp-note", null, troubleText(glass, view.trouble)));
    const wanted = `${viewOf(glass)} ${state.language} ${Boolean(view.answer)}`;
    if (!view.answer || wanted === built) return;
    built = wanted;
    build(view.answer);
  });
}
