// Notes that not every reader needs, behind one line that says what they are about.

import { h } from "../dom.js";

/**
 * It is not there where its notes say nothing.
 *
 * @param {string} about the key of the line's text
 * @param {HTMLElement[]} notes
 */
export const createFold = (about, ...notes) =>
  h("details.st-fold", null, h("summary", { "data-text": about }), ...notes);
