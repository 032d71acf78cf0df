// How the story writes what it names: words, and numbers of two or three digits.

import { exact, h } from "../dom.js";
import { printedNumber, writtenOut } from "../equation.js";
import { apart, named, word as wordOf } from "../panels/glance/words.js";

export { chanceSaid, grouped as count, shareSaid } from "../counts.js";
export { named, wordOf };

/** @typedef {import("../types.d.ts").Texts["text"]} Say */

/** Signs that are no words of their own, and what they are called. */
const SIGNS = { ".": "full_stop", "⏎": "line_break", "⇥": "tab", "␣": "blank" };

/**
 * The sign that stands for an answer which cannot be seen as a word of its own; null for all others.
 *
 * @param {string} piece
 * @returns {keyof typeof SIGNS | null}
 */
function signOf(piece) {
  const bare = piece.trim();
  if (bare) return bare === "." ? bare : null;
  if (piece.includes("\n")) return "⏎";
  if (piece.includes("\t")) return "⇥";
  return piece ? "␣" : null;
}

/**
 * Such an answer as it stands in a sentence, and the brackets with its name, where it needs one there: a full stop
 * needs none.
 *
 * @param {Say} text
 * @param {string} piece
 * @returns {[sign: string, name: string] | null}
 */
export function signInSentence(text, piece) {
  const sign = signOf(piece);
  return sign && [sign, sign === "." ? "" : answerOf(text, piece).slice(sign.length)];
}

/**
 * An answer by name: what cannot be seen as a word of its own with what it is called.
 *
 * @param {Say} text
 * @param {string} piece
 * @param {boolean} [ends] whether it ends the text
 */
export function answerOf(text, piece, ends = false) {
  if (ends) return text("story.the_end");
  const sign = signOf(piece);
  return sign ? text("story.sign", { sign, name: text(`story.${SIGNS[sign]}`) }) : wordOf(piece);
}

/**
 * The same in a sentence that lists several: in quotes, or a sign would be read as one of the sentence's own.
 *
 * @param {Say} text
 * @param {string} piece
 * @param {string[]} earlier as `answerBeside` takes them
 * @param {boolean} ends
 */
export function answerQuoted(text, piece, earlier, ends) {
  const [word, said] = [wordOf(piece), answerBeside(text, piece, earlier, ends)];
  if (ends) return said;
  const own = said.startsWith(word) ? word : said; // what tells it from another stands behind it
  return text("why.token", { piece: own }) + said.slice(own.length);
}

/**
 * The same in a table: where an earlier one has the same word, with what tells them apart.
 *
 * @param {Say} text
 * @param {string} piece
 * @param {string[]} earlier
 * @param {boolean} ends
 */
export function answerBeside(text, piece, earlier, ends) {
  const isSame = !ends && piece.trim() && earlier.some((one) => one.trim() === piece.trim());
  return isSame ? (apart(text, [...earlier, piece]).at(-1) ?? "") : answerOf(text, piece, ends);
}

/**
 * A large number as it is said: "8.4 million".
 *
 * @param {number} x
 * @param {string} language
 */
export const large = (x, language, digits = 3) =>
  new Intl.NumberFormat(language === "zh" ? "zh-CN" : "en", {
    notation: "compact",
    compactDisplay: "long",
    maximumSignificantDigits: digits,
  })
    .format(x)
    .replace(/(\d) ?(?=\p{L})/u, "$1\u00a0"); // in Chinese, too, as the page sets numbers and words; no line parts them

/**
 * Two or three significant digits, also where the last of them is 0.
 *
 * @param {number} x
 */
export function few(x, digits = 3) {
  const rounded = x ? x.toPrecision(digits) : "0";
  return (rounded.includes("e+") ? String(Number(rounded)) : rounded).replaceAll("-", "−");
}

const [ROUND, WIDEST] = [3, 5]; // digits that numbers of an equation have, and may have

/**
 * An equation of a scene, in digits that come out: where three do not, its result has two; more, where not even
 * that comes out.
 *
 * @template {string} Name
 * @param {Record<Name, number>} values
 * @param {import("../equation.js").Step<NoInfer<Name>>[]} steps
 */
export function fewOut(values, steps) {
  for (let most = ROUND; ; most++) {
    const said = writtenOut(values, steps, { digits: ROUND, most, write: few });
    /** @type {(step: import("../equation.js").Step<Name>) => boolean} */
    const isRough = ([result, operands, by]) =>
      said[result] === few(values[result], 1) && // of which 30 may be two digits
      few(by(...operands.map((name) => printedNumber(said[name]))), 2) !== few(values[result], 2);
    if (most === WIDEST || !steps.some(isRough)) return said;
  }
}

/**
 * The same of what is added: with its sign.
 *
 * @param {number} x
 */
export const signed = (x) => `${x > 0 ? "+" : ""}${few(x)}`;

/**
 * What is read in short, with all of it on pointing.
 *
 * @param {string} words
 * @param {number} value
 */
export const told = (words, value) => h("b", { title: exact(value, 6) }, words);

const QUOTED = /^“(.+?)”(.*)$/su;

/**
 * A word that is told of. The quotes of a token by name stand around what is bold, as those of the texts do.
 *
 * @param {string} words
 * @param {string} [role] whose hue it has
 */
export function bold(words, role) {
  const [, quoted, rest] = QUOTED.exec(words) ?? [];
  const strong = h("b", role ? { style: `color: var(--glass-${role})` } : null, quoted ?? words);
  return quoted === undefined ? strong : h("span", null, "“", strong, `”${rest}`);
}

const LONG = 12; // letters of a word on an edge
const [SIGN, WIDE_SIGN, TALL] = [9, 16, 20]; // px of a letter, of a Chinese character, and of a line

/**
 * A word as it stands on the edge of a drawing.
 *
 * @param {string} piece
 */
export function onEdge(piece) {
  const word = wordOf(piece);
  return word.length > LONG ? `${word.slice(0, LONG - 1)}…` : word;
}

/**
 * How long such a word is, as it is written, with most of its height, px.
 *
 * @param {string} word
 */
export const lengthOf = (word) => [...word].reduce((sum, sign) => sum + (sign > "\u2e80" ? WIDE_SIGN : SIGN), TALL);
