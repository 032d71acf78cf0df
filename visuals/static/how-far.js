// How far the work is of which the server tells parts.

import { h } from "./dom.js";

/**
 * A bar, and in words how many tokens of a long text are knocked out by now; of other work it is only seen that it
 * goes on. Hidden where nothing is waited for.
 *
 * @param {import("./types.d.ts").Glass} glass
 */
export function createFar({ text }) {
  const [said, bar] = [h("span"), h("progress")];
  const element = h("p.gp-note", { hidden: "" }, said, bar);
  /**
   * @param {import("./readings/rests.js").Part | null} part
   * @param {string | null} what is measured, as texts call it
   */
  function draw(part, what = part && "rests") {
    element.hidden = !what;
    if (!what) return;
    bar.setAttribute("aria-label", text(`story.waits_${what}`));
    said.textContent = part ? text("story.waits_tokens", { ...part }) : "";
    if (part) Object.assign(bar, { max: part.total, value: part.done });
    else bar.removeAttribute("value");
  }
  return { element, draw };
}
