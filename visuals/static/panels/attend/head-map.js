// One head as one map in three views, and which of them is set: one setting for every run.

import { segmented } from "../../controls.js";
import { createMap } from "../../marks/attention-map.js";
import { readHead, VIEWS } from "../../marks/attention-values.js";
import { headOff } from "../../off.js";
import { valueNorms } from "../../readings/cell.js";

/**
 * What the map shows of every cell.
 *
 * @returns {"scores" | "weights" | "weighted"}
 */
export function chosenView(glass) {
  const { view } = glass.settings.get("cell");
  return VIEWS.includes(view) ? view : "weights";
}

/** The choice of view. */
export const createViews = (glass) =>
  segmented(VIEWS, {
    label: "cell.views",
    text: (view) => `cell.view_${view}`,
    look: "at-choice",
    named: "name",
    choose: (view) => glass.settings.set("cell", { view: view === "weights" ? "" : view }),
  });

/**
 * @typedef {import("../../marks/runs.js").RunWith<{
 *   values: import("../../decoded.d.ts").Detail<"values"> | null;
 * }>} HeadRun
 */

/**
 * The map of the selected head in the view that is set.
 *
 * @param {import("../../types.d.ts").Glass} glass
 * @param {string} label the key of its name
 */
export function headMap(glass, label) {
  const { state } = glass;
  const read = (/** @type {HeadRun} */ { held, trace, details: { values } }, view) =>
    view === "weighted" && !values
      ? null
      : readHead(held, trace.model, state.head, view, values && valueNorms(values, trace.model, state.head));
  const on = (/** @type {HeadRun} */ { held, details: { values } }, view) => [
    held,
    state.head,
    ...(view === "weighted" ? [values] : []),
  ];
  return createMap(glass, {
    label,
    view: () => chosenView(glass),
    read,
    on,
    off: ({ trace }) => headOff(trace, state.layer, state.head),
  });
}
