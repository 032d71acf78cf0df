// Finding terms in a text by the word forms that the texts declare: "query|queries". In a form with [brackets] only
// what they hold is the term, and what is around it has to stand there too: "keys and [values]".

const LETTER = "[A-Za-z0-9_]";
/** @param {string} text */
const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
/**
 * Words of Latin letters have to end where the form ends; Chinese has no such ends.
 *
 * @param {string} pattern
 * @param {string} form
 */
const closed = (pattern, form) =>
  `${/^[A-Za-z0-9]/.test(form) ? `(?<!${LETTER})` : ""}${pattern}${/[A-Za-z0-9]$/.test(form) ? `(?!${LETTER})` : ""}`;

/** A form as a pattern that matches the term alone. @param {string} form */
function patternOf(form) {
  const [, before, term, after] = /^(.*?)\[(.+)\](.*)$/.exec(form) ?? [null, "", form, ""];
  const own = closed(escaped(term), term);
  const behind = before ? `(?<=${closed(escaped(before), before.trimStart())})` : "";
  const ahead = after ? `(?=${escaped(after)})` : "";
  return `${behind}${own}${ahead}`;
}

/**
 * @param {Object<string, string>} declared each term's forms, with | between them
 * @returns {(text: string) => { name: string; start: number; end: number }[]} the terms of a text in their order,
 *   none over another, the longest first; none within “quotes”, where a reader's own words stand
 */
export function createFinder(declared) {
  const forms = Object.entries(declared).flatMap(([name, all]) => all.split("|").map((form) => ({ name, form })));
  forms.sort((a, b) => b.form.length - a.form.length);
  const every = new RegExp(forms.map(({ form }) => `(${patternOf(form)})`).join("|"), "giu");
  return (text) => {
    const quoted = [...text.matchAll(/“[^”]*”?/g)].map(({ index, 0: found }) => [index, index + found.length]);
    return [...text.matchAll(every)]
      .map((match) => ({
        name: forms[match.slice(1).findIndex((one) => one !== undefined)].name,
        start: match.index,
        end: match.index + match[0].length,
      }))
      .filter(({ start, end }) => !quoted.some(([from, to]) => start < to && end > from));
  };
}
