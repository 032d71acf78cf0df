// Where the text is still an example in the other language of the page, the example in the reader's.

import { counterpart } from "../examples.js";
import { h } from "../dom.js";
import { memo } from "../reads.js";

/** @param {import("../types.d.ts").Glass} glass */
export function createOtherExample({ text, state }) {
  const element = h("p.st-acts");
  const put = memo((/** @type {HTMLElement | null} */ chip, /** @type {string} */ language) => {
    if (!chip) return element.replaceChildren();
    const words = text("story.other_example", { example: chip.textContent });
    element.replaceChildren(h("button.st-act", { lang: language, click: () => chip.click() }, words));
  });
  const draw = () => put(state.trace && counterpart(state.trace.prompt, state.language), state.language);
  return { element, draw };
}
