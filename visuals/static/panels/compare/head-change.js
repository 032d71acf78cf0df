// The selected head in both runs: its attention weights in A, in B, and B − A, cell by cell.

import { row } from "../../compute.js";
import { exact, h, share, signed } from "../../dom.js";
import { frame } from "../../frame.js";
import { headOff, sameText } from "../../off.js";
import { OVER_CELLS, inView, link, steer, widthOf } from "../../pointing.js";
import { largest } from "../../sides.js";
import { blockFor, createMap } from "../attend/map.js";
import { differenceOf, matrixOf } from "../attend/matrix.js";
import { nameOf } from "./names.js";

const BUDGET = 3; // ms of a frame
const NAMES = ["a", "b", "change"];

/** Why the two runs cannot be laid over each other here; null where they can. @returns {string|null} */
export function hindrance(sides, layer) {
  if (!sides) return "empty";
  if (sides.A.model.name !== sides.B.model.name) return "models";
  if (sides.A.T !== sides.B.T) return "lengths";
  return sides.A.layers.has(layer) && sides.B.layers.has(layer) ? null : "layer";
}

/** @param {HTMLElement} element @param {object} glass */
export default function headChange(element, glass) {
  const { state } = glass;
  const canvases = NAMES.map((name) => h("canvas.gp-canvas", { "data-text-label": `head-change.map_${name}` }));
  const panel = frame(element, glass, "head-change", { csv: () => table() });
  const figures = canvases.map((canvas, i) =>
    h("figure", null, h("figcaption", { "data-text": `head-change.map_${NAMES[i]}` }), canvas),
  );
  const empty = h("p.gp-note");
  const same = h("p.gp-note", { hidden: "" }); // in the place of the third map
  figures[2].append(same);
  const maps = canvases.map((canvas) => createMap(canvas, glass));
  const all = h("div.cmp-maps", null, ...figures);
  panel.body.append(empty, all);
  const wide = widthOf(figures[0], glass);
  maps.forEach((map, i) => {
    link(canvases[i], glass, (x, y) => (state.trace ? map.find(x, y) : null));
    steer(canvases[i], glass, OVER_CELLS);
  });

  /** The selected row of weights in both runs. */
  function rows({ A, B }) {
    const { layer, head, query } = state;
    return [A, B].map((trace) => row(trace.layers.get(layer), trace.model, head, query).weights);
  }

  function table() {
    const sides = glass.sides();
    if (hindrance(sides, state.layer)) return [];
    const [a, b] = rows(sides);
    const lines = Array.from(a, (weight, key) => [state.query, key, sides.A.tokens.pieces[key], sides.B.tokens.pieces[key], weight, b[key], b[key] - weight]);
    return [["query", "key", "piece_in_A", "piece_in_B", "A", "B", "B_minus_A"], ...lines];
  }

  function drawMaps({ A, B }) {
    const { layer, head } = state;
    const width = wide();
    if (!width) return;
    const block = blockFor(B.T, maps[0].size(width));
    const end = performance.now() + BUDGET;
    const made = [A, B].map((trace) => matrixOf(trace.layers.get(layer), trace.model, head, "weights", block, null));
    const complete = made.map((matrix) => matrix.work(end)).every(Boolean);
    if (!complete) glass.unfinished();
    made.forEach((matrix, i) => maps[i].draw(width, complete ? matrix : null, "weights", headOff([A, B][i], layer, head)));
    const change = complete ? differenceOf(made[1], made[0]) : null;
    maps[2].draw(width, change, "scores");
    same.textContent = sameText({ A, B }, "head-change", state, glass.text);
    same.hidden = !(canvases[2].hidden = change !== null && largest(change.values) === 0);
  }

  return inView(element, function draw() {
    const { layer, head, query, key } = state;
    const sides = glass.sides();
    panel.title.textContent = panel.text("title", { layer, head });
    const reason = hindrance(sides, layer);
    empty.hidden = !reason;
    all.hidden = Boolean(reason);
    if (reason) {
      empty.textContent = panel.text(reason, { a: sides?.A.T, b: sides?.B.T });
      return panel.tell("", "");
    }
    drawMaps(sides);
    const [a, b] = rows(sides);
    const name = (t) => nameOf(sides.A.tokens.pieces[t], sides.B.tokens.pieces[t]);
    panel.tell(
      `layer ${layer} head ${head} query ${query} key ${key} A=${exact(a[key])} B=${exact(b[key])} change=${exact(b[key] - a[key])}`,
      panel.text("read", { query: name(query), key: name(key), a: share(a[key]), b: share(b[key]), change: signed(b[key] - a[key], 4) }),
    );
  });
}
