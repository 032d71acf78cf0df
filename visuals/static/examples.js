// The page's examples: which are a network's own, and what it begins with.

/**
 * @param {boolean} isReal
 * @param {string} language
 * @returns {(chip: HTMLElement) => boolean} whether a button of the examples (app/panels.py) is offered for a real
 *   LLaMA, or for the others in this language
 */
const offeredTo = (isReal, language) => (chip) =>
  isReal === "real" in chip.dataset && (isReal || chip.lang === language);

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
 * What a network is to run where another has run this prompt: the reader's own text stays, of the other's examples
 * the first of its own stands in its place.
 *
 * @param {string} prompt
 * @param {boolean} isReal whether the network is a real LLaMA
 * @param {string} language
 */
export function promptFor(prompt, isReal, language) {
  const example = chips().find(({ textContent }) => textContent === prompt);
  if (!example || isReal === "real" in example.dataset) return prompt;
  return chips().find(offeredTo(isReal, language))?.textContent ?? prompt;
}
