// What a panel reads off a run: named numbers and tables, made once and used by its drawing, its value line, its CSV,
// and the difference of two runs. Pure: a reading knows no document, no language and no second run.

/**
 * A run as readings take it.
 *
 * @typedef {object} Run
 * @property {import("../decode.js").Trace} trace
 * @property {any} [held] the layer that is selected, where the reader asks for it
 * @property {Object<string, any>} details the server's answers to what the reader asks, by name; null for those
 *   that come `later` and are not here yet
 */

/**
 * Numbers in rows.
 *
 * @typedef {object} Table
 * @property {Object<string, ArrayLike<string | number>>} keys which row it is, by column
 * @property {Object<string, ArrayLike<number>>} columns its numbers, by column
 */

/**
 * What is read at one selection.
 *
 * @template {object} Selection
 * @typedef {object} Reading
 * @property {Selection} selection what was asked for; what it left open, such as the largest channel, is filled in
 * @property {string} at the place in the run, as the value line begins; "" of what is about no run
 * @property {Object<string, number>} values the value line's numbers, by name
 * @property {number} [digits] significant ones of each, where the usual ones do not tell what is to be seen
 * @property {string[]} [whole] which of them are counts, written digit by digit
 * @property {Object<string, () => Table>} rows tables by name, made when they are asked for; a CSV holds the first
 */

/**
 * What a calculator's answer is read as, which is of no run: no other is subtracted from it.
 *
 * @typedef {Pick<Reading<any>, "at" | "digits" | "whole"> & {
 *   values: Object<string, number | string | number[]>;
 *   beside?: Pick<AnswerReading, "at" | "values" | "digits" | "whole">;
 *   rows: Object<string, () => AnswerTable>;
 * }} AnswerReading
 *   `values`: a text is a whole number of more digits than a number holds, or a word; several numbers stand in a row;
 *   `beside`: what the value line says after them, of a second run
 *
 * @typedef {{ keys: Object<string, ArrayLike<Cell>>; columns: Object<string, ArrayLike<Cell>> }} AnswerTable
 *
 * @typedef {Part | Part[]} Cell of a file; several parts one after the other
 *
 * @typedef {number | string | Words} Part
 *
 * @typedef {{ key: string; params?: Record<string, unknown> } | import("../messages.d.ts").Remark} Words that the
 *   page has in each language: a text by its key, or a remark
 */

/**
 * What the server is asked: a question and its parameters; and several by name.
 *
 * @typedef {[what: keyof import("../messages.d.ts").Details, params: object]} Question
 *
 * @typedef {Object<string, Question>} Questions
 */

/**
 * How a panel reads. `Asked` is a selection that may leave open what a reading fills in. Where no run is subtracted
 * from another, a value may be more than a number.
 *
 * @template {AnswerReading & { selection: any }} Read
 * @template [Asked=Read["selection"]]
 * @typedef {object} Reader
 * @property {boolean} [layer] whether it needs the selected layer whole
 * @property {boolean} [neurons] and all neurons of the selected token there
 * @property {(
 *   trace: import("../decode.js").Trace,
 *   selection: Asked,
 *   answered: (...asked: Question) => any,
 * ) => Questions} [needs]
 *   what the server is asked for it, which depends on what it has `answered` where one question follows from another:
 *   null until it has
 * @property {(
 *   trace: import("../decode.js").Trace,
 *   selection: Asked,
 *   answered: (...asked: Question) => any,
 * ) => Questions} [later]
 *   what it reads without too
 * @property {(run: Run, selection: Asked) => Read} read
 */

/**
 * Two runs beside each other.
 *
 * @typedef {Record<"A" | "B", import("../decode.js").Trace>} Sides
 *
 * @typedef {Record<"A" | "B", Run>} Pair
 */

/**
 * How a panel reads two runs that it shows beside each other. What lies between them is among the values: nothing
 * is subtracted from such a reading.
 *
 * @template {AnswerReading} Read
 * @template Asked
 * @typedef {object} PairReader
 * @property {"needed" | "later"} [layer] whether it reads the layer that is selected of each, or also reads without
 *   it: then `held` is null until it has come
 * @property {(sides: Sides, selection: Asked) => Partial<Record<"A" | "B", Questions>>} [needs] what the server is
 *   asked of each
 * @property {(sides: Sides, selection: Asked) => Partial<Record<"A" | "B", Questions>>} [later] what it reads
 *   without, too
 * @property {(runs: Pair, selection: Asked) => Read} read
 */

/** Readings of runs hold no words. @type {(words: Words) => string} */
const unsaid = (words) => {
  throw new Error(`nobody says ${JSON.stringify(words)}`);
};

/**
 * The first table's rows as a file holds them.
 *
 * @param {Pick<AnswerReading, "rows">} reading
 * @param {(words: Words) => string} say words in the reader's language
 * @returns {(string | number)[][]} under a row of names
 */
export function savedRows({ rows }, say = unsaid) {
  const { keys, columns } = Object.values(rows)[0]();
  const all = Object.entries({ ...keys, ...columns });
  const count = all[0][1].length;
  const written = (/** @type {Part} */ part) => (typeof part === "object" ? say(part) : part);
  const cellOf = (/** @type {Cell} */ cell) => (Array.isArray(cell) ? cell.map(written).join("") : written(cell));
  const row = (/** @type {number} */ i) => all.map(([, cells]) => cellOf(cells[i]));
  return [all.map(([name]) => name), ...Array.from({ length: count }, (_, i) => row(i))];
}
