// @ts-check
// The two levels of the page: the story of one answer, and the workbench of chapters. Which of them a reader chose is
// kept in this browser.

import { remembered } from "./remembered.js";

/** What the chapter is called while the story is open. */
export const STORY = "story";
/** "story" or "workbench", as it was chosen last. */
export const keptLevel = () => remembered("glass.level");

/**
 * The buttons with `data-level` lead from one level to the other; the one that is open is marked.
 *
 * @param {Pick<import("./types.d.ts").Glass, "state" | "on" | "open">} glass
 * @param {string} first the chapter that the workbench begins with
 */
export function offerLevels({ state, on, open }, first) {
  let bench = state.chapter === STORY ? first : state.chapter; // where the reader was in the workbench
  function mark() {
    if (state.chapter !== STORY) bench = state.chapter;
    const level = state.chapter === STORY ? STORY : "workbench";
    for (const button of document.querySelectorAll("#level [data-level]"))
      button.setAttribute("aria-pressed", String(button.getAttribute("data-level") === level));
  }
  document.addEventListener("click", ({ target }) => {
    const button = target instanceof Element ? target.closest("[data-level]") : null;
    const level = button?.getAttribute("data-level");
    if (!level) return;
    keptLevel().set(level);
    open(level === STORY ? STORY : bench);
    scrollTo({ top: 0, behavior: "instant" });
  });
  on("chapter", mark);
  return { mark };
}
