// What two networks cost beside each other: parameters, weights read for a token, bytes kept of one, and the products
// behind them.

import { h } from "../../dom.js";
import { createTable } from "../../marks/table.js";
import { memo } from "../../reads.js";
import { exactBytes, origin, weightName, whole } from "../kv/format.js";

/**
 * Tokens that a cache holds: those of a source as well.
 *
 * @param {import("../../decode.js").Trace} trace
 */
const tokensOf = ({ T, encoder }) => T + (encoder?.T ?? 0);

/**
 * @typedef {{ parameters: number; weights: object[]; read: number; cache: object[]; kept: number }} Cost of
 *   app/chapters/compare.py
 */

/**
 * @param {Cost | null} cost
 * @returns {[string, number][]}
 */
export const rowsOfCost = (cost) => (cost ? ["parameters", "read", "kept"].map((name) => [name, cost[name]]) : []);

/** One product in a line: its factors under their names, and its bytes. */
export function productLine({ factors, bytes }, name) {
  const parts = factors.map(({ value, code, params, how }) => {
    const came = origin(how, name);
    return `${whole(value)} ${name(code, params)}${came ? ` (${came})` : ""}`;
  });
  return `${parts.join(" × ")} = ${exactBytes(bytes)}`;
}

/**
 * @param {import("../../types.d.ts").Glass} glass
 * @param {Function} text of the panel
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
  const factor = (code, params) => glass.text(`kv.factor_${code}`, params);

  const lists = ["A", "B"].map(() => h("div"));
  sums.append(...lists);
  const fill = lists.map((place) =>
    memo((label, cost, _language) => {
      const lines = cost
        ? [
            ...cost.weights.map((term) => `${weightName(glass.text, term.label)}: ${productLine(term, factor)}`),
            ...cost.cache.map((term) => `${text("cache")}: ${productLine(term, factor)}`),
          ]
        : [];
      place.replaceChildren(h("h4", null, label), ...lines.map((line) => h("p.gp-note", null, line)));
    }),
  );

  /** @param {{ side: string; label: string; trace: object; cost: Cost | null }[]} runs A and B */
  function draw(runs) {
    const values = {
      parameters: ({ cost }) => whole(cost.parameters),
      read: ({ cost }) => exactBytes(cost.read),
      kept: ({ cost }) => exactBytes(cost.kept),
      // of a source a decoder keeps as much a token
      cached: ({ cost, trace }) => exactBytes(cost.kept * tokensOf(trace)),
    };
    table.fill(Object.keys(values), (fields, name) => {
      fields[0].textContent = text(`cost_${name}`, { a: tokensOf(runs[0].trace), b: tokensOf(runs[1].trace) });
      runs.forEach((run, i) => {
        fields[i + 1].textContent = run.cost ? values[name](run) : "…";
      });
    });
    runs.forEach(({ side, label, cost }, i) => fill[i](`${side}: ${label}`, cost, glass.state.language));
  }
  return { element, draw };
}
