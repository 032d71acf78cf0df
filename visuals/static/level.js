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

/** Where what is read begins: a story's first scene, and the workbench's first panel. */
const BEGINS =
  ".page-story .st-told:not([hidden]) .st-scene:not([hidden]), " +
  'body:not([data-chapter^="story"]) .page-body section.glass-panel:not(.page-away)';

/**
 * Gives the keyboard's focus to what is read now, past what stands above it.
 *
 * @returns {HTMLElement | null} that which has it; null where nothing is there yet
 */
export function toContent() {
  /** @type {HTMLElement | null} */
  const found = document.querySelector(BEGINS);
  found?.focus({ preventScroll: true });
  return found;
}

/**
 * The buttons with `data-level` lead from one level to the other, and the one that is open is marked; those with
 * `data-story` lead to that story; `.page-skip` leads past what stands above either.
 *
 * @param {Pick<import("./types.d.ts").Glass, "state" | "on" | "open" | "way">} glass
 * @param {string} first the chapter that the workbench begins with
 */
export function offerLevels({ state, on, open, way }, first) {
  let bench = isStory(state.chapter) ? first : state.chapter; // where the reader was in the workbench
  let own = bench; // and what was opened there without being led to a panel by the page
  let story = isStory(state.chapter) ? state.chapter : STORY; // and in which story
  function mark() {
    if (isStory(state.chapter)) story = state.chapter;
    else bench = state.chapter;
    if (!isStory(state.chapter) && !way.isLeading()) own = state.chapter;
    const level = isStory(state.chapter) ? STORY : "workbench";
    for (const button of document.querySelectorAll("#level [data-level]"))
      button.setAttribute("aria-pressed", String(button.getAttribute("data-level") === level));
  }
  document.addEventListener("click", ({ target }) => {
    if (target instanceof Element && target.closest(".page-skip"))
      toContent()?.scrollIntoView({ block: "start", behavior: "instant" });
    const button = target instanceof Element ? target.closest("button:is([data-level], [data-story])") : null;
    if (!button) return;
    const wanted = button.getAttribute("data-story");
    const level = wanted ? STORY : (button.getAttribute("data-level") ?? STORY);
    keptLevel().set(level);
    const isHere = isStory(state.chapter) && button.closest(".page-story") !== null; // which goes with the story
    open(wanted ?? (level === STORY ? story : isHere ? own : bench));
    scrollTo({ top: 0, behavior: "instant" });
    if (isHere && !isStory(state.chapter)) toContent();
  });
  on("chapter", mark);
  return { mark };
}
