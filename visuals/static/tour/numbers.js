// A number or a name as a stop says it: its value, and how it is written in the sentence. As precise as the panels are.

import { share, shown, signed } from "../dom.js";
import { word } from "../panels/glance/words.js";
import { exactBytes, scaled } from "../panels/kv/format.js";

/** @typedef {{ value: number | string; text: string }} Said */

/**
 * A count or an index.
 *
 * @returns {Said}
 */
export const whole = (value) => ({ value, text: String(value) });
/**
 * A probability or a weight.
 *
 * @returns {Said}
 */
export const chance = (value) => ({ value, text: share(value) });
/**
 * Any other value.
 *
 * @returns {Said}
 */
export const plain = (value, digits = 4) => ({ value, text: shown(value, digits) });
/**
 * What is added to something.
 *
 * @returns {Said}
 */
export const added = (value, digits = 4) => ({ value, text: signed(value, digits) });
/**
 * A token, as a word.
 *
 * @returns {Said}
 */
export const piece = (value) => ({ value, text: word(value) });
/**
 * Several, in a row.
 *
 * @param {string[]} values
 * @returns {Said}
 */
export const list = (values) => ({ value: values.join(", "), text: values.join(", ") });
/**
 * How many times as much, where it may be huge.
 *
 * @returns {Said}
 */
export const times = (value) => ({
  value,
  text: value < 100 ? shown(value, 3) : value < 1e6 ? String(Math.round(value)) : shown(value, 2),
});
/**
 * Bytes: exact, or in KiB, MiB, GiB.
 *
 * @param {"exact" | "binary"} [system]
 * @returns {Said}
 */
export const bytes = (value, system = "exact") => ({
  value,
  text: system === "exact" ? exactBytes(value) : scaled(value, system),
});
/**
 * How many times as much, to three digits.
 *
 * @returns {Said}
 */
export const factor = (value) => ({ value, text: String(Number(value.toPrecision(3))) });
/**
 * Multiply–adds, in millions.
 *
 * @returns {Said}
 */
export const millions = (value) => ({ value, text: shown(value / 1e6, 4) });
/**
 * A share of all, in percent.
 *
 * @returns {Said}
 */
export const percent = (value, digits = 1) => ({ value, text: `${(100 * value).toFixed(digits)}%` });
/**
 * Words of a text.
 *
 * @returns {Said}
 */
export const words = (value) => ({ value, text: value });
