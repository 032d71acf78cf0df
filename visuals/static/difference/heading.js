// The heading of a part of what is shown for B − A.

import { h } from "../dom.js";

/**
 * @param {{ title?: string; named?: (state, b) => object }} what `title`: the text's name; `named`: its parameters,
 *   where it has some
 * @returns {{ elements: HTMLElement[]; show: (state, b) => void }}
 */
export function headingOf({ title, named }, text) {
  if (!title) return { elements: [], show() {} };
  const element = h("h3.gp-subtitle", named ? {} : { "data-text": `b_minus_a.${title}` });
  return {
    elements: [element],
    show: (...about) => {
      if (named) element.textContent = text(title, named(...about));
    },
  };
}
