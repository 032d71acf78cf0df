// The families beside each other: a table, each of whose cells leads to the panel that shows such a part at work.

import { h } from "../../dom.js";
import { frame } from "../../frame.js";
import { inView } from "../../pointing.js";
import { reactive } from "../../reads.js";
import { whole } from "../kv/format.js";
import { troubleText } from "../kv/trouble.js";
import {
  cacheLines,
  chooseView,
  columnsOf,
  familiesOf,
  liveOf,
  parameterLines,
  placeOf,
  show,
  VIEWS,
  viewOf,
} from "./answer.js";
import { byKeys } from "./grid.js";

export const about = { namesChanges: false };
const WIDTHS = { first: 84, each: 132 }; // at the least, in pixels, as style.css has them
const separated = (params) => Object.fromEntries(Object.entries(params).map(([name, count]) => [name, whole(count)]));

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function families(element, glass) {
  const { state } = glass;
  const panel = frame(element, glass, "families", { csv: () => table(), pointed: false });
  const view = reactive({ answer: null, trouble: null }, glass.repaint);
  familiesOf(glass).then(({ data, message }) =>
    Object.assign(view, { answer: data ?? null, trouble: message ?? null }),
  );

  const choices = VIEWS.map((name) =>
    h("button.gp-option", {
      "data-view": name,
      "data-text": `families.view_${name}`,
      click: () => chooseView(glass, name),
    }),
  );
  const options = h(
    "div.gp-options",
    null,
    h("div.gp-choices", { role: "group", "data-text-label": "families.views" }, ...choices),
  );
  const scroll = h("div.fa-scroll", { "data-part": "table" });
  const from = h("div");
  panel.body.append(
    h("p.gp-note.fa-notice", { "data-text": "families.notice" }),
    options,
    scroll,
    h("p.gp-note", { "data-text": "families.legend" }),
    from,
  );

  /** A cell's lines, each with its words and whether LLaMA has none such. */
  function linesOf(column, row) {
    if (row === "parameters") return parameterLines(column, panel.text, state.language).map((words) => ({ words }));
    if (row === "cache") return cacheLines(column, panel.text).map((words) => ({ words }));
    return column.cells[row].lines.map(({ code, params, differs }) => ({
      words: panel.text(`line_${code}`, separated(params)),
      differs,
    }));
  }
  const rows = () => [...view.answer.rows, "parameters", "cache"];
  const shown = () => columnsOf(view.answer, viewOf(glass));

  function table() {
    if (!view.answer) return [["part"]];
    const heads = [["part", ...shown().map(({ name }) => name)]];
    const words = view.answer.rows.map((row) => [
      panel.text(`row_${row}`),
      ...shown().map((column) =>
        linesOf(column, row)
          .map((line) => line.words)
          .join("; "),
      ),
    ]);
    const counts = [
      ["parameters", ...shown().map(({ parameters }) => parameters.total ?? parameters.published.total)],
      ["cache_bytes_per_token", ...shown().map(({ cache }) => cache.bytes)],
    ];
    return [...heads, ...words, ...counts];
  }

  function tell(column, row) {
    const codes =
      column.cells[row]?.lines.map(({ code }) => code).join(" ") ??
      (row === "cache" ? `bytes=${column.cache.bytes}` : `total=${column.parameters.total}`);
    panel.tell(`${column.id} ${row} ${codes}`);
  }

  function cell(column, row) {
    const lines = linesOf(column, row).map(({ words, differs }) =>
      h(
        `span.fa-line${differs ? ".is-other" : ""}`,
        null,
        ...(differs
          ? [
              h("span.fa-mark", { "aria-hidden": "true" }, "≠ "),
              h("span.gp-hidden", null, `${panel.text("differs")}: `),
            ]
          : []),
        words,
      ),
    );
    const act = () => {
      tell(column, row);
    };
    const button = h(
      "button.fa-cell",
      {
        "data-cell": `${column.id} ${row}`,
        click: () => show(glass, liveOf(view.answer, column), placeOf(view.answer, column, row)),
        focus: act,
        pointerenter: act,
      },
      ...lines,
    );
    return h(`td${column.cells[row]?.differs ? ".is-other" : ""}`, null, button);
  }

  function head(column) {
    const [name] = liveOf(view.answer, column);
    const said = [column.release, name && panel.text("live", { model: glass.modelName(name) })].filter(Boolean);
    return h(
      "th",
      { scope: "col" },
      h("strong", null, column.name),
      ...said.map((words) => h("span.fa-line", null, words)),
    );
  }

  function sources(columns) {
    const list = columns
      .filter(({ sources: own }) => own.length)
      .map(({ name, sources: own }) => h("div", null, h("dt", null, name), h("dd", { lang: "en" }, own.join("; "))));
    return h(
      "details.fa-sources",
      null,
      h("summary", null, panel.text("sources")),
      h("p.gp-note", null, panel.text("sources_text")),
      h("dl", null, ...list),
    );
  }

  function build() {
    const columns = shown();
    const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset?.cell;
    const body = rows().map((row) =>
      h("tr", null, h("th", { scope: "row" }, panel.text(`row_${row}`)), ...columns.map((column) => cell(column, row))),
    );
    const top = h("thead", null, h("tr", null, h("th", { scope: "col" }, panel.text("part")), ...columns.map(head)));
    const sizes = h("colgroup", null, ...[null, ...columns].map(() => h("col")));
    const made = h(
      "table.gp-table.fa-table",
      { "aria-label": panel.text("title"), style: `min-width: ${WIDTHS.first + WIDTHS.each * columns.length}px` },
      sizes,
      top,
      h("tbody", null, ...body),
    );
    byKeys(made, "button.fa-cell", focused);
    scroll.replaceChildren(made);
    from.replaceChildren(sources(columns));
    const again = focused ? made.querySelector(`[data-cell="${focused}"]`) : null;
    /** @type {HTMLElement | null} */ (again)?.focus({ preventScroll: true });
    panel.tell(`view=${viewOf(glass)} columns=${columns.length}`);
  }

  let built = "";
  return inView(element, function draw() {
    panel.title.textContent = panel.text(`title_${viewOf(glass)}`);
    for (const button of choices) button.setAttribute("aria-pressed", String(button.dataset.view === viewOf(glass)));
    if (view.trouble) scroll.replaceChildren(h("p.gp-note", null, troubleText(glass, view.trouble)));
    const wanted = `${viewOf(glass)} ${state.language} ${Boolean(view.answer)}`;
    if (!view.answer || wanted === built) return;
    built = wanted;
    build();
  });
}
