// One query's attention as arcs over the text: from the token that looks to every token that it looks at.

import { row } from "../../compute.js";
import { exact, h, share } from "../../dom.js";
import { fit, ink, visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { headOff } from "../../off.js";
import { OVER_CELLS, inView, link, steer, widthOf } from "../../pointing.js";
import { ARCS, THICK, drawNames, nearest, placesOf, strokeArc } from "./arc-drawing.js";
import { createWalk } from "./walk.js";

const LABELS = 56; // px for two lines of names
const LINES = 2;

export const about = { tensors: ["attention"], minus: "attend", unused: "head" };

/** @param {HTMLElement} element @param {object} glass */
export default function arcs(element, glass) {
  const { state } = glass;
  const canvas = h("canvas.gp-canvas", { "data-text-label": "arcs.canvas" });
  const panel = frame(element, glass, "arcs", {
    csv: () => table(),
    parts: ["what", "formula", "myth"],
  });
  const text = (name, params) => panel.text(name, params);
  const walk = createWalk(glass);
  const note = h("p.gp-note");
  const holder = h("div", null, canvas);
  panel.body.append(walk.element, holder, note);
  const wide = widthOf(holder, glass);
  let places = null;

  function table() {
    const { trace, layer, head, query } = state;
    const held = glass.layer();
    const weights = held ? [...row(held, trace.model, head, query).weights] : [];
    const lines = weights.map((weight, key) => [layer, head, query, key, trace.tokens.pieces[key], weight]);
    return [["layer", "head", "query", "key", "piece", "weight"], ...lines];
  }

  // Over the text a token is a key, in the text itself the query.
  link(canvas, glass, (x, y) => {
    if (!places) return null;
    const t = nearest(places, x);
    return y > ARCS ? { query: t } : { key: Math.min(t, state.query) };
  });
  steer(canvas, glass, OVER_CELLS);

  function drawArc(context, from, to, weight, span, name, off) {
    context.strokeStyle = ink().colour(off ? "muted" : name);
    context.setLineDash(off ? [3, 5] : []);
    context.globalAlpha = Math.max(name === "k" ? 0.5 : 0.06, Math.sqrt(weight));
    context.lineWidth = Math.max(0.75, weight * THICK);
    strokeArc(context, from, to, span);
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  function drawTicks(context, { query, key }) {
    const { colour } = ink();
    places.at.forEach((x, t) => {
      context.fillStyle = colour(t === query ? "q" : t === key ? "k" : t > query ? "masked-line" : "muted");
      context.fillRect(x - (t === query || t === key ? 2 : 0.75), ARCS, t === query || t === key ? 4 : 1.5, 6);
    });
  }

  return inView(element, function draw() {
    const { trace, layer, head, query, key } = state;
    const held = glass.layer();
    const width = wide();
    walk.draw();
    if (!held || width === 0) return;
    const { weights } = row(held, trace.model, head, query);
    const context = fit(canvas, width, ARCS + LABELS);
    places = placesOf(context, trace.tokens.pieces, width);
    const span = Math.max(1, places.at[query] - places.at[0]);
    const off = headOff(trace, layer, head);
    weights.forEach(
      (weight, t) => t !== key && drawArc(context, places.at[query], places.at[t], weight, span, "accent", off),
    );
    drawArc(context, places.at[query], places.at[key], weights[key], span, "k", off);
    drawTicks(context, state);
    drawNames(context, places, weights, state, width, LINES);
    const name = (t) => visible(trace.tokens.pieces[t]);
    panel.title.textContent = text("title", { layer, head, query, piece: name(query) });
    note.textContent = [text("scale", { pixels: THICK }), places.fits ? "" : text("crowded")].join(" ");
    panel.tell(
      `layer ${layer} head ${head} query ${query} key ${key} weight=${exact(weights[key])}`,
      text("read", { query: name(query), key: name(key), weight: share(weights[key]), distance: query - key }),
    );
  });
}
