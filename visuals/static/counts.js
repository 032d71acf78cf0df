// Large counts, as people say them.

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
