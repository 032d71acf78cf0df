// What Chinese words mean, for who reads the page in English: (cat) stands in brackets beside 猫.

import { hasChinese } from "./characters.js";
import { h } from "./dom.js";
import { reactive } from "./reads.js";

/**
 * @typedef {Pick<import("./types.d.ts").Glass, "state" | "calculate" | "repaint" | "text">} Glass
 *
 * @typedef {(piece: string) => string} Gloss of a token's text the brackets with its meaning, and the space before
 *   them; "" where there is none to give
 */

/** @type {Gloss} */
const none = () => "";
/** @type {{ gloss: Gloss } | null} */
let known = null;
let isAsked = false;

/** Asks for the table; again at a later drawing where it did not come. @param {Glass} glass */
async function ask(glass) {
  if (isAsked) return;
  isAsked = true;
  const { data } = await glass.calculate("glosses");
  if (data && known) known.gloss = glossFrom(data, glass.text);
  else isAsked = false;
}

/**
 * @param {import("./decoded.d.ts").Calculation<"glosses">} table
 * @param {Glass["text"]} text
 * @returns {Gloss}
 */
const glossFrom =
  ({ words, parts }, text) =>
  (piece) => {
    const word = piece.replace(/^[\s·]+|[\s·]+$/g, "");
    if (Object.hasOwn(words, word)) return ` (${words[word]})`;
    return Object.hasOwn(parts, word) ? ` (${text("gloss.part", { word: parts[word] })})` : "";
  };

/**
 * The meanings as the page's language needs them. It is another function once they have come, for drawings that are
 * kept until what they are made of changes.
 *
 * @param {Glass} glass
 * @returns {Gloss}
 */
export function glossOf(glass) {
  if (glass.state.language !== "en") return none;
  known ??= reactive(
    {
      gloss: (/** @type {string} */ piece) => {
        if (hasChinese(piece)) ask(glass);
        return "";
      },
    },
    glass.repaint,
  );
  return known.gloss;
}

/**
 * A token's text with its meaning, smaller.
 *
 * @param {string} words as they are shown
 * @param {string} meaning as Gloss gives it
 * @returns {(string | HTMLElement)[]}
 */
export const glossed = (words, meaning) => (meaning ? [words, h("span.gp-gloss", null, meaning)] : [words]);
