// One head as one map in three views, and which of them is set: one setting for every run.

import { segmented } from "../../controls.js";
import { createMap } from "../../marks/attention-map.js";
import { readHead, VIEWS } from "../../marks/attention-values.js";
import { headOff } from "../../off.js";
import { valueNorms } from "../../readings/cell.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../marks/attention-values.js").View} View
 */

/**
 * What the map shows of every cell.
 *
 * @param {Pick<Glass, "settings">} glass
 * @returns {View}
 */
export function chosenView(glass) {
  const { view } = glass.settings.get("cell");
  return VIEWS.find((name) => name === view) ?? "weights";
}

/** The choice of view. @param {Glass} glass */
export const createViews = (glass) =>
  segmented(VIEWS, {
    label: "cell.views",
    text: (view) => `cell.view_${view}`,
    look: "at-choice",
    named: "name",
    choose: (view) => glass.settings.set("cell", { view: view === "weights" ? "" : view }),
  });

/**
 * @typedef {Pick<import("../../difference/face.js").LayerRun, "trace" | "held"> & {
 *   details: { values?: import("../../decoded.d.ts").Detail<"values"> | null };
 * }} HeadRun
 */

/**
 * The map of the selected head in the view that is set.
 *
 * @param {Glass} glass
 * @param {string} label the key of its name
 */
export function headMap(glass, label) {
  const { state } = glass;
  /** @type {(run: HeadRun, view: string) => import("../../marks/attention-values.js").Reader | null} */
  function read({ held, trace, details: { values } }) {
    const [view, norms] = [chosenView(glass), values ? valueNorms(values, trace.model, state.head) : null];
    return view === "weighted" && !norms ? null : readHead(held, trace.model, state.head, view, norms);
  }
  /** @type {(run: HeadRun, view: string) => unknown[]} */
  const on = ({ held, details: { values } }, view) => [held, state.head, ...(view === "weighted" ? [values] : [])];
  return createMap(glass, {
    label,
    view: () => chosenView(glass),
    read,
    on,
    off: ({ trace }) => headOff(trace, state.layer, state.head),
  });
}
