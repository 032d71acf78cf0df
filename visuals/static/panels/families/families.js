// The families beside each other: a table, each of whose cells leads to the panel that shows such a part at work.

import { frame } from "../../frame.js";
import { inView } from "../../pointing.js";
import { readFamilies } from "../../readings/families.js";
import { reactive } from "../../reads.js";
import { html, nothing, render } from "../../vendor/lit-html.js";
import { troubleText } from "../kv/trouble.js";
import {
  chooseLeft,
  chooseModel,
  chooseView,
  familiesOf,
  leftOf,
  liveOf,
  modelOf,
  placeOf,
  show,
  VIEWS,
  viewOf,
} from "./answer.js";
import { wordsOf } from "./cells.js";
import { walk } from "./grid.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../readings/families.js").Answer} Answer
 *
 * @typedef {import("../../readings/families.js").Column} Column
 *
 * @typedef {import("../../readings/families.js").CellPlace} CellPlace
 *
 * @typedef {import("../../readings/families.js").FamiliesReading} Reading
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
function lineView({ words, differs }, text) {
  if (!differs) return html`<span class="fa-line" .textContent=${words}></span>`;
  return html`<span class="fa-line is-other"
    ><span class="fa-mark" aria-hidden="true">≠ </span><span class="gp-hidden">${text("differs")}</span
    ><span .textContent=${words}></span
  ></span>`;
}

/**
 * A column's name, its release, and the model on offer that shows it.
 *
 * @param {Glass} glass
 * @param {Answer} answer
 * @param {Column} column
 * @param {Say} text of the panel
 * @param {boolean} isBeside it is what a narrow table shows beside the first column
 */
function headView(glass, answer, column, text, isBeside) {
  const [name] = liveOf(answer, column);
  const said = [column.release, name ? text("live", { model: glass.modelName(name) }) : ""].filter(Boolean);
  return html`<th scope="col" class=${isBeside ? "is-beside" : ""}>
    <strong>${column.name}</strong>${said.map((words) => html`<span class="fa-line" .textContent=${words}></span>`)}
  </th>`;
}

/**
 * Where the columns' facts come from.
 *
 * @param {Column[]} columns
 * @param {Say} text of the panel
 */
function sourcesView(columns, text) {
  const list = columns
    .filter(({ sources }) => sources.length)
    .map(
      ({ name, sources }) =>
        html`<div>
          <dt>${name}</dt>
          <dd lang="en" data-source>${sources.join("; ")}</dd>
        </div>`,
    );
  return html`<details class="fa-sources">
    <summary .textContent=${text("sources")}></summary>
    <p class="gp-note" .textContent=${text("sources_text")}></p>
    <dl>${list}</dl>
  </details>`;
}

/**
 * The buttons that choose a view.
 *
 * @param {Glass} glass
 * @param {Say} text of the panel
 */
function viewsView(glass, text) {
  const buttons = VIEWS.map(
    (name) =>
      html`<button
        class="gp-option"
        data-view=${name}
        aria-pressed=${String(name === viewOf(glass))}
        .textContent=${text(`view_${name}`)}
        @click=${() => chooseView(glass, name)}
      ></button>`,
  );
  return html`<div class="gp-options">
    <div class="gp-choices" role="group" aria-label=${text("views")}>${buttons}</div>
  </div>`;
}

/**
 * The column that a narrow table shows beside the first one: the chosen model's, else the second.
 *
 * @param {Glass} glass
 * @param {Column[]} columns
 */
const besideOf = (glass, [, ...others]) => others.find(({ id }) => id === modelOf(glass)) ?? others[0];

/**
 * On a narrow screen: what chooses the first column, and the buttons that choose the other.
 *
 * @param {Glass} glass
 * @param {Reading} reading
 * @param {Say} text of the panel
 */
function besideView(glass, { columns, choices }, text) {
  const [first, ...others] = columns;
  const label = text("beside", { name: first.name });
  const button = (/** @type {Column} */ column) =>
    html`<button
      class="gp-option"
      data-beside=${column.id}
      aria-pressed=${String(column === besideOf(glass, columns))}
      .textContent=${column.name}
      @click=${() => chooseModel(glass, column.id)}
    ></button>`;
  const option = (/** @type {Column} */ { id, name }) =>
    html`<option value=${id} .selected=${id === first.id} .textContent=${name}></option>`;
  const choose = (/** @type {Event} */ { currentTarget }) =>
    chooseLeft(glass, /** @type {HTMLSelectElement} */ (currentTarget).value);
  return html`<div class="fa-beside">
    <label
      ><span class="gp-note" .textContent=${text("left")}></span
      ><select @change=${choose}>
        ${choices.map(option)}
      </select></label
    >
    <div class="fa-others" role="group" aria-label=${label}>
      <span class="gp-note" .textContent=${label}></span>${others.map(button)}
    </div>
  </div>`;
}

/**
 * The table of a view's columns. One of its cells is reached by Tab, the arrows lead from there.
 *
 * @param {Glass} glass
 * @param {Answer} answer
 * @param {Reading} reading
 * @param {Say} text of the panel
 * @param {{ reached: CellPlace; look: (place: CellPlace) => void; reach: (place: CellPlace) => void }} act the cell
 *   that Tab reaches; which is looked at, and reached
 */
function tableView(glass, answer, { rowNames, columns }, text, { reached, look, reach }) {
  const known = reached && columns.some(({ id }) => id === reached.id);
  const tabbed = known ? reached : { id: columns[0].id, row: rowNames[0] };
  const beside = besideOf(glass, columns);
  /**
   * @param {Column} column
   * @param {string} row
   */
  function cell(column, row) {
    const { id } = column;
    const act = () => look({ id, row });
    const open = () => show(glass, liveOf(answer, column), placeOf(answer, column, row));
    const kinds = [column.cells[row]?.differs && "is-other", column === beside && "is-beside"].filter(Boolean);
    return html`<td class=${kinds.join(" ")}>
      <button
        class="fa-cell"
        data-cell=${`${id} ${row}`}
        tabindex=${tabbed.id === id && tabbed.row === row ? 0 : -1}
        @click=${open}
        @focus=${() => {
          act();
          reach({ id, row });
        }}
        @pointerenter=${act}
      >
        ${wordsOf(glass, column, row, text).map((line) => lineView(line, text))}
      </button>
    </td>`;
  }
  const lines = rowNames.map(
    (row) =>
      html`<tr>
        <th scope="row" .textContent=${text(`row_${row}`)}></th>
        ${columns.map((column) => cell(column, row))}
      </tr>`,
  );
  return html`<table
    class="gp-table fa-table"
    aria-label=${text("title")}
    style=${`min-width: ${WIDTHS.first + WIDTHS.each * columns.length}px`}
    @keydown=${(/** @type {KeyboardEvent} */ event) => walk(event, "button.fa-cell")}
  >
    <colgroup>
      ${[null, ...columns].map(() => html`<col />`)}
    </colgroup>
    <thead>
      <tr>
        <th scope="col" .textContent=${text("part")}></th>
        ${columns.map((column) => headView(glass, answer, column, text, column === beside))}
      </tr>
    </thead>
    <tbody>
      ${lines}
    </tbody>
  </table>`;
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function families(element, glass) {
  /**
   * @type {{
   *   answer: Answer | null;
   *   trouble: import("../../types.d.ts").Refusal | null;
   *   reached: CellPlace;
   * }}
   */
  const first = { answer: null, trouble: null, reached: null };
  const view = reactive(first, glass.repaint);
  const panel = frame(element, glass, "families", { pointed: false });
  const { text } = panel;
  familiesOf(glass).then(({ data, message }) =>
    Object.assign(view, { answer: data ?? null, trouble: message ?? null }),
  );
  /** @type {CellPlace} the cell that is looked at */
  let looked = null;
  const read = (/** @type {Answer} */ answer) => readFamilies(answer, viewOf(glass), looked, leftOf(glass));
  const look = (/** @type {CellPlace} */ place) => {
    looked = place;
    if (view.answer) panel.show(read(view.answer), "");
  };
  const reach = (/** @type {CellPlace} */ place) => {
    view.reached = place;
  };

  /**
   * @param {Answer} answer
   * @param {Reading} reading
   */
  const table = (answer, reading) => tableView(glass, answer, reading, text, { reached: view.reached, look, reach });

  return inView(element, function draw() {
    const { answer, trouble } = view;
    const reading = answer && read(answer);
    panel.title.textContent = text(`title_${viewOf(glass)}`);
    render(
      html`<p class="gp-note fa-notice" .textContent=${text("notice")}></p>
        ${viewsView(glass, text)} ${reading ? besideView(glass, reading, text) : nothing}
        <div class="fa-scroll" data-part="table">
          ${trouble ? html`<p class="gp-note" .textContent=${troubleText(glass, trouble)}></p>` : nothing}
          ${reading ? table(answer, reading) : nothing}
        </div>
        <p class="gp-note" .textContent=${text("legend")}></p>
        ${reading ? sourcesView(reading.columns, text) : nothing}`,
      panel.body,
    );
    if (reading) panel.show(reading, "");
  });
}
