// The value line of B − A: the numbers of both runs, subtracted by name.

import { labelsOf } from "../characters.js";
import { exact } from "../dom.js";
import { visible } from "../draw.js";
import { shownIn } from "../run-for.js";
import { number, READ, subtractedWritten } from "./table.js";

/**
 * @typedef {import("./face.js").Run} Run
 *
 * @typedef {import("./face.js").State} State
 *
 * @typedef {import("../types.d.ts").Glass} Glass
 *
 * @typedef {import("../types.d.ts").Say} Say
 *
 * @typedef {{
 *   first: Object<string, number>;
 *   second: Object<string, number>;
 *   between: Object<string, number>;
 * }} Numbers
 *   of A, of B, and those that no subtraction gives
 */

/** How titles name the selection. @param {State} state */
export function selectionOf({ trace, layer, head, query, key, pair }) {
  const piece = (/** @type {number} */ t) => visible(labelsOf(trace.tokens.pieces)[t]);
  return {
    layer,
    head,
    pair,
    query: piece(query),
    key: piece(key),
    m: query,
    n: key,
    layers: trace.model.n_layers,
    last: piece(trace.T - 1),
  };
}

/**
 * What is subtracted.
 *
 * @template Chosen
 * @param {import("./face.js").View<Run, Chosen>} view
 * @param {Run[]} runs A and B
 * @param {Glass} glass
 * @param {Chosen} chosen what the selection leaves open
 * @returns {Numbers}
 */
export function numbersOf(view, [a, b], glass, chosen) {
  const state = shownIn(glass);
  const [first, second] = [a, b].map((run) => view.numbers(run, state, glass, chosen));
  return { first, second, between: view.between?.(a, b, state, glass, chosen) ?? {} };
}

/** @param {Numbers} numbers */
const sharedNames = ({ first, second }) => Object.keys(second).filter((name) => name in first);

/**
 * The numbers for data-value.
 *
 * @param {Numbers} numbers
 */
function exactly(numbers) {
  const { first, second, between } = numbers;
  const apart = Object.entries(between).map(([name, value]) => `${name}=${exact(value)}`);
  const plain = sharedNames(numbers).map(
    (name) =>
      `${name}=${exact(second[name] - first[name])} A.${name}=${exact(first[name])} B.${name}=${exact(second[name])}`,
  );
  return [...apart, ...plain].join(" ");
}

/**
 * The numbers for reading: those that the view has said.
 *
 * @template Chosen
 * @param {Numbers} numbers
 * @param {import("./face.js").View<Run, Chosen>} view
 * @param {Run} b
 * @param {Glass} glass
 * @param {Say} text of B − A
 */
function inWords(numbers, view, b, glass, text) {
  const { first, second, between } = numbers;
  const names = sharedNames(numbers);
  const wanted = typeof view.said === "function" ? view.said(b, shownIn(glass), glass) : view.said;
  const said = (wanted?.filter((name) => names.includes(name)) ?? names).map((name) =>
    text(view.worded?.includes(name) ? `number_${name}` : "number", {
      name: text(`n_${name}`, view.words?.(b)),
      ...subtractedWritten(first[name], second[name], READ),
    }),
  );
  const change = Object.entries(between).map(([name, value]) => text(`number_${name}`, { value: number(value, 5) }));
  return [...change, ...said].join(" · ");
}

/**
 * What data-value holds, and the line under the title.
 *
 * @template Chosen
 * @param {import("./face.js").View<Run, Chosen>} view
 * @param {Run[]} runs A and B
 * @param {Glass} glass
 * @param {Chosen} chosen what the selection leaves open
 * @param {Say} text of B − A
 * @returns {{ value: string; words: string }}
 */
export function valueLine(view, runs, glass, chosen, text) {
  const state = shownIn(glass);
  const [a, b] = runs;
  const found = numbersOf(view, runs, glass, chosen);
  const numbers = inWords(found, view, b, glass, text);
  const what = view.of?.({ text, named: selectionOf(state), chosen, a, b, state, glass });
  return {
    value: `B-A ${view.at(state, glass, chosen, b)} ${exactly(found)}`,
    words: what ? text("of", { what, numbers }) : numbers,
  };
}
