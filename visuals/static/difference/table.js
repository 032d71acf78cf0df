// A row for each value: in A, in B, and B − A as a number and as a bar to the right (larger in B) or left of the
// middle.

import { largest, subtract } from "../arrays.js";
import { linkRows } from "../controls.js";
import { h, shown } from "../dom.js";
import { withSign, writtenOut } from "../equation.js";
import { createTable, writeNumber } from "../marks/table.js";
import { memo } from "../reads.js";
import { shownIn } from "../run-for.js";
import { headingOf } from "./heading.js";
import { rowsOf } from "./saved.js";

const ROWS = 12;
export const READ = 3; // digits that a number begins with as it is read
const DIGITS = 5; // on pointing

/**
 * Indices of the largest changes, in the order of their size; of equal ones the lower index first, and none that is
 * NaN.
 *
 * @param {ArrayLike<number>} change
 * @param {number} count
 * @returns {number[]}
 */
export function strongestChanges(change, count) {
  const order = Array.from(change, (_, i) => i).filter((i) => !Number.isNaN(change[i]));
  return order.sort((i, j) => Math.abs(change[j]) - Math.abs(change[i]) || i - j).slice(0, count);
}

/**
 * The index of the largest change.
 *
 * @param {Float64Array} change
 * @returns {number}
 */
export const mostChanged = (change) =>
  change.reduce((best, value, i) => (Math.abs(value) > Math.abs(change[best]) ? i : best), 0);

/**
 * What the rows that are not listed change: how many there are and Σ|B − A|.
 *
 * @param {Float64Array} change
 * @param {number[]} listed
 */
export function remainder(change, listed) {
  const named = new Set(listed);
  let sum = 0;
  let count = 0;
  change.forEach((value, i) => {
    if (named.has(i) || Number.isNaN(value)) return;
    count += 1;
    sum += Math.abs(value);
  });
  return { count, sum };
}

const WHOLE = 6; // digits up to which a count is written as it is: no power of ten is shorter

/**
 * A count as it is, any other number to so many digits.
 *
 * @param {number} x
 * @param {number} digits
 */
export const number = (x, digits) =>
  Number.isInteger(x) && Math.abs(x) < 10 ** WHOLE ? String(x).replace("-", "−") : shown(x, digits);
/** The power of ten of a number's first digit. @param {number} x */
const orderOf = (x) => Math.floor(Math.log10(Math.abs(x)));

/**
 * What a number is in A, in B, and B − A, in digits that come out: so that a row stays narrow, A and B have one
 * digit more at most, or as many as leave two of the change.
 *
 * @param {number} a
 * @param {number} b
 * @param {number} digits to begin with
 */
export function subtractedWritten(a, b, digits) {
  const change = b - a;
  const most = change
    ? Math.max(digits + 1, 2 + orderOf(Math.max(Math.abs(a), Math.abs(b))) - orderOf(change))
    : digits;
  /** @type {import("../equation.js").Step<"a" | "b" | "change">[]} */
  const steps = [["change", ["b", "a"], (inB, inA) => inB - inA]];
  const said = writtenOut({ a, b, change }, steps, { digits, write: number, of: { a: { most }, b: { most } } });
  return { ...said, change: withSign(said.change) };
}

/**
 * @typedef {import("./face.js").Run} Run
 *
 * @typedef {import("./face.js").State} State
 *
 * @typedef {import("../types.d.ts").Glass} Glass
 *
 * @typedef {object} TableLook
 * @property {string} heading a text's name
 * @property {boolean} [bare] no bars, since the rows are no amounts of the same
 * @property {boolean} [wordy] names are sentences
 * @property {number} [rows] how many are listed at most
 */
/**
 * @template {Run} Of
 * @typedef {object} OwnTable
 * @property {(run: Of, state: State, glass: Glass, b: Of) => ArrayLike<number>} values
 * @property {(i: number, b: Of, glass: Glass, a: Of) => string} name of a row
 * @property {string[]} [needs] as of face.js's Part
 * @property {(change: Float64Array, b: Of, a: Of) => number[]} [order] which rows come first; else the largest
 *   changes
 * @property {(run: Of) => boolean} [absent] as of face.js's Part
 * @property {(i: number, state: State, b: Of) => Partial<import("../selection.js").Selection>} [pick] the selection
 *   a row stands for; without it the row under the pointer is the panel's own affair
 * @property {(state: State) => number | null} [chosen] which row is selected
 */
/**
 * What a table lists of both runs.
 *
 * @template {Run} Of
 * @typedef {TableLook & OwnTable<Of> & import("./heading.js").Titled<Of>} TableView
 */

/**
 * The rows as elements: those that are listed, and one for all others.
 *
 * @param {TableLook & { title?: string; named?: unknown }} what
 */
function createRows({ rows: most = ROWS, heading, title, named, bare, wordy }) {
  /** @type {[string, string][]} */
  const numbers = ["in_A", "in_B", "change"].map((name) => [name, "td.gp-number"]);
  /** @type {[string, string][]} */
  const columns = [[heading, "th.gp-token"], ...numbers, ["bar", "td.mn-track"]];
  const grid = createTable("b_minus_a", columns, {
    rows: most + 2,
    focus: true,
    look: `.mn-table${bare ? ".mn-bare" : ""}${wordy ? ".mn-wordy" : ""}`,
  });
  const all = grid.rows.map(({ line, fields: [name, a, b, change, track] }) => {
    const bar = h("span.mn-bar");
    track.append(bar);
    return { row: line, name, a, b, change, bar };
  });
  const [rows, others] = [all.slice(0, -1), all[all.length - 1]];
  others.row.classList.add("is-others");
  others.row.removeAttribute("tabindex");
  const label = `b_minus_a.${named ? heading : (title ?? heading)}`;
  const scroll = h("div.mn-scroll", { tabindex: "0", role: "region", "data-text-label": label }, grid.element);
  return { scroll, body: grid.body, rows, others };
}

/** @typedef {ReturnType<typeof createRows>["others"]} RowParts */

/**
 * Fills a row: both values, their difference, and its bar.
 *
 * @param {RowParts} parts
 * @param {string} words its name
 * @param {{ a: number; b: number; change: number }} values
 * @param {number} limit the change whose bar reaches to the edge
 */
function fillRow(parts, words, { a, b, change }, limit) {
  const share = limit > 0 ? (50 * Math.abs(change)) / limit : 0;
  parts.name.textContent = words;
  const [read, exact] = [READ, DIGITS].map((digits) => subtractedWritten(a, b, digits));
  for (const name of /** @type {const} */ (["a", "b", "change"])) writeNumber(parts[name], exact[name], read[name]);
  parts.bar.className = `mn-bar ${change < 0 ? "is-less" : "is-more"}`;
  Object.assign(parts.bar.style, { left: `${change < 0 ? 50 - share : 50}%`, width: `${share}%` });
}

/**
 * Which rows are listed: the largest changes, and the selected one.
 *
 * @param {number[]} found
 * @param {number | null} chosen
 * @param {number} count of all rows
 */
const rowsFor = (found, chosen, count) =>
  chosen === null || chosen >= count || found.includes(chosen) ? found : [...found, chosen];

/**
 * What is listed of two runs: the values of both, their difference, and which rows come first.
 *
 * @template {Run} Of
 * @param {TableView<Of>} what
 * @param {Of} a
 * @param {Of} b
 * @param {Glass} glass
 */
function subtracted(what, a, b, glass) {
  const most = what.rows ?? ROWS;
  const [first, second] = [a, b].map((run) => what.values(run, shownIn(glass), glass, b));
  const change = subtract(second, first);
  const order = what.order?.(change, b, a) ?? strongestChanges(change, most);
  return { a, b, first, second, change, found: order.slice(0, most) };
}

/**
 * @template {Run} Of
 * @param {TableView<Of>} what
 * @returns {(glass: Glass, text: import("../types.d.ts").Say) => import("./face.js").Part<Of>}
 */
export const table = (what) => (glass, text) => {
  const state = shownIn(glass);
  const { scroll, body, rows, others } = createRows(what);
  const title = headingOf(what, text);
  const element = h("div", null, ...title.elements, scroll);
  /** @type {ReturnType<typeof subtracted<Of>> | null} null until it is drawn */
  let now = null;
  /** @type {number[]} */
  let listed = [];
  /** @type {number | null} */
  let pointed = null;

  /** @param {number | null} i */
  function point(i) {
    pointed = i;
    glass.repaint();
  }
  const own = { preview: point, select: point, focus: point, endPreview: () => point(null) };
  /** @param {HTMLElement} row */
  const indexOf = (row) => listed[/** @type {HTMLTableRowElement} */ (row).sectionRowIndex];
  const { pick } = what;
  /** @param {HTMLElement} row */
  function selectionOf(row) {
    const i = indexOf(row);
    return pick && now && i !== undefined ? pick(i, state, now.b) : undefined;
  }
  if (pick) linkRows(body, glass, selectionOf, "tr");
  else linkRows(body, own, indexOf, "tr");

  const read = memo((/** @type {Of} */ a, /** @type {Of} */ b) => {
    now = subtracted(what, a, b, glass);
    listed = [];
  });
  /**
   * Fills the listed rows, and the one for all others.
   *
   * @param {ReturnType<typeof subtracted<Of>>} found
   */
  function fill({ a, b, first, second, change }) {
    const limit = largest(listed.map((i) => change[i]));
    rows.forEach((parts, place) => {
      const i = listed[place];
      parts.row.hidden = i === undefined;
      if (i === undefined) return;
      fillRow(parts, what.name(i, b, glass, a), { a: first[i], b: second[i], change: change[i] }, limit);
    });
    const { count, sum } = remainder(change, listed);
    others.row.hidden = count === 0;
    others.name.textContent = text("others", { count });
    others.change.textContent = text("sum", { sum: shown(sum, 3) });
  }
  /** @type {import("./face.js").Part<Of>["draw"]} */
  function draw(a, b) {
    const chosen = what.chosen?.(state) ?? null;
    title.show(state, b);
    read(a, b, state.language);
    if (!now) return;
    const wanted = rowsFor(now.found, chosen, now.change.length);
    if (wanted.join() !== listed.join()) {
      listed = wanted;
      fill(now);
    }
    rows.forEach(({ row }, place) =>
      row.classList.toggle("is-chosen", listed[place] !== undefined && listed[place] === chosen),
    );
  }
  function csv() {
    if (!now) return [];
    const { a, b, first, second } = now;
    const about = what.named?.(state, b) ?? {};
    const name = (/** @type {number} */ i) => [...Object.values(about), what.name(i, b, glass, a), i];
    return rowsOf([...Object.keys(about), "name", "index"], name, first, second);
  }
  const { needs, absent } = what;
  const same = () => now !== null && largest(now.change) === 0;
  return { element, draw, csv, same, called: what.title ?? what.heading, pointed: () => pointed, needs, absent };
};
