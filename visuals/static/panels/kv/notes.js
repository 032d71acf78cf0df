// What is remarked on an answer: a context beyond the model's own, copies on ranks, what was assumed.

import { h } from "../../dom.js";

/**
 * Each note in the reader's language; a code that the page does not know is said in English.
 * @param {object} glass @param {{ code: string, text: string, params: object }[]} notes @returns {HTMLElement[]}
 */
export function notesOf(glass, notes) {
  return notes.map(({ code, text: english, params }) => {
    const shown = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, typeof value === "number" ? Number(value.toPrecision(6)).toLocaleString("en-US") : value]));
    const said = glass.text(`kv.note_${code}`, shown);
    return h("p.gp-note", null, said === `kv.note_${code}` || glass.state.language === "en" ? english : said);
  });
}
