// What two networks cost beside each other: parameters, weights read for a token, bytes kept of one, and the products
// behind them.

import { h } from "../../dom.js";
import { createTable } from "../../marks/table.js";
import { memo } from "../../reads.js";
import { exactBytes, origin, weightName, whole } from "../kv/format.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../decode.js").Trace} Trace
 *
 * @typedef {import("../../decoded.d.ts").Detail<"cost">} Cost
 *
 * @typedef {{ side: string; label: string; trace: Trace; cost: Cost | null }} CostRun
 */

/**
 * Tokens that a cache holds: those of a source as well.
 *
 * @param {Trace} trace
 */
const tokensOf = ({ T, encoder }) => T + (encoder?.T ?? 0);

/** @type {("parameters" | "read" | "kept")[]} */
const NUMBERS = ["parameters", "read", "kept"];

/**
 * @param {Cost | null} cost
 * @returns {[string, number][]}
 */
export const rowsOfCost = (cost) => (cost ? NUMBERS.map((name) => [name, cost[name]]) : []);

/**
 * One product in a line: its factors under their names, and its bytes.
 *
 * @param {Pick<Cost["cache"][number], "factors" | "bytes">} product
 * @param {Say} name
 */
export function productLine({ factors, bytes }, name) {
  const parts = factors.map(({ value, code, params, how }) => {
    const came = origin(how, name);
    return `${whole(value)} ${name(code, params)}${came ? ` (${came})` : ""}`;
  });
  return `${parts.join(" × ")} = ${exactBytes(bytes)}`;
}

/**
 * @param {Glass} glass
 * @param {Say} text of the panel
 */
export function createCosts(glass, text) {
  const table = createTable(
    "read-by-two",
    [
      ["cost", "th.gp-token"],
      ["a", "td.gp-number"],
      ["b", "td.gp-number"],
    ],
    { rows: 4, look: ".rbt-costs" },
  );
  const sums = h("details.rbt-sums", null, h("summary", { "data-text": "read-by-two.products" }));
  const element = h("div", null, h("h3.cmp-head", { "data-text": "read-by-two.costs" }), table.element, sums);
  /** @type {Say} */
  const factor = (code, params) => glass.text(`kv.factor_${code}`, params);

  const lists = ["A", "B"].map(() => h("div"));
  sums.append(...lists);
  const fill = lists.map((place) =>
    memo((/** @type {string} */ label, /** @type {Cost | null} */ cost) => {
      const colon = glass.text("marks.colon");
      const lines = cost
        ? [
            ...cost.weights.map((term) => `${weightName(glass.text, term.label)}${colon}${productLine(term, factor)}`),
            ...cost.cache.map((term) => `${text("cache")}${colon}${productLine(term, factor)}`),
          ]
        : [];
      place.replaceChildren(h("h4", null, label), ...lines.map((line) => h("p.gp-note", null, line)));
    }),
  );

  /** @param {CostRun[]} runs A and B */
  function draw(runs) {
    /** @type {[name: string, value: (cost: Cost, trace: Trace) => string][]} */
    const values = [
      ["parameters", ({ parameters }) => whole(parameters)],
      ["read", ({ read }) => exactBytes(read)],
      ["kept", ({ kept }) => exactBytes(kept)],
      // of a source a decoder keeps as much a token
      ["cached", ({ kept }, trace) => exactBytes(kept * tokensOf(trace))],
    ];
    table.fill(values, (fields, [name, value]) => {
      fields[0].textContent = text(`cost_${name}`, { a: tokensOf(runs[0].trace), b: tokensOf(runs[1].trace) });
      runs.forEach((run, i) => {
        fields[i + 1].textContent = run.cost ? value(run.cost, run.trace) : "…";
      });
    });
    runs.forEach(({ side, label, cost }, i) =>
      fill[i](`${side}${glass.text("marks.colon")}${label}`, cost, glass.state.language),
    );
  }
  return { element, draw };
}
