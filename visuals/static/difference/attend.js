// What the panels of the chapter on attention read from a run.

import { subtract } from "../arrays.js";
import { row } from "../compute.js";
import { apartMap, createOther, otherHead } from "../panels/attend/difference.js";
import { habitsOf } from "../panels/attend/habits.js";
import { createThumbs } from "../panels/attend/thumbs.js";
import { createWalk } from "../panels/attend/arcs.js";
import { tokenName, weightNumbers, weightsTable } from "./glance.js";
import { arcs, headMaps, oneMap } from "./map-parts.js";
import { atCell } from "./selection.js";
import { table } from "./table.js";

/** Mean weights as the panel measures them. */
const habits = ({ held, trace }, { head }) => habitsOf(held, trace, head);

const heads = {
  layer: true,
  without: "b_minus_a.without_jobs",
  at: ({ layer, head }) => `layer ${layer} head ${head}`,
  of: ({ text, named }) => text("of_head", named),
  numbers: habits,
  parts: (glass, text) => [headMaps(glass, text, createThumbs)],
};

/** What one head gives a key more than another does, the second as the panel is set. */
const apart = ({ held, trace }, { head, query }, glass) => {
  const other = otherHead(glass);
  const second = row(trace.layers.get(other.layer), trace.model, other.head, query).weights;
  return subtract(row(held, trace.model, head, query).weights, second);
};

const difference = {
  layer: true,
  beside: true,
  controls(glass) {
    const { element, draw } = createOther(glass);
    return { elements: [element], show: draw };
  },
  named: (glass) => {
    const { layer, head } = otherHead(glass);
    return { other_layer: layer, other_head: head };
  },
  lacks(glass, sides) {
    const { layer } = otherHead(glass);
    const here = Object.values(sides).every(({ layers }) => layers.has(layer));
    return here ? null : glass.text("difference.absent", { layer });
  },
  at(state, glass) {
    const { layer, head } = otherHead(glass);
    const heads = `layer ${state.layer} head ${state.head} minus layer ${layer} head ${head}`;
    return `${heads} query ${state.query} key ${state.key}`;
  },
  of: ({ text, named }) => text("of_tokens", named),
  numbers: (run, state, glass) => ({ difference: apart(run, state, glass)[state.key] }),
  parts: (glass, text) => [
    oneMap(glass, text, apartMap, () => "difference"),
    table({
      title: "apart",
      heading: "token",
      values: apart,
      name: tokenName,
      pick: (key) => ({ key }),
      chosen: ({ key }) => key,
    })(glass, text),
  ],
};

const lookedAt = {
  layer: true,
  controls(glass) {
    const { element, draw } = createWalk(glass);
    return { elements: [element], show: draw };
  },
  at: atCell,
  of: ({ text, named }) => text("of_tokens", named),
  numbers: weightNumbers,
  said: ["weight"],
  parts: (glass, text) => [arcs(glass, text), weightsTable(glass, text)],
};

export default { heads, arcs: lookedAt, difference };
