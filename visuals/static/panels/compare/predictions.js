// The next token in two runs: every candidate that one of them ranks high, with its probability in both.

import { topCandidates } from "../../compute.js";
import { linkRows } from "../../controls.js";
import { exact, fixed, shown, untied } from "../../dom.js";
import { visible } from "../../draw.js";
import { createTable } from "../../marks/table.js";

const COUNT = 10;

/**
 * What follows a run.
 *
 * @typedef {import("../../decode.js").Next & { all: ArrayLike<number> | null }} Next `all`: the logits of the whole
 *   vocabulary by id, null until they have come
 */

/**
 * A candidate's probability by id: exact from all logits. Until they have come, what is not among the candidates
 * that the run was sent with is at most as probable as the last of them.
 *
 * @param {Next} next
 * @returns {{ of: (id: number) => number | null; least: number }}
 */
export function probabilities(next) {
  const known = new Map(topCandidates(next, next.ids.length).rows.map(({ id, probability }) => [id, probability]));
  const least = Math.min(...known.values());
  const { all } = next;
  // not in this vocabulary: never next
  return { of: (id) => (all ? (id < all.length ? Math.exp(all[id] - next.logZ) : 0) : (known.get(id) ?? null)), least };
}

/**
 * The candidates of both runs, the ones with the largest probability in either first.
 *
 * @param {Next} a
 * @param {Next} b
 * @returns {{ id: number; piece: string; a: number | null; b: number | null }[]} null: not among a run's
 *   candidates, and its other logits are still to come
 */
export function compared(a, b, count = COUNT) {
  const [first, second] = [probabilities(a), probabilities(b)];
  /** @type {Map<number, string>} */
  const pieces = new Map();
  for (const next of [a, b]) next.ids.forEach((id, i) => pieces.set(id, next.pieces[i]));
  const rows = [...pieces].map(([id, piece]) => ({ id, piece, a: first.of(id), b: second.of(id) }));
  return rows.sort((x, y) => Math.max(y.a ?? 0, y.b ?? 0) - Math.max(x.a ?? 0, x.b ?? 0)).slice(0, count);
}

/**
 * All three columns have so many decimals, so that B − A can be checked by eye; what they cannot show is a power of
 * ten.
 */
const DECIMALS = 6;
/** @param {number} x */
const sixth = (x) => (x === 0 || x >= 10 ** -DECIMALS / 2 ? untied(x, DECIMALS, fixed) : shown(x, 3));
/** @type {(value: number | null, least: number) => string} */
const written = (value, least) => (value === null ? `≤ ${sixth(least)}` : sixth(value));

/**
 * B − A with its sign; nothing while one of the two is only known to be small.
 *
 * @param {number | null} a
 * @param {number | null} b
 */
export function change(a, b) {
  if (a === null || b === null) return "";
  return `${b < a ? "−" : b > a ? "+" : ""}${sixth(Math.abs(b - a))}`;
}

/**
 * @param {import("../../types.d.ts").Say} text of the panel
 * @param {(value: string, reading: string) => void} tell
 */
export function createPredictions(text, tell) {
  /** @type {[string, string][]} */
  const columns = [
    ["token", "th.gp-token"],
    ...["a", "b", "change"].map((name) => /** @type {[string, string]} */ ([name, "td.gp-number"])),
  ];
  const { element, body, line } = createTable("compare", columns, { focus: true });
  /** @type {[string, string][]} Of the rows: the value, and in words. */
  let readings = [];
  const say = (/** @type {[string, string]} */ [value, reading]) => tell(value, reading);
  /** @param {HTMLElement} row */
  const readingOf = (row) => readings[/** @type {HTMLTableRowElement} */ (row).sectionRowIndex];
  linkRows(body, { preview: say, focus: say }, readingOf, "tr");

  /**
   * @param {Next} a what follows run A
   * @param {Next} b what follows run B
   */
  function fill(a, b) {
    const [first, second] = [probabilities(a).least, probabilities(b).least];
    readings = [];
    const rows = compared(a, b).map((row) => {
      const cells = [written(row.a, first), written(row.b, second), change(row.a, row.b)];
      readings.push([
        `'${row.piece}' A=${row.a === null ? "?" : exact(row.a)} B=${row.b === null ? "?" : exact(row.b)}`,
        text("read", { piece: visible(row.piece), a: cells[0], b: cells[1], change: cells[2] || "–" }),
      ]);
      return line([visible(row.piece), ...cells]);
    });
    body.replaceChildren(...rows);
  }
  return { element, fill };
}
