// The next token in two runs: every candidate that one of them ranks high, with its probability in both.

import { linkRows } from "../../controls.js";
import { atMost, shareSaid } from "../../counts.js";
import { shown } from "../../dom.js";
import { visible } from "../../draw.js";
import { createTable, writeTexts } from "../../marks/table.js";

/**
 * @typedef {import("../../readings/compare.js").Candidate} Candidate
 *
 * @typedef {import("../../readings/compare.js").ChoicesReading["least"]} Least
 *
 * @typedef {import("../../types.d.ts").Texts["text"]} Text
 */

const COUNT = 10;

/**
 * B − A in points of per cent, with its sign; nothing while one of the two is only known to be small.
 *
 * @param {Text} text of the page
 * @param {number | null} change
 */
export function changeText(text, change) {
  if (change === null) return "";
  const points = shareSaid(text, Math.abs(change)).replace("%", "");
  return /^\d/.test(points) && change ? `${change < 0 ? "−" : "+"}${points}` : points;
}

/**
 * A candidate's probabilities and their change as they stand in a row.
 *
 * @param {Text} text of the page
 * @param {Candidate} candidate
 * @param {Least} least
 */
export const cellsOf = (text, { a, b, change }, least) => [
  a === null ? atMost(text, least.a) : shareSaid(text, a),
  b === null ? atMost(text, least.b) : shareSaid(text, b),
  changeText(text, change),
];

/**
 * @param {Text} text of the page
 * @param {(id: number | null) => void} point says which candidate is looked at; null: none
 */
export function createPredictions(text, point) {
  /** @type {[string, string][]} */
  const numbers = ["a", "b", "change"].map((name) => [name, "td.gp-number"]);
  const table = createTable(null, [["token", "th.gp-token"], ...numbers], { rows: COUNT, focus: true });
  const acts = { preview: point, focus: point, endPreview: () => point(null) };
  linkRows(table.body, acts, ({ dataset }) => Number(dataset.id));

  /**
   * @param {Candidate[]} candidates
   * @param {Least} least
   */
  function fill(candidates, least) {
    table.entitle((name) => text(`compare.${name}`));
    table.fill(candidates.slice(0, COUNT), (fields, candidate, line) => {
      line.dataset.id = String(candidate.id);
      writeTexts(fields, [visible(candidate.piece), ...cellsOf(text, candidate, least)]);
      [candidate.a, candidate.b, candidate.change].forEach((value, i) => {
        fields[i + 1].title = value === null ? "" : shown(value, 5);
      });
    });
  }
  return { element: table.element, fill };
}
