// What so many users need: weights and cache in all, and a table of how many of each GPU hold them.

import { h } from "../../dom.js";
import { createTable } from "../../marks/table.js";
import { notesOf } from "./answer.js";
import { both, scaled, whole } from "./format.js";

/** @typedef {import("../../decoded.d.ts").Calculation<"kv_needs">} Needs */

/** @param {import("../../types.d.ts").Glass} glass */
export function needsView(glass) {
  /** @type {import("../../types.d.ts").Say} */
  const text = (name, params) => glass.text(`kv-fit.${name}`, params);
  const element = h("div.kv-answer");
  const table = createTable(null, [
    ["gpu", "th.gp-token"],
    ["at_least", "td"],
    ["found", "td"],
    ["one_server", "td"],
  ]);

  /** @param {Needs["gpus"][number]["layout"]} found */
  const layout = (found) => (found ? text(found.dcp > 1 ? "layout_dcp" : "layout", found) : text("beyond"));

  /** @param {Needs} needs */
  function show({ users, tokens, weights, cache, total, gpus, notes }) {
    table.entitle(text);
    table.body.replaceChildren(
      ...gpus.map(({ name, own, at_least, layout: found, one_server }) =>
        table.line([
          own ? text("own_gpu") : name,
          at_least === null ? "—" : whole(at_least),
          layout(found),
          one_server ? String(one_server) : "—",
        ]),
      ),
    );
    element.replaceChildren(
      h("h3.gp-subtitle", null, text("reverse_title", { users: whole(users), tokens: whole(tokens) })),
      h(
        "p",
        null,
        text("reverse_sum", { weights: scaled(weights, "binary"), cache: scaled(cache, "binary"), total: both(total) }),
      ),
      h("div.kv-scroll", null, table.element),
      ...notesOf(glass, notes),
    );
  }
  return { element, show };
}
