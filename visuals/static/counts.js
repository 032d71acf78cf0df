// Large counts, probabilities and shares, as people say them.

import { percent } from "./dom.js";

/** @typedef {import("./types.d.ts").Texts["text"]} Say */

const HARDLY = 1e-5; // below it per cent would be zeros, or a power of ten
const NEARLY = 0.9995; // from here on three digits would say "100%"

/**
 * By language: what a count is divided by, and the word for that.
 *
 * @type {Record<string, [number, string][]>}
 */
const SCALES = {
  en: [
    [1e9, " B"],
    [1e6, " M"],
    [1e3, " k"],
  ],
  zh: [
    [1e8, " 亿"],
    [1e4, " 万"],
  ],
};

/**
 * @param {number} count
 * @param {string} language
 * @param {number} [digits] of a number below 100
 * @returns {string} such as "6.6 M", "1.24 B" or "659 万"
 */
export function shortCount(count, language = "en", digits = 0) {
  const [scale, unit] = SCALES[language].find(([least]) => count >= least) ?? [1, ""];
  const value = count / scale;
  if (!unit || value >= 100) return `${grouped(Math.round(value), language)}${unit}`;
  return `${Number(value.toPrecision(digits || (value < 2 ? 3 : 2)))}${unit}`;
}

/**
 * Whole numbers in the language's own way.
 *
 * @param {number} x
 * @param {string} language
 */
export const grouped = (x, language) => x.toLocaleString(language === "zh" ? "zh-CN" : "en");

/**
 * The unit of a number of bytes in the page's language: Chinese texts, and the blanks of a worksheet, have the
 * word.
 */
export const byteUnit = () => (globalThis.document?.documentElement.lang.startsWith("zh") ? "字节" : "B");

/** How what is just below the whole is called. @param {number} x */
const nearlyAll = (x) => (x > 1 - HARDLY ? "nearly_all_of_it" : "nearly_all");

/**
 * A probability, or another share of a whole: per cent with three digits, wherever on the page it stands. What is
 * just below the whole is not the whole, and what is next to nothing is not nothing.
 *
 * @param {Say} text
 * @param {number} x
 */
export function shareSaid(text, x) {
  if (x >= NEARLY && x < 1) return text(`chance.${nearlyAll(x)}`);
  if (x > 0 && x < HARDLY) return text("chance.hardly_any");
  return x > 0 ? `${(100 * x).toPrecision(3)}%` : percent(x);
}

/**
 * A probability with its letter, "p = 12.0%", or "p > 99.9%" where it is just below the whole, as `shareSaid` has
 * it.
 *
 * @param {Say} text
 * @param {number} p
 */
export function chanceEquals(text, p) {
  if (p >= NEARLY && p < 1) return text(`chance.equals_${nearlyAll(p)}`);
  if (p > 0 && p < HARDLY) return text("chance.equals_hardly_any");
  return text("chance.equals", { p: shareSaid(text, p) });
}

const [LEAST, MOST] = [Number.MIN_VALUE, 1 - Number.EPSILON]; // beside 0 and 1

/**
 * What a softmax over all tokens gave: never 0 and never 1, though a float holds so little, or so much, as that.
 *
 * @param {Say} text
 * @param {number} p
 */
export const chanceSaid = (text, p) => shareSaid(text, Math.min(MOST, Math.max(LEAST, p)));

/**
 * What is only known to be at most so probable.
 *
 * @param {Say} text
 * @param {number} most
 */
export const atMost = (text, most) => (most < HARDLY ? shareSaid(text, most) : `≤ ${shareSaid(text, most)}`);
