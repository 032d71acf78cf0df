// What the map of neurons × tokens shows: the products, or which gates are open. One choice for every run, kept in the link.

import { h } from "../../dom.js";

const KIND = "ffn-tokens";
const VIEWS = ["product", "gates"];

/** Whether the map shows which gates are open. @returns {boolean} */
export const opened = ({ settings }) => settings.get("ffn").view === VIEWS[1];

/** @returns {{ element: HTMLElement, mark: () => void }} */
export function createViews(glass) {
  const buttons = VIEWS.map((name) => {
    const button = h("button.ffn-tab", { type: "button", "data-text": `${KIND}.${name}` });
    button.addEventListener("click", () => {
      glass.settings.set("ffn", { view: name === VIEWS[0] ? "" : name });
      glass.repaint();
    });
    return button;
  });
  const mark = () => buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(opened(glass) === (i === 1))));
  return { element: h("div.ffn-tabs", { role: "group", "data-text-label": `${KIND}.colours` }, ...buttons), mark };
}
