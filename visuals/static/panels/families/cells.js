// What the cells of the table of families say: lines of words, their codes, and the table as a file holds it.

import { whole } from "../kv/format.js";
import { cacheLines, parameterLines } from "./answer.js";

/**
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("./answer.js").Answer} Answer
 *
 * @typedef {import("./answer.js").Column} Column
 */

/** Rows that are no part of a network. */
const COUNTED = ["parameters", "cache"];

/** All rows of the table, the counted ones last. @param {Answer} answer */
export const rowsOf = (answer) => [...answer.rows, ...COUNTED];

/** @param {Record<string, string | number>} params */
const separated = (params) =>
  Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name, typeof value === "number" ? whole(value) : value]),
  );

/**
 * A cell's lines, each with its words and whether LLaMA has none such.
 *
 * @param {Column} column
 * @param {string} row
 * @param {Say} text of the panel
 * @param {string} language
 * @returns {{ words: string; differs?: boolean }[]}
 */
export function linesOf(column, row, text, language) {
  if (row === "parameters") return parameterLines(column, text, language).map((words) => ({ words }));
  if (row === "cache") return cacheLines(column, text).map((words) => ({ words }));
  return column.cells[row].lines.map(({ code, params, differs }) => ({
    words: text(`line_${code}`, separated(params)),
    differs,
  }));
}

/**
 * A cell for data-value: its column, its row, and the codes of its lines, or its number.
 *
 * @param {Column} column
 * @param {string} row
 */
export function valueOf(column, row) {
  const codes =
    column.cells[row]?.lines.map(({ code }) => code).join(" ") ??
    (row === "cache" ? `bytes=${column.cache.bytes}` : `total=${column.parameters.total}`);
  return `${column.id} ${row} ${codes}`;
}

/**
 * The table as a file holds it: a column for each network.
 *
 * @param {Answer} answer
 * @param {Column[]} columns of the view
 * @param {Say} text of the panel
 * @param {string} language
 * @returns {(string | number)[][]}
 */
export function savedTable(answer, columns, text, language) {
  const words = answer.rows.map((row) => [
    text(`row_${row}`),
    ...columns.map((column) =>
      linesOf(column, row, text, language)
        .map((line) => line.words)
        .join("; "),
    ),
  ]);
  return [
    ["part", ...columns.map(({ name }) => name)],
    ...words,
    ["parameters", ...columns.map(({ parameters }) => parameters.total ?? parameters.published?.total ?? "")],
    ["cache_bytes_per_token", ...columns.map(({ cache }) => cache.bytes)],
  ];
}
