// The page's examples: which are a network's own, and what it begins with.

/** @typedef {import("./models.js").Examples} Examples */

/** Whose examples a button (app/panels.py) is of. @param {HTMLElement} chip @returns {Examples} */
const examplesIn = (chip) => ("real" in chip.dataset ? "english" : "world");

/**
 * @param {Examples} own
 * @param {string} language
 * @returns {(chip: HTMLElement) => boolean} whether a button is of these, those of the small world in this language
 */
const isOf = (own, language) => (chip) => examplesIn(chip) === own && (own === "english" || chip.lang === language);

/** @returns {HTMLElement[]} */
const chips = () => [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".page-chips button"))];

/**
 * Marks the example that is read, which a telephone does not offer once more (page.css).
 *
 * @param {string} prompt
 */
export function markExample(prompt) {
  for (const chip of chips()) chip.toggleAttribute("data-read", chip.textContent === prompt);
}

/**
 * What a network is to run where another has run this prompt: the reader's own text stays; in the place of the
 * other's example stands the first of its own, if it has some.
 *
 * @param {string} prompt
 * @param {Examples} own the network's examples
 * @param {string} language
 */
export function promptFor(prompt, own, language) {
  const example = chips().find(({ textContent }) => textContent === prompt);
  if (!example || examplesIn(example) === own) return prompt;
  return chips().find(isOf(own, language))?.textContent ?? prompt;
}

/**
 * The button of the example of the small world that stands in this language for one in another.
 *
 * @param {string} prompt
 * @param {string} language
 * @returns {HTMLElement | null} null where the prompt is no example in another language
 */
export function counterpart(prompt, language) {
  const ofWorld = chips().filter((chip) => examplesIn(chip) === "world");
  const own = ofWorld.find(({ textContent }) => textContent === prompt);
  if (!own || own.lang === language) return null;
  const place = ofWorld.filter(({ lang }) => lang === own.lang).indexOf(own);
  const others = ofWorld.filter(({ lang }) => lang === language);
  return others[place] ?? others[0] ?? null;
}
