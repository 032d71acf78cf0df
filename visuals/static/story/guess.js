// A question that a reader answers before the story does: a few choices, of which one is right. What is said, and where
// it would give the answer away the picture too, is shown once one is chosen, or the reader goes on: then the right one
// is no guess of the reader's, and is marked as shown.

import { h } from "../dom.js";
import { memo } from "../reads.js";

/**
 * @typedef {{ asks: string; choices: string[]; right: number; hides?: boolean; of?: string }} Guess `right`: which
 *   choice it is; `hides`: the picture would give it away; `of`: the sentence that it is asked about: with another
 *   it is asked again
 */

/**
 * @param {HTMLElement} scene whose attribute `data-guess` says that the answer is not shown yet: "" or "picture"
 * @param {import("../types.d.ts").Texts["text"]} text
 * @param {(of: string) => void} done given of what it was asked
 */
export function createGuess(scene, text, done) {
  const asks = h("p.st-asks");
  const choices = h("p.st-acts");
  const element = h("div.st-guess", { hidden: "" }, asks, choices);
  /** @type {number | null} */
  let chosen = null;
  let asked = "";

  /** A question whose answer is the picture stands above it, and stays there when that is shown. */
  const place = memo((/** @type {boolean} */ isFirst) =>
    scene.querySelector(".st-picture")?.[isFirst ? "before" : "after"](element),
  );
  /** @param {number | null} choice */
  function answer(choice) {
    chosen = choice;
    done(asked);
  }
  /**
   * @param {string} words of a choice
   * @param {boolean} isRight
   * @param {boolean} isChosen
   */
  function markOf(words, isRight, isChosen) {
    if (isRight && chosen === null) return { words: text("story.guess_shown", { choice: words }), look: "is-shown" };
    if (isRight) return { words: `✓ ${words}`, look: "is-right" };
    return { words: isChosen ? `✗ ${words}` : words, look: "" };
  }
  const write = memo((/** @type {string} */ question, /** @type {string} */ all, right, chosen, open) => {
    asks.textContent = question;
    const had = [...choices.children].findIndex((one) => one === document.activeElement);
    choices.replaceChildren(
      ...all.split("\n").map((choice, i) => {
        const { words, look } = open ? { words: choice, look: "" } : markOf(choice, i === right, i === chosen);
        const answers = { "data-choice": i, click: () => answer(i) };
        // Once it is answered the one that was pressed keeps the focus, and Tab passes the others.
        const answered = { "data-choice": i, "aria-disabled": "true", tabindex: -1 };
        const button = h("button.st-act", open ? answers : answered, words);
        if (look) button.classList.add(look);
        return button;
      }),
    );
    /** @type {HTMLElement | undefined} */ (choices.children[had])?.focus({ preventScroll: true });
  });
  return {
    element,
    /**
     * @param {Guess | undefined} guess
     * @param {string | null} answered of what it was answered
     */
    draw(guess, answered) {
      asked = guess?.of ?? "";
      const open = Boolean(guess) && answered !== asked;
      if (open) chosen = null;
      element.hidden = !guess;
      if (open) scene.dataset.guess = guess?.hides ? "picture" : "";
      else delete scene.dataset.guess;
      if (guess) place(guess.hides === true);
      if (guess) write(guess.asks, guess.choices.join("\n"), guess.right, chosen, open);
    },
    /** Shows the answer to who has not chosen; gives whether there was one to show. */
    answer() {
      if (!("guess" in scene.dataset)) return false;
      answer(null);
      return true;
    },
  };
}
