// The panels of the page, and the parts of them that the glossary points at. A part says its name itself:
// data-part="formula".

/**
 * @param {string} kind
 * @returns {HTMLElement | null} null where its chapter has not been open yet
 */
export const panelOf = (kind) => document.querySelector(`section.glass-panel[data-kind="${kind}"]`);

/**
 * The elements that have one of these names, in the page's order; none where they are not drawn yet.
 *
 * @param {Element | null} panel
 * @param {string[]} names
 * @returns {HTMLElement[]}
 */
export function partsOf(panel, names) {
  if (!panel || !names.length) return [];
  /** @type {NodeListOf<HTMLElement>} */
  const found = panel.querySelectorAll(names.map((name) => `[data-part="${name}"]`).join(", "));
  return [...found];
}
