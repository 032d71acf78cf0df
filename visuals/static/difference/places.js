// B − A of a map of places in the network × tokens, made with the panel's own.

import { h } from "../dom.js";
import { headingOf } from "./heading.js";

/**
 * @typedef {import("../types.d.ts").Glass} Glass
 *
 * @typedef {import("./face.js").Run} Run
 */

/**
 * The panel's own map, of marks/depth.js.
 *
 * @template {Run} Of
 * @typedef {object} PlacesMap
 * @property {HTMLElement} element
 * @property {(runs: Of[], width: number, fresh?: boolean) => void} draw
 * @property {() => number[][]} rows
 * @property {(row: number) => string} name
 * @property {() => boolean} same
 */

/**
 * @template {Run} Of
 * @param {Glass} glass
 * @param {import("../types.d.ts").Say} text of the section "b_minus_a"
 * @param {(glass: Glass, label: string) => PlacesMap<NoInfer<Of>>} create
 * @param {{ called: string; title?: string }} what `called`: texts' name n_<called> and the file's
 * @returns {import("./face.js").Part<Of>}
 */
export function places(glass, text, create, { called, title }) {
  const map = create(glass, `b_minus_a.${called}`);
  const element = h("div", null, ...headingOf({ title }, text).elements, map.element);
  /** @type {Of[]} */
  let runs = [];
  /** @type {import("./face.js").Part<Of>["draw"]} */
  function draw(a, b, width, fresh) {
    runs = [a, b];
    map.draw(runs, width, fresh);
  }
  const csv = () => [
    ["place", "token", "piece_in_A", "piece_in_B", "A", "B", "B_minus_A"],
    ...map
      .rows()
      .map(([row, token, a, b]) => [
        map.name(row),
        token,
        ...runs.map(({ trace }) => trace.tokens.pieces[token]),
        a,
        b,
        b - a,
      ]),
  ];
  return { element, draw, csv, same: map.same, called: title ?? called };
}
