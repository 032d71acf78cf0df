// A sum as a list of its largest terms, with a bar each, and of all others together.

import { count as asCount, h, signed } from "../../dom.js";
import { numberCell } from "../../marks/table.js";
import { selecting } from "./words.js";

/**
 * @typedef {object} Term
 * @property {string} words
 * @property {number} value
 * @property {Partial<import("../../selection.js").Selection>} [select] the place to look at when it is pressed
 */

/**
 * @param {import("../../types.d.ts").Glass} glass
 * @param {string} section of the texts: others, sum
 */
export function createTerms(glass, section) {
  const body = h("tbody");
  const element = h("div.ch-scroll", null, h("table.gp-table.gp-list.wy-terms", null, body));
  /** @type {(name: Node | string, value: number, most: number, kind?: string) => HTMLElement} */
  const row = (name, value, most, kind = "") => {
    const bar = h(`span.wy-bar${value < 0 ? ".is-less" : ""}`, { style: `width: ${(100 * Math.abs(value)) / most}%` });
    return h(
      `tr${kind}`,
      null,
      h("th.gp-token", { scope: "row" }, name),
      numberCell(signed(value, 4)),
      h("td.wy-track", null, bar),
    );
  };
  /** @param {Term} term */
  const named = ({ words, select }) => (select ? h("button.wy-lead", selecting(glass, select), words) : words);

  /**
   * @param {Term[]} terms all of them, or those known by name
   * @param {number} total what they sum to with all others
   * @param {number} all how many there are
   * @param {number} count of those that are listed one by one
   * @param {string} [sum] the sum's text
   */
  function draw(terms, total, all, count, sum = "sum") {
    const first = [...terms].sort((a, b) => Math.abs(b.value) - Math.abs(a.value)).slice(0, count);
    const rest = total - first.reduce((sum, { value }) => sum + value, 0);
    const most = Math.max(...first.map(({ value }) => Math.abs(value)), Math.abs(rest)) || 1;
    body.replaceChildren(
      ...first.map((term) => row(named(term), term.value, most)),
      ...(all > first.length
        ? [row(glass.text(`${section}.others`, { count: asCount(all - first.length) }), rest, most, ".is-others")]
        : []),
      h(
        "tr.wy-sum",
        null,
        h("th.gp-token", { scope: "row" }, glass.text(`${section}.${sum}`)),
        numberCell(signed(total, 6)),
        h("td"),
      ),
    );
    return first;
  }
  return { element, draw };
}
