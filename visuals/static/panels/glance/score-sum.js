// The sum behind two scores: what was brought to the query, everything else, and the one term that tells them apart
// most.

import { h, shown } from "../../dom.js";
import { createTable } from "../../marks/table.js";
import { rowsOf } from "./matching.js";

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
      ...rowsOf(found).map(([part, own, rival]) =>
        table.line(
          [text(part, names), ...[own, rival, own - rival].map((value) => shown(value, 4))],
          part === "sum_score" ? { class: "wy-sum" } : {},
        ),
      ),
    );
    term.replaceChildren(say(text("matching_term")), ...(names.same ? [say(text("matching_same"))] : []));
  }
  return { element, draw };
}
