// Where a lesson's words stand: at the edges of the stage, which is shown whole between them. A narrow window has no
// room for that: there all of it is one column that scrolls, the question above the picture, guess, answer and note
// below it.

import { finenessOf } from "./sizes.js";

const NARROW = "(max-width: 900px)"; // as in style.css

/** Whether the window has no room for words beside what is presented, and no second one beside it. */
export const isNarrow = () => matchMedia(NARROW).matches;

/** Whether what is presented stands in a column with its words. */
export const isColumn = () => document.body.hasAttribute("data-column");

/** What the stage is in. @returns {HTMLElement | null} */
export const stageRoom = () => document.querySelector(".page-body");

/** How much larger than a small one a screen has its text; who reads along sits near it. */
export const fineness = () => (document.body.hasAttribute("data-notes") ? 1 : finenessOf(innerWidth, innerHeight));

/** How wide what is presented may be. */
export const stageWidth = () => stageRoom()?.clientWidth ?? innerWidth;

/**
 * Puts the words where this window has them.
 *
 * @param {{ top: HTMLElement; guess: HTMLElement; game: HTMLElement; note: HTMLElement; bar: HTMLElement }} words
 *   question and answer, the class's guess and where else that stands, the note, and the bar at the lower edge
 * @param {boolean} presents whether a lesson is presented
 */
export function placeWords({ top, guess, game, note, bar }, presents) {
  const room = stageRoom();
  const column = presents && isNarrow() ? room : null;
  document.body.toggleAttribute("data-column", column !== null);
  const [home, noteHome] = [column ?? document.body, column ?? bar];
  if (top.parentElement !== home) home.append(top);
  if (note.parentElement === noteHome) return;
  if (column) column.append(guess, note);
  else {
    game.lastElementChild?.before(guess);
    bar.prepend(note);
  }
}
