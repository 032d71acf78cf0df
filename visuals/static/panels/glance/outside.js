// Where a prompt is not of the small world that the bundled model learnt: what is strange in it, measured in this run,
// and an example that is of that world.

import { h, shown } from "../../dom.js";
import { memo } from "../../reads.js";
import { runPrompt } from "../attend/run-prompt.js";

/**
 * Which sentence says it.
 *
 * @param {{ places: number[][]; words: number }} found as app/chapters/glance.py answers
 */
export function sentenceOf({ places, words }) {
  if (!places.length) return "odd";
  return 3 * places.length >= words ? "many" : "some";
}

/**
 * What a token is of: 1 inside a strange word, 2 at its end, 0 elsewhere.
 *
 * @param {number[][]} places first token and end
 * @param {number} t
 */
export const strangeAt = (places, t) =>
  places.reduce((most, [first, end]) => Math.max(most, t === end - 1 ? 2 : t >= first && t < end ? 1 : 0), 0);

/** Runs an example by its button above, which also opens it at what matters there; as a prompt where it has none. */
function tryExample(glass, example) {
  const chips = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".page-chips button"));
  const chip = [...chips].find(({ textContent }) => textContent === example);
  if (chip) chip.click();
  else runPrompt(glass, example, {});
}

/** @param {import("../../types.d.ts").Glass} glass */
export function createOutside(glass) {
  const text = (name, params) => glass.text(`why.outside_${name}`, params);
  const element = h("div.wy-outside", { "aria-live": "polite", hidden: "" });
  const show = memo((found, _language) => {
    element.hidden = !found;
    if (!found) return element.replaceChildren();
    const { places, words, tokens, surprisal, usual, example } = found;
    const figures = usual
      ? text("surprise", {
          own: shown(surprisal, 3),
          count: usual.documents,
          middle: shown(usual.middle, 3),
          most: shown(usual.most, 3),
          tokens,
        })
      : "";
    const more = h("p.gp-note", null, figures);
    const way = h("button.gp-option", { click: () => tryExample(glass, example) }, text("try", { example }));
    return element.replaceChildren(h("p", null, text(sentenceOf(found), { unknown: places.length, words })), more, way);
  });
  let last = { prompt: null, answer: null }; // stays while a longer run of the same prompt has no answer yet
  return {
    element,
    /** @returns {number[][]} the strange words' tokens; none until they have come */
    draw() {
      const { side, status, trace } = glass.state;
      const same = last.prompt === trace.prompt;
      const answer =
        (same && status === "generating" ? null : glass.detail("outside", {})) ?? (same ? last.answer : null);
      last = { prompt: trace.prompt, answer };
      const found = side !== "B-A" && answer?.example ? answer : null;
      show(found, glass.state.language);
      return found?.places ?? NONE;
    },
  };
}
const NONE = [];
