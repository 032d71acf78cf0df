// Bytes and counts as people read them: exact, in GiB and in GB; what models and factors are called.

import { byteUnit } from "../../counts.js";
import { fixed, shown } from "../../dom.js";
import { remarkIn } from "../../remark.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../messages.d.ts").Card & { called?: string | null }} Card of a model; `called`: as a pasted
 *   config calls itself
 *
 * @typedef {(code: string, params?: Record<string, unknown>) => string} Named the name of a factor
 */

/** What a byte is counted in from 1024, or 1000, on. @type {Record<"binary" | "decimal", [number, string[]]>} */
const UNITS = {
  binary: [1024, ["KiB", "MiB", "GiB", "TiB", "PiB"]],
  decimal: [1000, ["kB", "MB", "GB", "TB", "PB"]],
};

const SEPARATED = new Intl.NumberFormat("en-US");
/**
 * Whole numbers with separators, of any size.
 *
 * @param {number | string | bigint} count
 */
export const whole = (count) => SEPARATED.format(BigInt(count));

/**
 * @param {number | string | bigint} count of bytes
 * @returns {string} such as "8,589,934,592 B", on one line
 */
export const exactBytes = (count) => `${whole(count)}\u00a0${byteUnit()}`;

/**
 * In the unit that leaves a number under 1024 or 1000, without zeros at its end.
 *
 * @param {number | string | bigint} count of bytes
 * @param {"binary" | "decimal"} system
 * @param {number} significant digits, where those before the point are no more
 */
export function scaled(count, system, significant = 4) {
  const [base, larger] = UNITS[system];
  const names = [byteUnit(), ...larger];
  let value = Number(count);
  let step = 0;
  while (value >= base && step < names.length - 1) [value, step] = [value / base, step + 1];
  const before = value >= 1000 ? 4 : value >= 100 ? 3 : value >= 10 ? 2 : 1;
  const text = fixed(value, step === 0 ? 0 : Math.max(0, significant - before));
  return `${text.includes(".") ? text.replace(/\.?0+$/, "") : text} ${names[step]}`;
}

const GIB = 2 ** 30;

/**
 * A count of bytes in GiB with two decimals, as all cells of a column have.
 *
 * @param {number | string | bigint} count of bytes
 */
export const inGibibytes = (count) => `${fixed(Number(count) / GIB, 2)} GiB`;

/**
 * Both systems: "8 GiB = 8.59 GB".
 *
 * @param {number | string | bigint} count of bytes
 */
export const both = (count) => `${scaled(count, "binary")} = ${scaled(count, "decimal")}`;

/**
 * A ratio to three digits, such as "4" or "56.9".
 *
 * @param {number} ratio
 */
export const toThree = (ratio) => String(Number(ratio.toPrecision(3)));

/**
 * A time in ms, never as a power of ten.
 *
 * @param {number} seconds
 */
export const milli = (seconds) => (seconds < 0.9995 ? shown(1000 * seconds, 3) : whole(Math.round(1000 * seconds)));

/**
 * A number of a product, as visuals/kv.py hands it over: `params` are of its name, and `how` is its own arithmetic,
 * in words where it is no text.
 *
 * @typedef {object} Factor
 * @property {number} value
 * @property {string} code
 * @property {Record<string, unknown>} [params]
 * @property {string | import("../../messages.d.ts").HowMessage} [how]
 */

/**
 * The arithmetic of one factor, "" where it has none.
 *
 * @param {Factor["how"]} how
 * @param {Named} name
 */
export const origin = (how, name) => (typeof how === "object" ? name(`how_${how.code}`, how.params) : (how ?? ""));

/**
 * One product in a line: its factors under their names, and its bytes.
 *
 * @param {{ factors: Factor[]; bytes: number | string }} product
 * @param {Named} name
 */
export function productLine({ factors, bytes }, name) {
  const parts = factors.map(({ value, code, params, how }) => {
    const came = origin(how, name);
    return `${whole(value)} ${name(code, params)}${came ? ` (${came})` : ""}`;
  });
  return `${parts.join(" × ")} = ${exactBytes(bytes)}`;
}

/**
 * What a weight's product is of; parts of one kind share a name.
 *
 * @param {import("../../types.d.ts").Say} text
 * @param {string} label of model/kv_math/weights.py
 * @returns {string}
 */
export function weightName(text, label) {
  const [, part, beside] = label.match(/^(.+)\.(scales|zeros|order|tables)$/) ?? [];
  if (beside) return text(`kv.beside_${beside}`, { part: weightName(text, part) });
  const exact = text(`kv.w_${label.replace(/\./g, "_")}`);
  return exact.startsWith("kv.") ? text(`kv.w_${label.split(".")[0]}`) : exact;
}

/**
 * What a model is called: its own name, or the page's text for a pasted config.
 *
 * @param {Pick<Glass, "text">} glass
 * @param {string} model
 */
export const nameOf = (glass, model) => (model.startsWith("text:") ? glass.text(model.slice("text:".length)) : model);

/**
 * What a model is called in a file: as a pasted config calls itself, where it does.
 *
 * @param {Pick<Glass, "text">} glass
 * @param {Card} card
 */
export const calledIn = (glass, card) => card.called ?? nameOf(glass, card.name);

/**
 * Where a model's numbers were read.
 *
 * @param {Pick<Glass, "state">} glass
 * @param {Card} card
 * @returns {string}
 */
export const sourcesOf = (glass, card) => card.source.map((one) => remarkIn(one, glass.state.language)).join("; ");

/**
 * What a file of the calculators is of: the model that was asked about, and where its numbers were read.
 *
 * @param {Glass} glass
 * @param {{ card: Card } | null} answer
 */
export const subjectOf = (glass, answer) =>
  answer ? `${calledIn(glass, answer.card)} · ${sourcesOf(glass, answer.card)}` : "";

/**
 * That a figure is the sum of several GPUs, with copies of what each of them holds; "" of one.
 *
 * @param {number} gpus
 * @param {import("../../types.d.ts").Say} text of the section "kv"
 */
export const together = (gpus, text) => (gpus > 1 ? text("together", { gpus }) : "");
