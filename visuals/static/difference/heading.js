// The heading of a part of what is shown for B − A.

import { h } from "../dom.js";

/** @typedef {import("./face.js").State} State */

/**
 * What a part is called.
 *
 * @template {import("./face.js").Run} Of
 * @typedef {object} Titled
 * @property {string} [title] a text's name
 * @property {(state: State, b: Of) => Record<string, string | number>} [named] its parameters, where it has some
 */

/**
 * @template {import("./face.js").Run} Of
 * @param {Titled<Of>} what
 * @param {import("../types.d.ts").Say} text
 * @returns {{ elements: HTMLElement[]; show: (state: State, b: Of) => void }}
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
