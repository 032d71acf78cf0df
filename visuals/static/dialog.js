// A modal dialog: the browser keeps the focus in it, closes it with Escape and gives the focus back to where it was.

import { h } from "./dom.js";

/**
 * @param {{ name: string; look?: string; title?: string; close?: string; head?: Node[] }} how `name`: the id of its
 *   title; `look`: classes beside the usual one; `title`, `close`: keys of texts; `head`: what stands with them
 * @param {...Node} content
 * @returns {{
 *   element: HTMLDialogElement;
 *   title: HTMLElement;
 *   show: (translate: (element: Element) => void) => void;
 * }}
 *   a press outside of what it holds closes it, too; `show` takes the place of any other that is open
 */
export function createDialog({ name, look = "", title: words, close = "shortcuts.close", head = [] }, ...content) {
  const title = h("h2", { id: name, "data-text": words });
  const button = h("button.page-close", { "data-text": close, click: () => element.close() });
  const element = h(
    `dialog.page-dialog${look}`,
    { "aria-labelledby": name },
    h("header", null, title, button, ...head),
    ...content,
  );
  element.addEventListener("click", ({ target }) => {
    if (target === element) element.close();
  });
  /** @param {(element: Element) => void} translate */
  function show(translate) {
    if (!element.isConnected) document.querySelector(".gradio-container")?.append(element);
    translate(element);
    /** @type {NodeListOf<HTMLDialogElement>} */
    const open = document.querySelectorAll("dialog[open]");
    for (const other of open) if (other !== element) other.close();
    if (!element.open) element.showModal();
  }
  return { element, title, show };
}
