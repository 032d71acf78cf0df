// The button save of a panel: its picture as PNG or SVG, its values as CSV. What makes the files comes with the first
// one.

import { h } from "./dom.js";

const FORMATS = /** @type {const} */ (["PNG", "SVG", "CSV"]);

/**
 * @typedef {{ svg?: () => SVGElement; csv: () => (string | number)[][] }} Own what a panel has to be saved: a
 *   drawing that is a better SVG than the panel as a whole; the values, under a row of names
 */

/**
 * The button save with its choice of formats, and the line that says why a file could not be made.
 *
 * @param {(name: "save", act: () => void) => HTMLElement} button of frame.js
 * @param {import("./frame.js").Panel} panel
 * @param {import("./types.d.ts").Glass} glass
 * @param {string} kind
 * @param {Own} own
 * @returns {{ element: HTMLElement; trouble: HTMLElement }}
 */
export function saving(button, panel, glass, kind, own) {
  const trouble = h("p.gp-trouble", { role: "alert", hidden: "" });
  const menu = h("div.gp-menu", { hidden: "" });

  /** @param {(typeof FORMATS)[number]} format */
  async function save(format) {
    trouble.hidden = true;
    try {
      const { saveAs } = await import("./file.js");
      await saveAs(format, panel, glass, kind, own);
    } catch (error) {
      const { key, message } = /** @type {Error & { key?: string }} */ (error);
      if (!key) console.error(`save ${kind} as ${format}:`, error);
      trouble.textContent = glass.text(key ?? "frame.save_failed", { format, reason: message });
      trouble.hidden = false;
    } finally {
      menu.hidden = true; // not before: the pointer would be over what lies under it, and the file would show that
    }
  }

  for (const format of FORMATS) {
    menu.append(h("button.gp-choice", { "data-format": format, click: () => save(format) }, format));
  }
  const element = h(
    "div.gp-save",
    null,
    button("save", () => {
      menu.hidden = !menu.hidden;
    }),
    menu,
  );
  element.addEventListener("keydown", (event) => {
    if (event.key === "Escape") menu.hidden = true;
  });
  element.addEventListener("focusout", (event) => {
    if (!element.contains(/** @type {Node | null} */ (event.relatedTarget))) menu.hidden = true;
  });
  return { element, trouble };
}
