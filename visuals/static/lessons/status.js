// The line of the dialog that says what was done, or what is wrong with a lesson.

import { h } from "../dom.js";
import { Refused } from "./lesson.js";

/**
 * @param {import("../types.d.ts").Say} text of the lessons
 * @returns {{
 *   element: HTMLElement;
 *   tell: (words: string, back?: (() => void) | null) => void;
 *   complain: (error: unknown) => void;
 *   said: () => string;
 * }}
 *   `said`: what is said now
 */
export function createStatus(text) {
  /** @type {(() => void) | null} */
  let undo = null;
  const line = h("span");
  const undoing = h("button.ls-button", {
    "data-text": "lessons.undo",
    click: () => {
      const act = undo;
      tell("");
      act?.();
    },
  });
  const element = h("p.ls-said", { role: "status" }, line, " ", undoing);

  /**
   * Says something; with `back`, offers to take it back.
   *
   * @param {string} words
   * @param {(() => void) | null} [back]
   */
  function tell(words, back = null) {
    line.textContent = words;
    undo = back;
    undoing.hidden = !back;
    element.hidden = !words;
  }
  /** Says what is wrong with a lesson; throws what is no Refused. @param {unknown} error */
  function complain(error) {
    if (!(error instanceof Refused)) throw error;
    const { code, params } = error;
    const { expected } = params;
    tell(text(`bad_${code}`, expected ? { ...params, expected: text(`expected_${expected}`, params) } : params));
  }
  return { element, tell, complain, said: () => line.textContent ?? "" };
}
