// The buttons over the strips: which norm, and zooming.

import { h } from "../../dom.js";
import { chosenNorm, NORMS, setNorm } from "./norm-choice.js";

const KIND = "norm-vector";

/** The choice of norm, shared with the other panels of the chapter. @returns {{ box: HTMLElement, mark: Function }} */
export function normButtons(glass) {
  const buttons = NORMS.map((norm) => {
    const button = h("button.norm-tab", { type: "button", "data-text": `${KIND}.${norm}` });
    button.addEventListener("click", () => setNorm(glass, { which: norm }));
    return button;
  });
  const mark = () =>
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(NORMS[i] === chosenNorm(glass))));
  return { box: h("div.norm-tabs", { role: "group", "data-text-label": `${KIND}.which` }, ...buttons), mark };
}

/** @param {(name: "closer"|"wider"|"all") => void} change */
export function zoomButtons(change) {
  const make = (name, sign) => {
    const button = h(
      "button.norm-tab",
      { type: "button", "data-text-title": `${KIND}.${name}`, "data-text-label": `${KIND}.${name}` },
      sign,
    );
    button.addEventListener("click", () => change(name));
    return button;
  };
  return h("div.norm-tabs", null, make("closer", "+"), make("wider", "−"), make("all", "1 : 1"));
}
