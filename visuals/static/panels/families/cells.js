// The cells of the table of families in words.

import { linesOf } from "../../readings/families.js";
import { cacheLines, parameterLines } from "./answer.js";

/**
 * A cell's lines, each with its words and whether LLaMA has none such.
 *
 * @param {import("../../types.d.ts").Glass} glass
 * @param {import("../../readings/families.js").Column} column
 * @param {string} row
 * @param {import("../../types.d.ts").Say} text of the panel
 * @returns {{ words: string; differs?: boolean }[]}
 */
export function wordsOf(glass, column, row, text) {
  if (row === "parameters") return parameterLines(column, text, glass.state.language).map((words) => ({ words }));
  if (row === "cache") return cacheLines(column, text).map((words) => ({ words }));
  return linesOf(column, row).map(({ words: { key, params }, differs }) => ({
    words: glass.text(key, params),
    differs,
  }));
}
