// The buttons over the strips: which norm, and zooming.

import { segmented } from "../../controls.js";
import { h } from "../../dom.js";
import { chosenNorm, NORMS, normsOf, setNorm } from "./norm-choice.js";

const KIND = "norm-vector";

/** The choice of norm, shared with the other panels of the chapter. @returns {{ element: HTMLElement, mark: Function }} */
export function normButtons(glass) {
  const { element, mark } = segmented(NORMS, {
    label: `${KIND}.which`,
    text: (norm) => `${KIND}.${norm}`,
    look: "gp-tab",
    group: "div.gp-tabs",
    choose: (norm) => setNorm(glass, { which: norm }),
  });
  const show = () => {
    const there = normsOf(glass.state.trace.model);
    NORMS.forEach((norm, i) => { element.children[i].hidden = !there.includes(norm); });
    mark(chosenNorm(glass));
  };
  return { element, mark: show };
}

/** @param {(name: "closer"|"wider"|"all") => void} change */
export function zoomButtons(change) {
  const make = (name, sign) =>
    h("button.gp-tab", { "data-text-title": `${KIND}.${name}`, "data-text-label": `${KIND}.${name}`, click: () => change(name) }, sign);
  return h("div.gp-tabs", null, make("closer", "+"), make("wider", "−"), make("all", "1 : 1"));
}
