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
 * @param {{
 *   title?: string;
 *   named?: (state, b) => object;
 *   needs?: string[];
 *   heading: string;
 *   values: (run, state, glass, b) => ArrayLike<number>;
 *   name: (i: number, b, glass, a) => string;
 *   order?: (change: Float64Array, b, a) => number[];
 *   absent?: (run) => boolean;
 *   bare?: boolean;
 *   wordy?: boolean;
 *   pick?: (i: number, state, b) => object;
 *   chosen?: (state) => number | null;
 *   rows?: number;
 * }} what
 *   `title` and `heading` are texts' names, `named` the title's parameters; `bare`: no bars, since the rows are no
 *   amounts of the same; `wordy`: names are sentences; `pick`: the selection a row stands for; without it the row
 *   under the pointer is the panel's own affair
 */
export const table = (what) => (glass, text) => {
  const { state } = glass;
  const most = what.rows ?? ROWS;
  /** @type {[string, string][]} */
  const numbers = ["in_A", "in_B", "change"].map((name) => [name, "td.gp-number"]);
  /** @type {[string, string][]} */
  const columns = [[what.heading, "th.gp-token"], ...numbers, ["bar", "td.mn-track"]];
  const grid = createTable("b_minus_a", columns, {
    rows: most + 2,
    focus: true,
    look: `.mn-table${what.bare ? ".mn-bare" : ""}${what.wordy ? ".mn-wordy" : ""}`,
  });
  const rows = grid.rows.map(({ line, fields: [name, a, b, change, track] }) => {
    const bar = h("span.mn-bar");
    track.append(bar);
    return { row: line, name, a, b, change, bar };
  });
  const others = rows.pop();
  others.row.classList.add("is-others");
  others.row.removeAttribute("tabindex");
  const scroll = h(
    "div.mn-scroll",
    {
      tabindex: "0",
      role: "region",
      "data-text-label": `b_minus_a.${what.named ? what.heading : (what.title ?? what.heading)}`,
    },
    grid.element,
  );
  const title = headingOf(what, text);
  const element = h("div", null, ...title.elements, scroll);
  let [now, listed, pointed, digits] = [null, [], null, 4];

  function point(i) {
    pointed = i;
    glass.repaint();
  }
  const own = { preview: point, select: point, focus: point, endPreview: () => point(null) };
  /** @param {HTMLTableRowElement} row */
  const indexOf = ({ sectionRowIndex }) => listed[sectionRowIndex];
  /** @param {HTMLTableRowElement} row */
  const selectionOf = (row) => (row.sectionRowIndex in listed ? what.pick(indexOf(row), state, now.b) : undefined);
  if (what.pick) linkRows(grid.body, glass, selectionOf, "tr");
  else linkRows(grid.body, own, indexOf, "tr");

  function fill(parts, words, a, b, change, limit) {
    const share = limit > 0 ? (50 * Math.abs(change)) / limit : 0;
    [parts.name.textContent, parts.a.textContent, parts.b.textContent] = [
      words,
      a === null ? "" : number(a, digits),
      b === null ? "" : number(b, digits),
    ];
    parts.change.textContent =
      a === null ? text("sum", { sum: shown(change, 3) }) : plus(change, number(change, digits));
    parts.bar.className = `mn-bar ${change < 0 ? "is-less" : "is-more"}`;
    Object.assign(parts.bar.style, { left: `${change < 0 ? 50 - share : 50}%`, width: a === null ? "0" : `${share}%` });
  }

  /** Which rows are listed: the largest changes, and the selected one. */
  function rowsFor({ change, found }, chosen) {
    return chosen === null || chosen >= change.length || found.includes(chosen) ? found : [...found, chosen];
  }

  const read = memo((a, b) => {
    const [first, second] = [a, b].map((run) => what.values(run, state, glass, b));
    const change = subtract(second, first);
    const order = what.order?.(change, b, a) ?? strongestChanges(change, most);
    now = { a, b, first, second, change, found: order.slice(0, most) };
    listed = [];
  });
  function draw(a, b, width) {
    digits = width < NARROW ? 3 : 4;
    const chosen = what.chosen?.(state) ?? null;
    title.show(state, b);
    read(a, b, digits, state.language);
    const wanted = rowsFor(now, chosen);
    if (wanted.join() !== listed.join()) {
      listed = wanted;
      const limit = largest(listed.map((i) => now.change[i]));
      rows.forEach((parts, place) => {
        const i = listed[place];
        parts.row.hidden = i === undefined;
        if (i !== undefined) fill(parts, what.name(i, b, glass, a), now.first[i], now.second[i], now.change[i], limit);
      });
      const { count, sum } = remainder(now.change, listed);
      others.row.hidden = count === 0;
      fill(others, text("others", { count }), null, null, sum, 0);
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
  const same = () => largest(now.change) === 0;
  return {
    element,
    draw,
    csv,
    same,
    called: what.title ?? what.heading,
    pointed: () => pointed,
    needs: what.needs,
    absent: what.absent,
  };
};
