// B − A of one large map of queries × keys, made a few milliseconds a frame.

import { h } from "../dom.js";
import { blockFor, createMap } from "../panels/attend/map.js";
import { OVER_CELLS, link, steer } from "../pointing.js";

const BUDGET = 3; // ms of a frame

/**
 * @param {{ on: (a, b, state, glass) => any[], make: (a, b, block: number, state, glass) => import("./head-maps.js").Change,
 *           view: (state, glass) => string }} what
 * `on`: what the map depends on, its size on the screen aside; `view`: what is shown, by the name of minus' text view_<view>
 */
export const oneMap = (what) => (glass, text) => {
  const { state } = glass;
  const canvas = h("canvas.gp-canvas", { "data-text-label": "minus.maps" });
  const note = h("p.gp-note");
  const element = h("div", null, canvas, note);
  const map = createMap(canvas, glass);
  link(canvas, glass, map.find);
  steer(canvas, glass, OVER_CELLS);
  let [made, key] = [null, []];
  function draw(a, b, width) {
    const block = blockFor(b.trace.T, map.size(width));
    const now = [block, ...what.on(a, b, state, glass)];
    if (now.some((value, i) => value !== key[i])) [made, key] = [what.make(a, b, block, state, glass), now];
    const done = made.done || made.work(performance.now() + BUDGET);
    if (!done) glass.repaint();
    map.draw(width, done ? made : null, "scores"); // the scale that goes both ways from 0
    note.textContent = [text(`view_${what.view(state, glass)}`), block > 1 ? text("block", { block }) : ""].filter(Boolean).join(" ");
  }
  const csv = () => [
    ["view", "query", "key", "A", "B", "B_minus_A"],
    ...(made.done ? made.rows() : []).map((row) => [what.view(state, glass), ...row]),
  ];
  return { element, draw, csv, same: () => made.done && made.limit === 0, called: "map" };
};
