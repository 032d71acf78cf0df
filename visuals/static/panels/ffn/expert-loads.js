// How many of the run's tokens go to each expert of a layer, as bars beside an even share.

import { h, shown } from "../../dom.js";
import { part } from "../../reads.js";
import { loads } from "./routing.js";

const MOST = 64; // bars; of more experts those with the most tokens

/** @param {object} glass @returns {{ element: HTMLElement, draw: (found, ffn) => { tokens: number, weight: number }[] }} */
export function createLoads(glass) {
  const body = h("tbody", null);
  const even = h("p.gp-note");
  const table = h("table.gp-table.ffn-loads", null, body);
  const element = h("div", null, even, h("div.gp-list", { tabindex: "0", role: "region", "data-text-label": "experts.loads" }, table));
  let found = [];

  const fill = part((routing, ffn, _language) => {
    found = loads(routing, ffn.experts);
    const tokens = routing.chosen.shape[0];
    const share = (tokens * ffn.top_k) / ffn.experts;
    const most = Math.max(...found.map((one) => one.tokens), 1);
    const named = found.map((one, expert) => ({ ...one, expert }));
    const rows = ffn.experts > MOST ? named.sort((a, b) => b.tokens - a.tokens || a.expert - b.expert).slice(0, MOST) : named;
    even.textContent = glass.text("experts.even", { share: shown(share, 3), unused: found.filter((one) => !one.tokens).length, experts: ffn.experts });
    body.replaceChildren(...rows.map(({ expert, tokens: count, weight }) => h("tr", null,
      h("th.gp-number", { scope: "row" }, String(expert)),
      h("td.gp-number", null, String(count)),
      h("td.gp-number", null, glass.text("experts.weight_sum", { weight: shown(weight, 3) })),
      h("td.ffn-track", null, h("span.ffn-bar", { style: `width: ${(100 * count) / most}%` })))));
  });
  function draw(routing, ffn) {
    fill(routing, ffn, glass.state.language);
    return found;
  }
  return { element, draw };
}
