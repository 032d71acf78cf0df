// The two levels of the page: the stories, which begin with that of one answer, and the workbench of chapters. Which
// level a reader chose is kept in this browser.

import { remembered } from "./remembered.js";

/** What the chapter is called while the first story is open: that of the answer. */
export const STORY = "story";
/** The same of all stories, in the order in which they are offered. */
export const STORIES = [STORY, "story-cache", "story-learned"];
/** @param {string} chapter */
export const isStory = (chapter) => STORIES.includes(chapter);
/** "story" or "workbench", as it was chosen last. */
export const keptLevel = () => remembered("glass.level");

/**
 * The buttons with `data-level` lead from one level to the other, and the one that is open is marked; those with
 * `data-story` lead to that story.
 *
 * @param {Pick<import("./types.d.ts").Glass, "state" | "on" | "open">} glass
 * @param {string} first the chapter that the workbench begins with
 */
export function offerLevels({ state, on, open }, first) {
  let bench = isStory(state.chapter) ? first : state.chapter; // where the reader was in the workbench
  let story = isStory(state.chapter) ? state.chapter : STORY; // and in which story
  function mark() {
    if (isStory(state.chapter)) story = state.chapter;
    else bench = state.chapter;
    const level = isStory(state.chapter) ? STORY : "workbench";
    for (const button of document.querySelectorAll("#level [data-level]"))
      button.setAttribute("aria-pressed", String(button.getAttribute("data-level") === level));
  }
  document.addEventListener("click", ({ target }) => {
    const button = target instanceof Element ? target.closest("button:is([data-level], [data-story])") : null;
    if (!button) return;
    const wanted = button.getAttribute("data-story");
    const level = wanted ? STORY : (button.getAttribute("data-level") ?? STORY);
    keptLevel().set(level);
    open(wanted ?? (level === STORY ? story : bench));
    scrollTo({ top: 0, behavior: "instant" });
  });
  on("chapter", mark);
  return { mark };
}
