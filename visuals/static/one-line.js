// Sentences in one line, in any language of the page.

const HOLDS_ITS_SPACE = /[。！？；：，、）]$/; // a full-width mark: no space follows it

/**
 * Sentences one after another, with a space between two unless the first ends in a full-width mark. What is empty
 * is left out.
 *
 * @param {string[]} said
 */
export const oneLine = (said) =>
  said.filter(Boolean).reduce((line, one) => (line && !HOLDS_ITS_SPACE.test(line) ? `${line} ${one}` : line + one), "");
