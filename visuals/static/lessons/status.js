// The line of the dialog that says what was done, or what is wrong with a lesson.

import { h } from "../dom.js";
import { Refused } from "./lesson.js";

/**
 * @param {(name: string, params?: object) => string} text of the lessons
 * @returns {{
 *   element: HTMLElement;
 *   tell: (words: string, back?: (() => void) | null) => void;
 *   complain: (error: unknown) => void;
 * }}
 */
export function createStatus(text) {
  let undo = null;
  const said = h("span");
  const undoing = h("button.ls-button", {
    "data-text": "lessons.undo",
    click: () => {
      const act = undo;
      tell("");
      act?.();
    },
  });
  const element = h("p.ls-said", { role: "status" }, said, " ", undoing);

  /**
   * Says something; with `back`, offers to take it back.
   *
   * @param {string} words
   * @param {(() => void) | null} [back]
   */
  function tell(words, back = null) {
    said.textContent = words;
    undo = back;
    undoing.hidden = !back;
    element.hidden = !words;
  }
  /** Says what is wrong with a lesson; throws what is no Refused. */
  function complain(error) {
    if (!(error instanceof Refused)) throw error;
    const { code, params } = error;
    const { expected } = params;
    tell(text(`bad_${code}`, expected ? { ...params, expected: text(`expected_${expected}`, params) } : params));
  }
  return { element, tell, complain };
}
