// B − A of attention, drawn as the panels draw it: one large map, the grid of several heads, or arcs over the text.

import { h, shown } from "../dom.js";
import { createArcs } from "../marks/arcs.js";
import { oneLine } from "../one-line.js";

/**
 * @typedef {import("../types.d.ts").Glass} Glass
 *
 * @typedef {import("../types.d.ts").Say} Say
 *
 * @typedef {import("./face.js").LayerRun} Run
 *
 * @typedef {import("./face.js").Part<Run>} Part
 *
 * @typedef {object} HeadMap the panel's own map, of marks/attention-map.js
 * @property {HTMLElement} element
 * @property {(runs: Run[], width: number) => boolean} draw whether it is complete
 * @property {() => number} block
 * @property {() => number[][]} rows
 * @property {() => boolean} same
 * @property {() => number} limit the largest change: that of the strongest colour
 *
 * @typedef {HeadMap & { missing: () => number }} HeadGrid the panel's own grid, of marks/head-grid.js
 *
 * @typedef {object} CrossMaps the panel's own maps of a decoder's look at its source, a head each
 * @property {HTMLElement} element
 * @property {(runs: Run[], width: number, source: number) => void} draw
 * @property {() => (string | number)[][]} rows
 * @property {() => boolean} same
 * @property {() => number | null} pointed
 */

const HEADS = ["query", "key", "A", "B", "B_minus_A"];
/** @param {{ block: () => number }} map @param {Say} text */
const block = (map, text) => (map.block() > 1 ? text("block", { block: map.block() }) : "");

/** @param {{ limit: () => number }} map @param {Say} text */
const strongest = (map, text) => (map.limit() ? text("map_strongest", { limit: shown(map.limit(), 3) }) : "");

/**
 * @param {Glass} glass
 * @param {Say} text
 * @param {(glass: Glass, label: string) => HeadMap} create
 * @param {() => string} view what is shown, by the name of b_minus_a's text view_<view>
 * @returns {Part}
 */
export function oneMap(glass, text, create, view) {
  const map = create(glass, "b_minus_a.maps");
  const note = h("p.gp-note");
  /** @type {Part["draw"]} */
  function draw(a, b, width) {
    if (!map.draw([a, b], width)) glass.unfinished();
    note.textContent = oneLine([text(`view_${view()}`), strongest(map, text), block(map, text)]);
  }
  /** @type {NonNullable<Part["csv"]>} */
  const csv = () => [["view", ...HEADS], ...map.rows().map((row) => [view(), ...row])];
  return { element: h("div", null, map.element, note), draw, csv, same: map.same, called: "map" };
}

/**
 * @param {Glass} glass
 * @param {Say} text
 * @param {(glass: Glass, label: string) => HeadGrid} create
 * @returns {Part}
 */
export function headMaps(glass, text, create) {
  const grid = create(glass, "b_minus_a.maps");
  const note = h("p.gp-note");
  /** @type {Part["draw"]} */
  function draw(a, b, width) {
    grid.draw([a, b], width);
    const missing = grid.missing();
    note.textContent = oneLine([
      strongest(grid, text),
      block(grid, text),
      missing ? text("coming", { count: missing }) : "",
    ]);
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
 * @param {Glass} glass
 * @param {(glass: Glass, label: string) => CrossMaps} create
 * @param {(a: Run, b: Run, pointed: number | null) => number} chosen which token of the source is marked
 * @returns {Part}
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

/**
 * Their numbers are saved by the table that stands beside them.
 *
 * @param {Glass} glass
 * @param {Say} text
 * @returns {Part}
 */
export function arcs(glass, text) {
  const drawn = createArcs(glass, "b_minus_a.arcs");
  const note = h("p.gp-note");
  /** @type {Part["draw"]} */
  function draw(a, b, width) {
    note.textContent = text("arcs_note", { limit: shown(drawn.draw([a, b], width).limit, 4) });
  }
  return { element: h("div", null, drawn.element, note), draw, same: drawn.same };
}
