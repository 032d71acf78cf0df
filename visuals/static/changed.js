// The line under a panel's head that names what is changed in the run that it shows, or in the two that it compares.

import { h } from "./dom.js";
import { panelOf } from "./frame.js";
import { changedText, unused } from "./off.js";
import { BOTH } from "./sides.js";
import { still } from "./still.js";

/** Panels that draw published models, a training or this machine's speed, and the one that lists the changes itself. */
const UNCHANGED = new Set(["compare", "training", "kv-calculator", "kv-chart", "kv-fit", "kv-myth", "kv-race"]);

/** @param {string} kind @param {HTMLElement} element the panel's section @returns {() => void} brings the line up to date */
export function createChanged(kind, element, glass) {
  const { head } = panelOf(element) ?? {};
  if (!head || UNCHANGED.has(kind)) return () => {};
  const line = h("p.gp-changed", { hidden: "" });
  head.after(line);
  still(line);
  let last = "";
  return () => {
    const { state } = glass;
    const two = BOTH.has(kind) || state.side === "B-A" ? glass.sides() : null;
    const runs = two ?? { B: state.trace };
    const shows = Object.values(runs).map((trace) => unused(trace, kind, state.locked)).find(Boolean);
    const words = changedText(runs, glass.text, shows);
    if (words === last) return;
    line.textContent = last = words;
    line.hidden = !words;
  };
}
