// What the map of neurons × tokens shows: the products, or which gates are open. One choice for every run, kept in the link.

import { segmented } from "../../controls.js";

const KIND = "ffn-tokens";
const VIEWS = ["product", "gates"];

/** Whether the map shows which gates are open. @returns {boolean} */
export const opened = ({ settings }) => settings.get("ffn").view === VIEWS[1];

/** @returns {{ element: HTMLElement, mark: () => void }} */
export function createViews(glass) {
  const { element, mark } = segmented(VIEWS, {
    label: `${KIND}.colours`,
    text: (name) => `${KIND}.${name}`,
    look: "gp-tab",
    group: "div.gp-tabs.ffn-tabs",
    choose: (name) => glass.settings.set("ffn", { view: name === VIEWS[0] ? "" : name }),
  });
  return { element, mark: () => mark(VIEWS[Number(opened(glass))]) };
}
