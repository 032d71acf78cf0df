// A panel's explanation, which its "?" opens: what is shown, the formula, and what is often told wrongly.

import { disclosed } from "./disclosure.js";
import { h } from "./dom.js";
import { tensorList } from "./tensors.js";

/**
 * What is shown, the formula, and what is often told wrongly (keys <kind>.what, .formula, .myth).
 *
 * @param {HTMLElement} element the panel's section
 * @param {import("./types.d.ts").Glass} glass
 * @param {string} kind
 * @param {string[]} parts
 * @param {(name: "explain", act: () => void) => HTMLElement} button of the panel's tools
 * @returns {{ box: HTMLElement; opener: HTMLElement; list: (names?: string[]) => void }} `list` adds tensors
 */
export function createExplanation(element, glass, kind, parts, button) {
  const box = h("div.gp-explain", { hidden: "" });
  for (const part of parts) {
    const text = h("span", { "data-text": `${kind}.${part}` });
    box.append(h(`p.gp-part.is-${part}`, null, h("strong", { "data-text": `frame.${part}` }), " ", text));
  }
  /** @type {ReturnType<typeof tensorList> | null} */
  let tensors = null;
  const opener = disclosed(
    element,
    box,
    (act) => button("explain", act),
    () => tensors?.show(),
  );
  /** @param {string[]} [names] */
  function list(names) {
    if (!names) return;
    const listed = tensorList(glass, names);
    tensors = listed;
    box.append(listed.element);
    glass.on("painted", () => {
      if (!box.hidden) listed.show();
    });
  }
  return { box, opener, list };
}
