// One query's attention as arcs over the text: from the token that looks to every token that it looks at.

import { row } from "../../compute.js";
import { exact, h, share } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { createArcs, THICK } from "../../marks/arcs.js";
import { scoreForms } from "../../parts.js";
import { inView, widthOf } from "../../pointing.js";
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
  const wide = widthOf(holder, glass);

  function table() {
    const { trace, layer, head, query } = state;
    const held = glass.layer();
    const weights = held ? [...row(held, trace.model, head, query).weights] : [];
    const lines = weights.map((weight, key) => [layer, head, query, key, trace.tokens.pieces[key], weight]);
    return [["layer", "head", "query", "key", "piece", "weight"], ...lines];
  }

  return inView(element, function draw() {
    const { trace, layer, head, query, key } = state;
    const held = glass.layer();
    const width = wide();
    walk.draw();
    if (!held || width === 0) return;
    const { weights } = row(held, trace.model, head, query);
    const { fits } = drawn.draw([{ trace, held }], width);
    const name = (t) => visible(trace.tokens.pieces[t]);
    panel.title.textContent = text("title", { layer, head, query, piece: name(query) });
    note.textContent = [text("scale", { pixels: THICK }), fits ? "" : text("crowded")].join(" ");
    panel.tell(
      `layer ${layer} head ${head} query ${query} key ${key} weight=${exact(weights[key])}`,
      text("read", { query: name(query), key: name(key), weight: share(weights[key]), distance: query - key }),
    );
  });
}
