// What the chapter on families reads off its table of facts: the cells of a view, the parameters of each network, and
// the numbers of what tables get wrong. It is of no run.

import { count } from "../dom.js";

/**
 * @typedef {import("../decoded.d.ts").Calculation<"families">} Answer
 *
 * @typedef {Answer["columns"][number]} Column
 *
 * @typedef {Column & { parameters: { total: number } }} Counted of which every weight is known
 *
 * @typedef {Column["parameters"]["groups"][number]["parts"][number]} Part
 *
 * @typedef {import("./reading.js").AnswerReading} AnswerReading
 */

/**
 * The columns of a view, in its order.
 *
 * @param {Answer} answer
 * @param {string} view
 */
const columnsOf = ({ columns, views }, view) =>
  views[view].flatMap((id) => columns.filter((column) => column.id === id));

/** Rows that are no part of a network. */
const COUNTED = ["parameters", "cache"];

/** @param {Record<string, string | number>} params */
const separated = (params) =>
  Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name, typeof value === "number" ? count(value) : value]),
  );

/**
 * A cell's lines, each with its words and whether LLaMA has none such.
 *
 * @param {Column} column
 * @param {string} row a part of a network
 * @returns {{ words: { key: string; params: Record<string, unknown> }; differs?: boolean }[]}
 */
export const linesOf = (column, row) =>
  column.cells[row].lines.map(({ code, params, differs }) => ({
    words: { key: `families.line_${code}`, params: separated(params) },
    differs,
  }));

/**
 * A cell as the value line says it: its column, its row, and the codes of its lines, or its number.
 *
 * @param {Column} column
 * @param {string} row
 * @returns {Pick<AnswerReading, "at" | "values" | "whole">}
 */
function cellAt(column, row) {
  const codes = column.cells[row]?.lines.map(({ code }) => code) ?? [];
  const at = [column.id, row, ...codes].join(" ");
  if (row === "cache") return { at, values: { bytes: column.cache.bytes }, whole: ["bytes"] };
  if (row === "parameters") return { at, values: { total: String(column.parameters.total) } };
  return { at, values: {} };
}

/**
 * The table as a file holds it: a column for each network.
 *
 * @param {Answer} answer
 * @param {Column[]} columns
 * @returns {import("./reading.js").AnswerTable}
 */
function tableOf({ rows }, columns) {
  /** @type {(column: Column, row: string) => import("./reading.js").Cell} */
  const words = (column, row) => linesOf(column, row).flatMap((line, i) => [...(i ? ["; "] : []), line.words]);
  return {
    keys: { part: [...rows.map((row) => ({ key: `families.row_${row}` })), "parameters", "cache_bytes_per_token"] },
    columns: Object.fromEntries(
      columns.map((column) => [
        column.name,
        [
          ...rows.map((row) => words(column, row)),
          column.parameters.total ?? column.parameters.published?.total ?? "",
          column.cache.bytes,
        ],
      ]),
    ),
  };
}

/**
 * @typedef {{ id: string; row: string } | null} CellPlace a cell that is looked at
 *
 * @typedef {AnswerReading & { rowNames: string[]; columns: Column[]; choices: Column[] }} FamiliesReading
 *   `rowNames`: all rows of the table, the counted ones last; `choices`: the columns in the view's own order
 */

/**
 * The families of a view beside each other.
 *
 * @param {Answer} answer
 * @param {string} view
 * @param {CellPlace} looked
 * @param {string} [left] the column that stands first; the view's first where the view has it not
 * @returns {FamiliesReading}
 */
export function readFamilies(answer, view, looked, left) {
  const choices = columnsOf(answer, view);
  const columns = [...choices.filter(({ id }) => id === left), ...choices.filter(({ id }) => id !== left)];
  const column = columns.find(({ id }) => id === looked?.id);
  return {
    ...(column && looked
      ? cellAt(column, looked.row)
      : { at: "", values: { view, columns: columns.length }, whole: ["columns"] }),
    rowNames: [...answer.rows, ...COUNTED],
    columns,
    choices,
    rows: { parts: () => tableOf(answer, columns) },
  };
}

/**
 * A part's product as text: layers × experts × what each holds.
 *
 * @param {Pick<Part, "layers" | "copies" | "how" | "each">} part
 */
export function productOf({ layers, copies, how, each }) {
  const one = how || count(each);
  const counts = [layers, copies].filter((times) => times > 1).map(count);
  const isSum = one.replace(/\([^)]*\)/g, "").includes(" + ");
  return [...counts, counts.length && isSum ? `(${one})` : one].join(" × ");
}

/**
 * Each part of each model with its product.
 *
 * @param {Counted[]} columns
 * @returns {import("./reading.js").AnswerTable}
 */
function productsOf(columns) {
  const lines = columns.flatMap(({ name, parameters: { groups } }) =>
    groups.flatMap(({ group, parts }) => parts.map((part) => ({ name, group, part }))),
  );
  return {
    keys: {
      model: lines.map(({ name }) => name),
      group: lines.map(({ group }) => group),
      part: lines.map(({ part }) => part.label),
      product: lines.map(({ part }) => productOf(part)),
    },
    columns: { weights: lines.map(({ part }) => part.weights) },
  };
}

/**
 * @typedef {AnswerReading & { columns: Counted[]; chosen: Counted }} ParametersReading `chosen`: whose products are
 *   shown
 */

/**
 * Where the parameters of a view's networks are.
 *
 * @param {Answer} answer
 * @param {string} view
 * @param {string | undefined} model the id of the column that is chosen; the first where the view has it not
 * @returns {ParametersReading}
 */
export function readParameters(answer, view, model) {
  const columns = columnsOf(answer, view).filter(
    /** @type {(column: Column) => column is Counted} */ (({ parameters }) => parameters.total !== null),
  );
  const chosen = columns.find(({ id }) => id === model) ?? columns[0];
  const { total, groups } = chosen.parameters;
  const parts = groups.map(({ group, weights }) => [group, weights]);
  return {
    columns,
    chosen,
    at: chosen.id,
    values: { total, ...Object.fromEntries(parts) },
    whole: ["total", ...groups.map(({ group }) => group)],
    rows: { parts: () => productsOf(columns) },
  };
}

/**
 * @typedef {Record<"claim" | "right" | "source", { key: string; params: Record<string, string> }>} Said
 *
 * @typedef {Answer["claims"][number] & { said: Said }} Myth a claim, what is so and where that was read, in words
 *
 * @typedef {AnswerReading & { myths: Myth[] }} MythsReading
 */

/**
 * What tables get wrong, with the numbers that its texts name: Mixtral's.
 *
 * @param {Answer} answer
 * @returns {MythsReading}
 */
export function readMyths({ columns, claims }) {
  const columnAt = (/** @type {string} */ id) => /** @type {Column} */ (columns.find((column) => column.id === id));
  const { groups, ...sums } = columnAt("mixtral").parameters;
  const [total, active] = [sums.total ?? 0, sums.active ?? 0];
  const experts = groups.find(({ group }) => group === "experts")?.weights ?? 0;
  const params = {
    total: count(total),
    active: count(active),
    experts: count(experts),
    rest: count(total - experts),
  };
  const myths = claims.map((claim) => {
    const words = (/** @type {string} */ part) => ({ key: `family-myths.${claim.name}_${part}`, params });
    return { ...claim, said: { claim: words("claim"), right: words("right"), source: words("source") } };
  });
  return {
    myths,
    at: "",
    values: { myths: myths.length, mixtral: total, active },
    whole: ["myths", "mixtral", "active"],
    rows: {
      myths: () => ({
        keys: {
          claim: myths.map(({ said }) => said.claim),
          right: myths.map(({ said }) => said.right),
          source: myths.map(({ said }) => said.source),
        },
        columns: { parameters: myths.map(({ column }) => columnAt(column).parameters.total ?? "") },
      }),
    },
  };
}
