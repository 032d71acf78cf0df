// Large counts, probabilities and shares, as people say them.

import { percent } from "./dom.js";

/** @typedef {import("./types.d.ts").Texts["text"]} Say */

const [RARE, NEVER] = [0.01, 1e-6]; // a probability below these is one in so many, and is not told any more
const TINY = 1e-5; // below it per cent have decimals alone: three digits would take a power of ten
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
  return `${unit && value < 100 ? Number(value.toPrecision(digits || (value < 2 ? 3 : 2))) : Math.round(value)}${unit}`;
}

/**
 * Whole numbers in the language's own way.
 *
 * @param {number} x
 * @param {string} language
 */
export const grouped = (x, language) => x.toLocaleString(language === "zh" ? "zh-CN" : "en");

/**
 * A share of a whole: per cent with three digits; what is just below the whole is not it.
 *
 * @param {Say} text
 * @param {number} x
 */
export const shareSaid = (text, x) => (x >= NEARLY && x < 1 ? text("chance.nearly_all") : percent(x, 3));

/**
 * A probability: per cent with three digits, a small one as one in so many.
 *
 * @param {Say} text
 * @param {number} p
 * @param {string} language
 */
export function chanceSaid(text, p, language) {
  if (!(p < RARE)) return shareSaid(text, p);
  if (p < NEVER) return text("chance.never");
  return text("chance.one_in", { count: grouped(Number((1 / p).toPrecision(2)), language) });
}

/**
 * A probability in per cent, however small it is.
 *
 * @param {Say} text
 * @param {number} p
 */
function chanceInPercent(text, p) {
  if (p < NEVER) return text("chance.never_percent");
  return p < TINY ? `${(100 * p).toFixed(4)}%` : shareSaid(text, p);
}

/**
 * Several probabilities of one line or column, all in one way: as one in so many where all are small, else per
 * cent.
 *
 * @param {Say} text
 * @param {number[]} all
 * @param {string} language
 */
export function chancesSaid(text, all, language) {
  const areRare = all.every((p) => p < RARE);
  return all.map((p) => (areRare ? chanceSaid(text, p, language) : chanceInPercent(text, p)));
}
