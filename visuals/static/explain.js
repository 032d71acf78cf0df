// @ts-check
// A panel's explanation, which its "?" opens and closes: so does Escape, which gives the focus back to the button.

import { h } from "./dom.js";
import { tensorList } from "./tensors.js";

/** @type {{ element: HTMLElement; box: HTMLElement; close: () => void } | null} */
let last = null; // the explanation that was opened last
let listens = false;

/** Before the page's own keys, which would let go of what is selected, and the tour's, which would leave it. */
function listen() {
  if (listens) return;
  listens = true;
  addEventListener(
    "keydown",
    (event) => {
      const { key, target, defaultPrevented } = event;
      if (key !== "Escape" || defaultPrevented || !last?.box.getClientRects().length) return;
      const within = last.element.contains(/** @type {Node | null} */ (target));
      if (target !== document.body && !within) return; // it is for something else
      event.preventDefault();
      event.stopImmediatePropagation();
      last.close();
    },
    true,
  );
}

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
  /** @param {boolean} open */
  function show(open) {
    box.hidden = !open;
    opener.setAttribute("aria-expanded", String(open));
    if (open) tensors?.show();
    if (open) last = { element, box, close };
  }
  function close() {
    show(false);
    opener.focus({ preventScroll: true });
  }
  const opener = button("explain", () => show(box.hidden));
  show(false);
  listen();
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
