// The jobs of heads that a model's heads.json names. Pure.

export const CLEAR = 0.3; // from this score on a head is called by its job
/** The jobs that the page has words for; others go by their own name and the file's definition. */
const KNOWN = ["previous_token", "first_token", "induction", "copying", "same_entity", "answer_to_place"];

/** The kind's label in the reader's language. @param {Function} text glass.text */
export const labelOf = (name, text) => (KNOWN.includes(name) ? text(`heads.kind_${name}`) : name);

/** What the kind means, in the reader's language where the page has words for it. */
export const meaningOf = ({ name, definition }, text) =>
  KNOWN.includes(name) ? text(`heads.means_${name}`) : definition;

/** The jobs that some head does, and those that none does: the best scores 0 or less. @param {{ kinds: object[] }|null} names */
export const done = (names) => (names?.kinds ?? []).filter(({ best }) => best.some(({ score }) => score > 0));
export const undone = (names) => (names?.kinds ?? []).filter(({ best }) => best.length && best.every(({ score }) => score <= 0));

/** The text that shows a job best, in the reader's language where there is one. @returns {string|null} */
export const promptOf = ({ prompt, prompts }, language) => prompts?.[language] ?? prompt ?? null;

/** The clear jobs of one head. @param {{ kinds: object[] }|null} names @returns {{ name: string, score: number }[]} */
export function jobsOf(names, layer, head) {
  return (names?.kinds ?? []).flatMap(({ name, best }) =>
    best
      .filter((one) => one.layer === layer && one.head === head && one.score >= CLEAR)
      .map(({ score }) => ({ name, score })),
  );
}
