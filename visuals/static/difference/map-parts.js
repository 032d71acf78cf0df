// B − A of attention, drawn as the panels draw it: one large map, the grid of several heads, or arcs over the text.

import { h, shown } from "../dom.js";
import { createArcs } from "../marks/arcs.js";

const HEADS = ["query", "key", "A", "B", "B_minus_A"];
const block = (map, text) => (map.block() > 1 ? text("block", { block: map.block() }) : "");

/**
 * @param {(glass: import("../types.d.ts").Glass, label: string) => object} create makes the panel's own map, of
 *   marks/attention-map.js
 * @param {() => string} view what is shown, by the name of b_minus_a's text view_<view>
 */
export function oneMap(glass, text, create, view) {
  const map = create(glass, "b_minus_a.maps");
  const note = h("p.gp-note");
  function draw(a, b, width) {
    if (!map.draw([a, b], width)) glass.unfinished();
    note.textContent = [text(`view_${view()}`), block(map, text)].filter(Boolean).join(" ");
  }
  const csv = () => [["view", ...HEADS], ...map.rows().map((row) => [view(), ...row])];
  return { element: h("div", null, map.element, note), draw, csv, same: map.same, called: "map" };
}

/**
 * @param {(glass: import("../types.d.ts").Glass, label: string) => object} create makes the panel's own grid, of
 *   marks/head-grid.js
 */
export function headMaps(glass, text, create) {
  const grid = create(glass, "b_minus_a.maps");
  const note = h("p.gp-note");
  function draw(a, b, width) {
    grid.draw([a, b], width);
    const missing = grid.missing();
    note.textContent = [block(grid, text), missing ? text("coming", { count: missing }) : ""].filter(Boolean).join(" ");
  }
  const csv = () => [["layer", "head", ...HEADS], ...grid.rows()];
  return {
    element: h("div", null, h("div.gp-scroll", null, grid.element), note),
    draw,
    csv,
    same: grid.same,
    called: "maps",
  };
}

/**
 * The maps of a decoder's look at its source, a head each.
 *
 * @param {(glass: object, label: string) => object} create makes the panel's own
 * @param {(a: object, b: object, pointed: number | null) => number} chosen which token of the source is marked
 */
export function crossMaps(glass, create, chosen) {
  const { element, draw, rows, same, pointed } = create(glass, "b_minus_a.cross_maps");
  const csv = () => [["layer", "head", "query", "source", "A", "B", "B_minus_A"], ...rows()];
  return {
    element,
    draw: (a, b, width) => draw([a, b], width, chosen(a, b, pointed())),
    csv,
    same,
    called: "maps",
    pointed,
    wide: true,
  };
}

/** Their numbers are saved by the table that stands beside them. */
export function arcs(glass, text) {
  const drawn = createArcs(glass, "b_minus_a.arcs");
  const note = h("p.gp-note");
  function draw(a, b, width) {
    note.textContent = text("arcs_note", { limit: shown(drawn.draw([a, b], width).limit, 4) });
  }
  return { element: h("div", null, drawn.element, note), draw, same: drawn.same };
}
