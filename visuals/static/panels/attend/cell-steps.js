// The chosen cell by its row and its column, for fingers: the cells of a map are smaller than they are.

import { labelsOf } from "../../characters.js";
import { spanSeen } from "../../compute.js";
import { stepper } from "../../controls.js";
import { h } from "../../dom.js";
import { visible } from "../../draw.js";
import { shownIn } from "../../run-for.js";

/** @param {import("../../types.d.ts").Glass} glass */
export function createCellSteps(glass) {
  const state = shownIn(glass);
  /** @param {"query" | "key"} name */
  const stepsOf = (name) =>
    stepper((by) => glass.select({ [name]: glass.state.locked[name] + by }), {
      label: `marks.${name}`,
      back: `marks.${name}_back`,
      on: `marks.${name}_on`,
    });
  const [queries, keys] = [stepsOf("query"), stepsOf("key")];
  const element = h("div.at-cell-steps", null, queries.element, keys.element);
  function draw() {
    const { trace, query, key } = state;
    const labels = labelsOf(trace.tokens.pieces);
    const [first, end] = spanSeen(trace.model, query, trace.T);
    const named = (/** @type {number} */ t) => `${t} “${visible(labels[t])}”`;
    queries.show(named(query), query === 0, query === trace.T - 1);
    keys.show(named(key), key === first, key === end - 1);
  }
  return { element, draw };
}
