// A panel's explanation, which its "?" opens and closes: so does Escape, which gives the focus back to the button.

import { h } from "./dom.js";
import { tensorList } from "./tensors.js";

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
      if (target !== document.body && !last.element.contains(target)) return; // it is for something else
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
 * @param {(name: string, act: () => void) => HTMLElement} button of the panel's tools
 * @returns {{ box: HTMLElement; opener: HTMLElement; list: (names?: string[]) => void }} `list` adds tensors
 */
export function createExplanation(element, glass, kind, parts, button) {
  const box = h("div.gp-explain", { hidden: "" });
  for (const part of parts) {
    const text = h("span", { "data-text": `${kind}.${part}` });
    box.append(h(`p.gp-part.is-${part}`, null, h("strong", { "data-text": `frame.${part}` }), " ", text));
  }
  let tensors = null;
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
  function list(names) {
    if (!names) return;
    tensors = tensorList(glass, names);
    box.append(tensors.element);
    glass.on("painted", () => {
      if (!box.hidden) tensors.show();
    });
  }
  return { box, opener, list };
}
