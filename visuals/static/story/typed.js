// What a reader has typed and not run: until then the story is of the sentence before, which is said above it.

import { h } from "../dom.js";

/**
 * @param {import("../types.d.ts").Glass} glass
 * @returns {HTMLElement}
 */
export function createTyped({ state, text, on }) {
  const element = h("p.st-typed", { role: "status", hidden: "" });
  let typed = ""; // since the last run
  function draw() {
    element.hidden = !typed.trim() || !state.trace || typed === state.trace.prompt;
    element.textContent = element.hidden ? "" : text("story.typed");
  }
  addEventListener("input", ({ target }) => {
    if (!(target instanceof HTMLTextAreaElement) || !target.closest("#prompt")) return;
    typed = target.value;
    draw();
  });
  on("run", () => {
    typed = "";
    draw();
  });
  on("language", draw);
  return element;
}
