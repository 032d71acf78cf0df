// The selected head in both runs: its attention weights in A, in B, and B − A, cell by cell.

import { labelsOf } from "../../characters.js";
import { row } from "../../compute.js";
import { exact, h, share, signed } from "../../dom.js";
import { frame } from "../../frame.js";
import { headOff, sameText } from "../../off.js";
import { createMap } from "../../marks/attention-map.js";
import { readHead } from "../../marks/attention-values.js";
import { hindrance } from "../../hindrance.js";
import { inView, widthOf } from "../../pointing.js";
import { shownIn } from "../../run-for.js";
import { nameOf } from "./names.js";

const BUDGET = 3; // ms of a frame
const NAMES = ["a", "b", "change"];

/**
 * @typedef {import("../../decode.js").Trace} Trace
 *
 * @typedef {{ A: Trace; B: Trace }} Sides
 *
 * @typedef {import("../../marks/attention-values.js").CellMap} CellMap
 */

/**
 * Why there is nothing to lay over each other here; null where there is.
 *
 * @param {Sides | null} sides
 * @param {number} layer
 * @returns {string | null}
 */
function reasonAgainst(sides, layer) {
  if (!sides) return "empty";
  return hindrance(sides) ?? (sides.A.layers.has(layer) && sides.B.layers.has(layer) ? null : "layer");
}

/**
 * The selected row of weights in both runs, none where one has not come as far.
 *
 * @param {Sides} sides
 * @param {{ layer: number; head: number; query: number }} place
 */
function rowsOf({ A, B }, { layer, head, query }) {
  return [A, B].map((trace) => {
    const held = trace.layers.get(layer);
    return held ? row(held, trace.model, head, query).weights : new Float64Array();
  });
}

/** @type {import("../../frame.js").About} */
export const about = { tensors: ["attention"], sides: "both", unused: "head" };

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function headChange(element, glass) {
  const state = shownIn(glass);
  /** @param {string} name @param {{ map: () => CellMap | null }[]} [between] */
  const one = (name, between) =>
    createMap(glass, {
      label: `head-change.map_${name}`,
      between,
      read(/** @type {Trace} */ trace) {
        const held = trace.layers.get(state.layer);
        return held ? readHead(held, trace.model, state.head) : null;
      },
      on: (/** @type {Trace} */ trace) => [trace.layers.get(state.layer), state.head],
      off: (/** @type {Trace} */ trace) => headOff(trace, state.layer, state.head),
    });
  const [a, b] = ["a", "b"].map((name) => one(name));
  const maps = [a, b, one("change", [b, a])];
  const panel = frame(element, glass, "head-change", { csv: () => table() });
  const figures = maps.map((map, i) =>
    h("figure", null, h("figcaption", { "data-text": `head-change.map_${NAMES[i]}` }), map.element),
  );
  const empty = h("p.gp-note");
  const same = h("p.gp-note", { hidden: "" }); // in the place of the third map
  figures[2].append(same);
  const all = h("div.cmp-maps", null, ...figures);
  panel.body.append(empty, all);
  const wide = widthOf(figures[0], glass);

  function table() {
    const sides = glass.sides();
    if (!sides || reasonAgainst(sides, state.layer)) return [];
    const [a, b] = rowsOf(sides, state);
    const lines = Array.from(a, (weight, key) => [
      state.query,
      key,
      sides.A.tokens.pieces[key],
      sides.B.tokens.pieces[key],
      weight,
      b[key],
      b[key] - weight,
    ]);
    return [["query", "key", "piece_in_A", "piece_in_B", "A", "B", "B_minus_A"], ...lines];
  }

  /** @param {Sides} sides */
  function drawMaps({ A, B }) {
    const width = wide();
    if (!width) return;
    const end = performance.now() + BUDGET;
    if (![[A], [B], [A, B]].map((runs, i) => maps[i].draw(runs, width, end)).every(Boolean)) glass.unfinished();
    same.textContent = sameText({ A, B }, about.unused, state, glass.text);
    same.hidden = !(maps[2].element.hidden = maps[2].same());
  }

  return inView(element, function draw() {
    const { layer, head, query, key } = state;
    const sides = glass.sides();
    panel.title.textContent = panel.text("title", { layer, head });
    const reason = reasonAgainst(sides, layer);
    empty.hidden = !reason;
    all.hidden = Boolean(reason);
    if (reason || !sides) {
      empty.textContent = panel.text(reason ?? "empty", { a: sides?.A.T, b: sides?.B.T });
      return panel.tell("", "");
    }
    drawMaps(sides);
    const [a, b] = rowsOf(sides, state);
    const [first, second] = [sides.A, sides.B].map(({ tokens }) => labelsOf(tokens.pieces));
    const name = (/** @type {number} */ t) => nameOf(first[t], second[t]);
    const weights = `A=${exact(a[key])} B=${exact(b[key])} change=${exact(b[key] - a[key])}`;
    return panel.tell(
      `layer ${layer} head ${head} query ${query} key ${key} ${weights}`,
      panel.text("read", {
        query: name(query),
        key: name(key),
        a: share(a[key]),
        b: share(b[key]),
        change: signed(b[key] - a[key], 4),
      }),
    );
  });
}
