// The merges of one token as a ladder: a line for the single symbols, then one for each merge, the new symbol marked.

import { h } from "../../dom.js";
import { visible } from "../../draw.js";

/** @param {Function} text */
export function createLadder(text) {
  const element = h("ol.tm-ladder", { tabindex: "0", "data-text-label": "merges.ladder" });

  function line(name, symbols, fresh) {
    const boxes = symbols.map((symbol, i) =>
      h(i === fresh ? "span.tm-symbol.is-new" : "span.tm-symbol", { dir: "auto" }, visible(symbol)),
    );
    return h("li.tm-step", null, h("span.tm-rank", null, name), h("span.tm-symbols", null, ...boxes));
  }

  /** @param {import("./made.js").Made} made */
  function draw({ base, steps, states }) {
    element.hidden = steps.length === 0;
    if (element.hidden) return;
    const lines = steps.map(({ at, rank }, i) => line(text("step", { step: i + 1, rank }), states[i + 1], at));
    element.replaceChildren(line(text("start", { count: base.length }), base, -1), ...lines);
  }
  return { element, draw };
}
