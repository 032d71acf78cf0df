// The views of the map as a row of buttons, of which one is on.

import { h } from "../../dom.js";

/** @param {string[]} names @param {(name: string) => void} choose */
export function createChoice(names, choose) {
  const buttons = names.map((name) => {
    const button = h("button.at-choice", { type: "button", "data-text": `cell.view_${name}`, "data-name": name });
    button.addEventListener("click", () => choose(name));
    return button;
  });
  const mark = (chosen) =>
    buttons.forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.name === chosen)));
  return { element: h("div.at-choices", { role: "group", "data-text-label": "cell.views" }, ...buttons), mark };
}
