// The cells of the table of families in words.

import { grouped } from "../../counts.js";
import { linesOf } from "../../readings/families.js";
import { cacheLines, parameterLines } from "./answer.js";

/** @type {Record<string, [times: number, unit: string]>} what a letter of a count stands for in Chinese */
const COUNTED = { T: [1, "万亿"], B: [10, "亿"] };

/**
 * A count of tokens as its makers write it, "15T+", in the language's units: "15 万亿以上".
 *
 * @param {unknown} count
 * @param {string} language
 */
function tokensSaid(count, language) {
  const [, number, letter, more] = (language === "zh" && /^([\d.]+)([TB])(\+?)$/.exec(String(count))) || [];
  if (!letter) return count;
  const [times, unit] = COUNTED[letter];
  return `${grouped(times * Number(number), language)} ${unit}${more ? "以上" : ""}`;
}

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
  const { language } = glass.state;
  if (row === "parameters") return parameterLines(column, text, language).map((words) => ({ words }));
  if (row === "cache") return cacheLines(column, text).map((words) => ({ words }));
  // Sizes are parts of models' names, of which one alone would else be read as a count.
  const said = (/** @type {[string, unknown]} */ [name, value]) => [
    name,
    row === "sizes" ? value : tokensSaid(value, language),
  ];
  return linesOf(column, row).map(({ words: { key, params }, differs }) => ({
    words: glass.text(key, Object.fromEntries(Object.entries(params ?? {}).map(said))),
    differs,
  }));
}
