// How far the work is of which the server tells parts.

import { h } from "./dom.js";

/**
 * A bar and its words of how many tokens of a long text are knocked out by now; hidden where nothing is waited for.
 *
 * @param {import("./types.d.ts").Glass} glass
 */
export function createFar({ text }) {
  const [said, bar] = [h("span"), h("progress", { "data-text-label": "story.waits_rests" })];
  const element = h("p.gp-note", { hidden: "" }, said, bar);
  /** @param {import("./readings/rests.js").Part | null} part */
  function draw(part) {
    element.hidden = !part;
    if (!part) return;
    said.textContent = text("story.waits_tokens", { ...part });
    Object.assign(bar, { max: part.total, value: part.done });
  }
  return { element, draw };
}
