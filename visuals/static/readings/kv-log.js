// What an engine's log beside the formula is read as: its figures, and the differences between them.

import { counted, nameCell } from "./kv-answer.js";

/**
 * @typedef {import("../messages.d.ts").KvLogAnswer} Answer
 *
 * @typedef {import("./reading.js").Cell} Cell
 */

export const COLUMNS = /** @type {const} */ (["formula", "reserved", "logged"]);

/**
 * The format of K and V; of both, where they have two.
 *
 * @param {Answer} answer
 */
export const formatOf = ({ dtype, dtype_v }) => (dtype === dtype_v ? dtype : `${dtype}/${dtype_v}`);

/**
 * What the figures are of, every figure, then every difference.
 *
 * @param {Answer} answer
 * @returns {[quantity: string, column: string, value: Cell, how: string, source: string][]}
 */
function figuresOf(answer) {
  const { engine, model, ranks, rows, differences } = answer;
  /** @type {ReturnType<typeof figuresOf>} */
  const found = [["engine", engine, nameCell(model), formatOf(answer), `ranks=${ranks}`]];
  for (const row of rows)
    for (const name of COLUMNS) {
      const cell = row[name];
      if (cell) found.push([row.quantity, name, counted(cell.value), cell.how, ""]);
    }
  for (const { code, of, bytes, params, source } of differences) {
    const told = Object.entries(params).map(([name, value]) => `${name}=${value}`);
    found.push([
      code,
      `difference_${of}`,
      bytes === null ? "" : counted(bytes),
      told.join(" "),
      (source?.address || source?.text) ?? "",
    ]);
  }
  if (answer.weights) {
    const { counted: bytes, dtype, logged, text, more, line } = answer.weights;
    if (bytes !== null) found.push(["weights", "counted", counted(bytes), dtype, ""]);
    found.push(["weights", "logged", counted(logged), text, `line ${line}`]);
    if (more !== null) found.push(["weights", "difference", counted(more), "", ""]);
  }
  for (const { code, value, line } of answer.beside) found.push([code, "logged", value, "", `line ${line}`]);
  return found;
}

/**
 * @param {Answer | null} answer
 * @returns {import("./reading.js").AnswerTable}
 */
function tableOf(answer) {
  const figures = answer ? figuresOf(answer) : [];
  return {
    keys: { quantity: figures.map(([quantity]) => quantity), column: figures.map(([, column]) => column) },
    columns: {
      value: figures.map(([, , value]) => value),
      how: figures.map(([, , , how]) => how),
      source: figures.map(([, , , , source]) => source),
    },
  };
}

/**
 * The bytes of the cache by the formula, as reserved and as logged, and what the last difference between them is.
 *
 * @param {Answer} answer
 * @returns {Record<string, number | string>}
 */
function valuesOf({ rows, differences }) {
  const bytes = rows.find(({ quantity }) => quantity === "bytes");
  const rest = differences.filter(({ of, bytes: more }) => of === "pool" && more !== null).at(-1);
  const figure = (/** @type {(typeof COLUMNS)[number]} */ name) => counted(bytes?.[name]?.value ?? "none");
  return { ...Object.fromEntries(COLUMNS.map((name) => [name, figure(name)])), rest: rest?.code ?? "none" };
}

/**
 * @typedef {import("./reading.js").AnswerReading & { answer: Answer | null }} LogReading
 * @param {Answer | null} answer null: no log was compared
 * @returns {LogReading}
 */
export const readLog = (answer) => ({
  answer,
  at: answer ? `engine=${answer.engine} dtype=${formatOf(answer)}` : "",
  values: answer ? valuesOf(answer) : {},
  whole: [...COLUMNS],
  rows: { figures: () => tableOf(answer) },
});
