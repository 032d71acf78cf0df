// One query's attention as arcs over the text: from the token that looks to every token that it looks at.

import { row } from "../../compute.js";
import { exact, h, share } from "../../dom.js";
import { cellNames } from "../../draw.js";
import { frame } from "../../frame.js";
import { createArcs, THICK } from "../../marks/arcs.js";
import { scoreForms } from "../../parts.js";
import { inWidth, widthOf } from "../../pointing.js";
import { createWalk } from "./walk.js";

export const about = { tensors: ["attention"], minus: "attend", unused: "head", forms: scoreForms };

/** @param {HTMLElement} element @param {object} glass */
export default function arcs(element, glass) {
  const { state } = glass;
  const drawn = createArcs(glass, "arcs.canvas");
  const panel = frame(element, glass, "arcs", { csv: () => table(), parts: ["what", "formula", "myth"] });
  const text = (name, params) => panel.text(name, params);
  const walk = createWalk(glass);
  const note = h("p.gp-note");
  const holder = h("div", null, drawn.element);
  panel.body.append(walk.element, holder, note);

  function table() {
    const { trace, layer, head, query } = state;
    const held = glass.layer();
    const weights = held ? [...row(held, trace.model, head, query).weights] : [];
    const lines = weights.map((weight, key) => [layer, head, query, key, trace.tokens.pieces[key], weight]);
    return [["layer", "head", "query", "key", "piece", "weight"], ...lines];
  }

  return inWidth(element, widthOf(holder, glass), function draw(width) {
    const { trace, layer, head, query, key } = state;
    const held = glass.layer();
    walk.draw();
    if (!held) return;
    const { weights } = row(held, trace.model, head, query);
    const { fits } = drawn.draw([{ trace, held }], width);
    const names = cellNames(state);
    panel.title.textContent = text("title", { layer, head, query, piece: names.query });
    note.textContent = [text("scale", { pixels: THICK }), fits ? "" : text("crowded")].join(" ");
    panel.tell(
      `layer ${layer} head ${head} query ${query} key ${key} weight=${exact(weights[key])}`,
      text("read", { ...names, weight: share(weights[key]), distance: query - key }),
    );
  });
}
