// The line under a panel's head that names what is changed in the run that it shows, or in the two that it compares.

import { h } from "./dom.js";
import { panelOf } from "./frame.js";
import { changedText, unused } from "./off.js";
import { still } from "./pointer-rest.js";

/**
 * @param {HTMLElement} element the panel's section
 * @param {import("./types.d.ts").Glass} glass
 * @param {import("./frame.js").About} about
 * @returns {(trace: import("./decode.js").Trace) => void} brings the line up to date with the run that is shown
 */
export function createChanged(element, glass, { sides, unused: use, namesChanges = true }) {
  const { head } = panelOf(element) ?? {};
  if (!head || !namesChanges) return () => {};
  const line = h("p.gp-changed", { hidden: "" });
  head.after(line);
  still(line);
  let last = "";
  return (trace) => {
    const { state } = glass;
    const two = sides === "both" || state.side === "B-A" ? glass.sides() : null;
    const runs = two ?? { B: trace };
    const shows = Object.values(runs)
      .map((run) => unused(run, use, state.locked, glass.text))
      .find(Boolean);
    const words = changedText(runs, glass.text, shows);
    if (words === last) return;
    line.textContent = last = words;
    line.hidden = !words;
  };
}
