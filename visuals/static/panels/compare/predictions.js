// The next token in two runs: every candidate that one of them ranks high, with its probability in both.

import { linkRows } from "../../controls.js";
import { fixed, shown, untied } from "../../dom.js";
import { visible } from "../../draw.js";
import { createTable, writeTexts } from "../../marks/table.js";

/**
 * @typedef {import("../../readings/compare.js").Candidate} Candidate
 *
 * @typedef {import("../../readings/compare.js").ChoicesReading["least"]} Least
 */

const COUNT = 10;

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
 * @param {number | null} change
 */
export const changeText = (change) =>
  change === null ? "" : `${change < 0 ? "−" : change > 0 ? "+" : ""}${sixth(Math.abs(change))}`;

/**
 * A candidate's probabilities and their change as they stand in a row.
 *
 * @param {Candidate} candidate
 * @param {Least} least
 */
export const cellsOf = ({ a, b, change }, least) => [written(a, least.a), written(b, least.b), changeText(change)];

/** @param {(id: number | null) => void} point says which candidate is looked at; null: none */
export function createPredictions(point) {
  /** @type {[string, string][]} */
  const numbers = ["a", "b", "change"].map((name) => [name, "td.gp-number"]);
  const table = createTable(null, [["token", "th.gp-token"], ...numbers], { rows: COUNT, focus: true });
  const acts = { preview: point, focus: point, endPreview: () => point(null) };
  linkRows(table.body, acts, ({ dataset }) => Number(dataset.id));

  /**
   * @param {Candidate[]} candidates
   * @param {Least} least
   * @param {import("../../types.d.ts").Say} text of the panel
   */
  function fill(candidates, least, text) {
    table.entitle(text);
    table.fill(candidates.slice(0, COUNT), (fields, candidate, line) => {
      line.dataset.id = String(candidate.id);
      writeTexts(fields, [visible(candidate.piece), ...cellsOf(candidate, least)]);
    });
  }
  return { element: table.element, fill };
}
