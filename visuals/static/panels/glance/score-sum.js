// The sum behind two scores: what was brought to the query, everything else, and the one term that tells them apart
// most.

import { h } from "../../dom.js";
import { writtenOut } from "../../equation.js";
import { createTable } from "../../marks/table.js";
import { rowsOf } from "./matching.js";

/**
 * The rows of both scores as sums, with the differences, in digits that come out down and across.
 *
 * @param {import("./matching.js").Matching} found
 * @returns {[part: string, numbers: string[]][]}
 */
function sumsWritten(found) {
  const rows = rowsOf(found);
  const [[, brought, brought_rival], [, rest, rest_rival], [, score, score_rival]] = rows;
  const plus = (/** @type {number} */ one, /** @type {number} */ other) => one + other;
  const less = (/** @type {number} */ own, /** @type {number} */ rival) => own - rival;
  const said = writtenOut(
    {
      ...{ brought, brought_rival, brought_apart: brought - brought_rival },
      ...{ rest, rest_rival, rest_apart: rest - rest_rival },
      ...{ score, score_rival, score_apart: score - score_rival },
    },
    [
      ["score", ["brought", "rest"], plus],
      ["score_rival", ["brought_rival", "rest_rival"], plus],
      ["brought_apart", ["brought", "brought_rival"], less],
      ["rest_apart", ["rest", "rest_rival"], less],
      ["score_apart", ["score", "score_rival"], less],
      ["score_apart", ["brought_apart", "rest_apart"], plus],
    ],
    { digits: 3 },
  );
  const names = /** @type {const} */ (["brought", "rest", "score"]);
  return names.map((name, i) => [rows[i][0], [said[name], said[`${name}_rival`], said[`${name}_apart`]]]);
}

/** @param {import("../../types.d.ts").Glass} glass */
export function createScoreSum(glass) {
  /** @type {import("../../types.d.ts").Say} */
  const text = (name, params) => glass.text(`why.${name}`, params);
  const table = createTable(null, [
    ["part", "th.gp-token"],
    ["key", "td.gp-number"],
    ["rival", "td.gp-number"],
    ["difference", "td.gp-number"],
  ]);
  const [about, term] = [h("div"), h("div")];
  const element = h(
    "details.wy-list",
    null,
    h("summary", { "data-text": "why.matching_sum" }),
    about,
    h("div.ch-scroll.wy-scores", null, table.element),
    term,
  );

  /**
   * @param {import("./matching.js").Matching} found
   * @param {ReturnType<typeof import("./matching.js").namesOf>} names
   * @param {(template: string) => HTMLElement} say a paragraph with the names filled in
   */
  function draw(found, names, say) {
    about.replaceChildren(say(text("matching_terms")));
    /** @type {Record<string, string>} */
    const tokens = { key: names.key, rival: names.rival };
    table.entitle((column) => tokens[column] ?? text(`sum_${column}`));
    table.body.replaceChildren(
      ...sumsWritten(found).map(([part, numbers]) => {
        const line = table.line([text(part, names)], part === "sum_score" ? { class: "wy-sum" } : {});
        line.append(...numbers.map((number) => h("td.gp-number", null, number)));
        return line;
      }),
    );
    term.replaceChildren(say(text("matching_term")), ...(names.same ? [say(text("matching_same"))] : []));
  }
  return { element, draw };
}
