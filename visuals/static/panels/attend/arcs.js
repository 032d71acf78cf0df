// One query's attention as arcs over the text: from the token that looks to every token that it looks at.

import { row } from "../../compute.js";
import { exact, h, share, watcher } from "../../dom.js";
import { cut, fit, ink, visible, write } from "../../draw.js";
import { frame } from "../../frame.js";
import { OVER_CELLS, inView, link, steer, widthOf } from "../../pointing.js";
import { createWalk } from "./walk.js";

export const [ARCS, THICK] = [170, 12];
const [LABELS, PAD] = [56, 8];
const LINES = 2; // of labels, where the tokens do not all fit beside each other

/** Where each token stands: side by side at their own widths where they fit, else at equal distances. */
export function placesOf(context, pieces, width) {
  const wide = pieces.map((piece) => context.measureText(visible(piece)).width + 10);
  const total = wide.reduce((sum, x) => sum + x, 0);
  const room = width - 2 * PAD;
  if (total > room) return { fits: false, at: pieces.map((_, t) => PAD + ((t + 0.5) * room) / pieces.length) };
  let x = PAD;
  const spread = Math.min(64, (room - total) / pieces.length);
  const at = wide.map((own) => {
    const middle = x + (own + spread) / 2;
    x += own + spread;
    return middle;
  });
  return { fits: true, at };
}

/** @param {HTMLElement} element @param {object} glass */
export default function arcs(element, glass) {
  const { state } = glass;
  const canvas = h("canvas.gp-canvas", { "data-text-label": "arcs.canvas" });
  const panel = frame(element, glass, "arcs", {
    csv: () => table(),
    parts: ["what", "formula", "myth"],
  });
  const text = (name, params) => panel.text(name, params);
  const walk = createWalk(element, glass);
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

  /** The token nearest to a point: over the text its key, in the text itself the query. */
  function nearest(x) {
    if (!places) return null;
    let best = 0;
    places.at.forEach((at, t) => {
      if (Math.abs(at - x) < Math.abs(places.at[best] - x)) best = t;
    });
    return best;
  }
  link(canvas, glass, (x, y) => {
    const t = nearest(x);
    if (t === null) return null;
    return y > ARCS ? { query: t } : { key: Math.min(t, state.query) };
  });
  steer(canvas, glass, OVER_CELLS);

  function drawArc(context, from, to, weight, span, name) {
    context.strokeStyle = ink().colour(name);
    context.globalAlpha = Math.max(name === "k" ? 0.5 : 0.06, Math.sqrt(weight));
    context.lineWidth = Math.max(0.75, weight * THICK);
    context.beginPath();
    if (from === to) context.ellipse(from, ARCS - 14, 8, 12, 0, 0, 2 * Math.PI);
    else
      context.ellipse(
        (from + to) / 2,
        ARCS,
        Math.abs(from - to) / 2,
        22 + ((ARCS - 34) * Math.abs(from - to)) / span,
        0,
        Math.PI,
        2 * Math.PI,
      );
    context.stroke();
    context.globalAlpha = 1;
  }

  /** Names of the tokens, those that matter most first, where there is room. */
  function drawLabels(context, weights, { trace, query, key }, width) {
    const { colour } = ink();
    const order = trace.tokens.pieces.map((_, t) => t);
    const rank = (t) => (t === query ? 3 : t === key ? 2 : t <= query ? weights[t] : -1);
    if (!places.fits) order.sort((a, b) => rank(b) - rank(a));
    const taken = Array.from({ length: places.fits ? 1 : LINES }, () => []);
    for (const t of order) {
      const how = {
        weight: t === query || t === key ? 700 : 400,
        colour: colour(t === query ? "q" : t === key ? "k" : t > query ? "muted" : "text"),
      };
      context.font = `${how.weight} 14px system-ui, sans-serif`;
      const label = cut(context, visible(trace.tokens.pieces[t]), 140);
      const half = context.measureText(label).width / 2 + 3;
      const x = Math.max(half, Math.min(width - half, places.at[t]));
      const line = taken.findIndex((spans) => spans.every(([from, to]) => x + half < from || x - half > to));
      if (line < 0) continue;
      taken[line].push([x - half, x + half]);
      const y = ARCS + 20 + line * 18;
      write(context, label, x, y, { ...how, align: "center" });
      if (t >= trace.nPrompt) {
        context.fillStyle = colour("output");
        context.fillRect(x - half + 3, y + 5, 2 * half - 6, 2);
      }
    }
  }

  function drawTicks(context, { query, key }) {
    const { colour } = ink();
    places.at.forEach((x, t) => {
      context.fillStyle = colour(t === query ? "q" : t === key ? "k" : t > query ? "masked-line" : "muted");
      context.fillRect(x - (t === query || t === key ? 2 : 0.75), ARCS, t === query || t === key ? 4 : 1.5, 6);
    });
  }

  const changed = watcher();
  return inView(element, function draw(fresh) {
    const { trace, layer, head, query, key, theme, language } = state;
    const held = glass.layer();
    const width = wide();
    walk.draw();
    if (!held || width === 0) return;
    if (!changed(held, layer, head, query, key, theme, language, width) && !fresh) return;
    const { weights } = row(held, trace.model, head, query);
    const context = fit(canvas, width, ARCS + LABELS);
    context.font = "14px system-ui, sans-serif";
    places = placesOf(context, trace.tokens.pieces, width);
    const span = Math.max(1, places.at[query] - places.at[0]);
    weights.forEach(
      (weight, t) => t !== key && drawArc(context, places.at[query], places.at[t], weight, span, "accent"),
    );
    drawArc(context, places.at[query], places.at[key], weights[key], span, "k");
    drawTicks(context, state);
    drawLabels(context, weights, state, width);
    const name = (t) => visible(trace.tokens.pieces[t]);
    panel.title.textContent = text("title", { layer, head, query, piece: name(query) });
    note.textContent = [text("scale", { pixels: THICK }), places.fits ? "" : text("crowded")].join(" ");
    panel.tell(
      `layer ${layer} head ${head} query ${query} key ${key} weight=${exact(weights[key])}`,
      text("read", { query: name(query), key: name(key), weight: share(weights[key]), distance: query - key }),
    );
  });
}
