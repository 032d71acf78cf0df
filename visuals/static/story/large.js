// The story on a projector: a scene as large as the screen, without the page around it. A clicker goes on and back.

import { h, zoomOf } from "../dom.js";
import { isStory } from "../level.js";

const WIDE = 800; // px of a column: on a screen of 1280 its smallest text, 14 px, is 22 there

const WAYS = /** @type {Record<string, 1 | -1>} */ ({ PageDown: 1, PageUp: -1, ArrowRight: 1, ArrowLeft: -1, " ": 1 });
const TAKES = "input, textarea, select, button, a";

/**
 * @param {import("../types.d.ts").Glass} glass
 * @param {HTMLElement} place the story
 * @param {{ unread: (by: 1 | -1) => number; step: (by: 1 | -1) => boolean; stay: () => void }} scenes `unread`: px
 *   to the end of what is read; `stay`: the scene that is read is brought back into view
 * @returns {HTMLElement} the button that begins it
 */
export function createLarge(glass, place, scenes) {
  const { body } = document;
  const leave = h("button.st-leave", { "data-text-label": "story.large_leave", click: () => show(false) }, "✕");
  const isOpen = () => body.hasAttribute("data-large");

  function fit() {
    const factor = Math.max(1, innerWidth / WIDE);
    body.style.setProperty("--large", factor.toFixed(3));
    glass.enlarge(isOpen() ? factor : 1);
  }
  /** @param {boolean} large */
  function show(large) {
    if (large === isOpen()) return;
    body.toggleAttribute("data-large", large);
    fit();
    scenes.stay();
    if (large)
      document.documentElement.requestFullscreen?.().catch(() => {}); // the browser may refuse it
    else if (document.fullscreenElement === document.documentElement) document.exitFullscreen();
  }
  /** @param {1 | -1} by */
  function go(by) {
    const unread = scenes.unread(by);
    // the place is zoomed, and scrolls by its own pixels
    if (unread) place.scrollBy({ top: unread / zoomOf(place), behavior: "instant" });
    else scenes.step(by);
  }
  addEventListener(
    "keydown",
    (event) => {
      const { key, target, ctrlKey, metaKey, altKey, shiftKey } = event;
      if (!isOpen() || ctrlKey || metaKey || altKey) return;
      if (key === "Escape") show(false);
      else {
        const within = key.startsWith("Page") ? null : target instanceof Element && target.closest(TAKES);
        if (within || !WAYS[key]) return;
        go(shiftKey ? -1 : WAYS[key]);
      }
      event.preventDefault();
      event.stopPropagation();
    },
    true,
  );
  addEventListener("resize", () => {
    if (isOpen()) fit();
  });
  glass.on("chapter", () => {
    if (!isStory(glass.state.chapter)) show(false);
  });
  place.append(leave);
  return h("button.st-act.st-large", { "data-text": "story.large", click: () => show(true) });
}
