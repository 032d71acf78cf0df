// A row for each value: in A, in B, and B − A as a number and as a bar to the right (larger in B) or left of the
// middle.

import { largest, subtract } from "../arrays.js";
import { linkRows } from "../controls.js";
import { h, shown } from "../dom.js";
import { createTable } from "../marks/table.js";
import { memo } from "../reads.js";
import { headingOf } from "./heading.js";
import { rowsOf } from "./saved.js";

const ROWS = 12;
const NARROW = 420; // px under which numbers have a digit less, as style.css sets three of them beside each other

/**
 * Indices of the largest changes, in the order of their size; of equal ones the lower index first, and none that is
 * NaN.
 *
 * @returns {number[]}
 */
export function strongestChanges(change, count) {
  const order = Array.from(change, (_, i) => i).filter((i) => !Number.isNaN(change[i]));
  return order.sort((i, j) => Math.abs(change[j]) - Math.abs(change[i]) || i - j).slice(0, count);
}

/**
 * The index of the largest change.
 *
 * @returns {number}
 */
export const mostChanged = (change) =>
  change.reduce((best, value, i) => (Math.abs(value) > Math.abs(change[best]) ? i : best), 0);

/** What the rows that are not listed change: how many there are and Σ|B − A|. */
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

/** A count as it is, any other number to so many digits. */
export const number = (x, digits) =>
  Number.isInteger(x) && Math.abs(x) < 10 ** Math.max(4, digits) ? String(x).replace("-", "−") : shown(x, digits);
/** With a sign in front, also where positive; 0 has none. */
export const plus = (x, text) => (x > 0 ? `+${text}` : text);

/**
 * What a table lists of both runs.
 *
 * @typedef {object} TableView
 * @property {string} heading a text's name
 * @property {(run, state, glass, b) => ArrayLike<number>} values
 * @property {(i: number, b, glass, a) => string} name of a row
 * @property {string} [title] a text's name
 * @property {(state, b) => object} [named] the title's parameters
 * @property {string[]} [needs] as of face.js's Part
 * @property {(change: Float64Array, b, a) => number[]} [order] which rows come first; else the largest changes
 * @property {(run) => boolean} [absent] as of face.js's Part
 * @property {boolean} [bare] no bars, since the rows are no amounts of the same
 * @property {boolean} [wordy] names are sentences
 * @property {(i: number, state, b) => object} [pick] the selection a row stands for; without it the row under the
 *   pointer is the panel's own affair
 * @property {(state) => number | null} [chosen] which row is selected
 * @property {number} [rows] how many are listed at most
 */

/**
 * The rows as elements: those that are listed, and one for all others.
 *
 * @param {TableView} what
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
  const rows = grid.rows.map(({ line, fields: [name, a, b, change, track] }) => {
    const bar = h("span.mn-bar");
    track.append(bar);
    return { row: line, name, a, b, change, bar };
  });
  const others = rows.pop();
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
 * @param {{ digits: number; limit: number }} how `limit`: the change whose bar reaches to the edge
 */
function fillRow(parts, words, { a, b, change }, { digits, limit }) {
  const share = limit > 0 ? (50 * Math.abs(change)) / limit : 0;
  parts.name.textContent = words;
  parts.a.textContent = number(a, digits);
  parts.b.textContent = number(b, digits);
  parts.change.textContent = plus(change, number(change, digits));
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
 * @param {TableView} what
 * @param {import("../marks/runs.js").Run} a
 * @param {import("../marks/runs.js").Run} b
 * @param {import("../types.d.ts").Glass} glass
 */
function subtracted(what, a, b, glass) {
  const most = what.rows ?? ROWS;
  const [first, second] = [a, b].map((run) => what.values(run, glass.state, glass, b));
  const change = subtract(second, first);
  const order = what.order?.(change, b, a) ?? strongestChanges(change, most);
  return { a, b, first, second, change, found: order.slice(0, most) };
}

/**
 * @param {TableView} what
 * @returns {(glass: import("../types.d.ts").Glass, text: Function) => import("./face.js").Part}
 */
export const table = (what) => (glass, text) => {
  const { state } = glass;
  const { scroll, body, rows, others } = createRows(what);
  const title = headingOf(what, text);
  const element = h("div", null, ...title.elements, scroll);
  /** @type {ReturnType<typeof subtracted> | null} */
  let now = null;
  let listed = [];
  let pointed = null;

  function point(i) {
    pointed = i;
    glass.repaint();
  }
  const own = { preview: point, select: point, focus: point, endPreview: () => point(null) };
  /** @param {HTMLTableRowElement} row */
  const indexOf = ({ sectionRowIndex }) => listed[sectionRowIndex];
  /** @param {HTMLTableRowElement} row */
  const selectionOf = (row) => (row.sectionRowIndex in listed ? what.pick(indexOf(row), state, now.b) : undefined);
  if (what.pick) linkRows(body, glass, selectionOf, "tr");
  else linkRows(body, own, indexOf, "tr");

  const read = memo((a, b, _digits, _language) => {
    now = subtracted(what, a, b, glass);
    listed = [];
  });
  /** Fills the listed rows, and the one for all others. */
  function fill(digits) {
    const { a, b, first, second, change } = now;
    const limit = largest(listed.map((i) => change[i]));
    rows.forEach((parts, place) => {
      const i = listed[place];
      parts.row.hidden = i === undefined;
      if (i === undefined) return;
      fillRow(parts, what.name(i, b, glass, a), { a: first[i], b: second[i], change: change[i] }, { digits, limit });
    });
    const { count, sum } = remainder(change, listed);
    others.row.hidden = count === 0;
    others.name.textContent = text("others", { count });
    others.change.textContent = text("sum", { sum: shown(sum, 3) });
  }
  function draw(a, b, width) {
    const digits = width < NARROW ? 3 : 4;
    const chosen = what.chosen?.(state) ?? null;
    title.show(state, b);
    read(a, b, digits, state.language);
    const wanted = rowsFor(now.found, chosen, now.change.length);
    if (wanted.join() !== listed.join()) {
      listed = wanted;
      fill(digits);
    }
    rows.forEach(({ row }, place) =>
      row.classList.toggle("is-chosen", listed[place] !== undefined && listed[place] === chosen),
    );
  }
  function csv() {
    const about = what.named?.(state, now.b) ?? {};
    const name = (i) => [...Object.values(about), what.name(i, now.b, glass, now.a), i];
    return rowsOf([...Object.keys(about), "name", "index"], name, now.first, now.second);
  }
  const { needs, absent } = what;
  const same = () => largest(now.change) === 0;
  return { element, draw, csv, same, called: what.title ?? what.heading, pointed: () => pointed, needs, absent };
};
