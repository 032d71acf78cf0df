// B − A of a map of places in the network × tokens, made with the panel's own.

import { h } from "../dom.js";
import { headingOf } from "./heading.js";

/**
 * @param {import("../types.d.ts").Glass} glass
 * @param {Function} text of the section "b_minus_a"
 * @param {(glass: import("../types.d.ts").Glass, label: string) => object} create makes the panel's own map, of
 *   marks/depth.js
 * @param {{ called: string; title?: string }} what `called`: texts' name n_<called> and the file's
 */
export function places(glass, text, create, { called, title }) {
  const map = create(glass, `b_minus_a.${called}`);
  const element = h("div", null, ...headingOf({ title }, text).elements, map.element);
  let runs = [];
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
