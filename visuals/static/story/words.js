// How the story writes what it names: words, and numbers of two or three digits.

import { exact, h } from "../dom.js";
import { visible } from "../draw.js";

export { named, word as wordOf } from "../panels/glance/words.js";

/** @typedef {import("../types.d.ts").Texts["text"]} Say */

const NEVER = 1e-6; // below it a probability is not told any more

/**
 * An answer by name: what cannot be seen as a word of its own is called what it is.
 *
 * @param {Say} text
 * @param {string} piece
 * @param {boolean} [ends] whether it ends the text
 */
export function answerOf(text, piece, ends = false) {
  if (ends) return text("story.the_end");
  const bare = piece.trim();
  if (bare === ".") return text("story.full_stop");
  if (bare) return bare;
  if (piece.includes("\n")) return text("story.line_break");
  return piece ? text("story.blank") : visible(piece);
}

/**
 * Whole numbers in the language's own way.
 *
 * @param {number} x
 * @param {string} language
 */
export const count = (x, language) => x.toLocaleString(language === "zh" ? "zh-CN" : "en");

/**
 * A large number as it is said, to three digits: "8.4 million".
 *
 * @param {number} x
 * @param {string} language
 */
export const large = (x, language) =>
  new Intl.NumberFormat(language === "zh" ? "zh-CN" : "en", {
    notation: "compact",
    compactDisplay: "long",
    maximumSignificantDigits: 3,
  })
    .format(x)
    .replace(/(\d) ?(?=\p{L})/u, "$1\u00a0"); // in Chinese, too, as the page sets numbers and words; no line parts them

/**
 * Two or three significant digits.
 *
 * @param {number} x
 */
export const few = (x, digits = 3) => String(Number(x.toPrecision(digits))).replace("-", "−");

/**
 * A probability as it is said: in per cent, a small one as one in so many.
 *
 * @param {Say} text
 * @param {number} p
 * @param {string} language
 */
export function percent(text, p, language) {
  if (p < NEVER) return text("story.never");
  if (p < 0.001) return text("story.one_in", { count: count(Number((1 / p).toPrecision(2)), language) });
  if (p > 0.9995 && p < 1) return text("story.nearly_all");
  return `${Number((100 * p).toFixed(p < 0.1 ? 2 : 1))}%`;
}

/**
 * What is read in short, with all of it on pointing.
 *
 * @param {string} words
 * @param {number} value
 */
export const told = (words, value) => h("b", { title: exact(value, 6) }, words);

/**
 * @param {string} words
 * @param {string} [role] whose hue it has
 */
export const bold = (words, role) => h("b", role ? { style: `color: var(--glass-${role})` } : null, words);
