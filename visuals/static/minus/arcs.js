// B − A of one query's attention as arcs over B's text: orange where B gives a token more weight, blue where less.

import { row } from "../compute.js";
import { h, shown, watcher } from "../dom.js";
import { cut, fit, ink, shade, visible, write } from "../draw.js";
import { ARCS, THICK, placesOf } from "../panels/attend/arcs.js";
import { OVER_CELLS, link, steer } from "../pointing.js";
import { largest, subtract } from "../sides.js";

const [BELOW, LESS, MORE] = [30, 0.15, 0.85]; // the two hues, as places on the signed scale

function drawArc(context, from, to, span, change, limit) {
  const share = Math.abs(change) / limit;
  context.strokeStyle = shade(ink().signed, change < 0 ? LESS : MORE);
  context.lineWidth = Math.max(0.5, share * THICK);
  context.beginPath();
  const high = 22 + ((ARCS - 34) * Math.abs(from - to)) / span;
  if (from === to) context.ellipse(from, ARCS - 14, 8, 12, 0, 0, 2 * Math.PI);
  else context.ellipse((from + to) / 2, ARCS, Math.abs(from - to) / 2, high, 0, Math.PI, 2 * Math.PI);
  context.stroke();
}

/** Names of the tokens, the query, the key and what changes most first, where there is room. */
function drawLabels(context, at, change, { trace, query, key }, width) {
  const { colour } = ink();
  const rank = (t) => (t === query ? Infinity : t === key ? Number.MAX_VALUE : Math.abs(change[t] ?? -1));
  const taken = [];
  for (const t of trace.tokens.pieces.map((_, i) => i).sort((a, b) => rank(b) - rank(a))) {
    const how = { weight: t === query || t === key ? 700 : 400, align: "center", colour: colour(t === query ? "q" : t === key ? "k" : t > query ? "muted" : "text") };
    context.font = `${how.weight} 14px system-ui, sans-serif`;
    const label = cut(context, visible(trace.tokens.pieces[t]), 140);
    const half = context.measureText(label).width / 2 + 3;
    const x = Math.max(half, Math.min(width - half, at[t]));
    if (taken.some(([from, to]) => x + half > from && x - half < to)) continue;
    taken.push([x - half, x + half]);
    write(context, label, x, ARCS + 20, how);
  }
}

/** @returns {import("./face.js").Part} */
export function arcs(glass, text) {
  const { state } = glass;
  const canvas = h("canvas.gp-canvas", { "data-text-label": "minus.arcs" });
  const note = h("p.gp-note");
  const element = h("div", null, canvas, note);
  const anew = watcher();
  let [at, limit] = [[], 0];
  link(canvas, glass, (x, y) => {
    if (!at.length) return null;
    const t = at.reduce((best, place, i) => (Math.abs(place - x) < Math.abs(at[best] - x) ? i : best), 0);
    return y > ARCS ? { query: t } : { key: Math.min(t, state.query) };
  });
  steer(canvas, glass, OVER_CELLS);

  function draw(a, b, width, fresh) {
    const { head, query, key, theme, language } = state;
    if (!anew(a.held, b.held, head, query, key, width, theme, language) && !fresh) return;
    const { model, tokens } = b.trace;
    const change = subtract(row(b.held, model, head, query).weights, row(a.held, model, head, query).weights);
    limit = largest(change);
    const context = fit(canvas, width, ARCS + BELOW);
    context.font = "14px system-ui, sans-serif";
    ({ at } = placesOf(context, tokens.pieces, width));
    const span = Math.max(1, at[query] - at[0]);
    change.forEach((value, t) => value !== 0 && drawArc(context, at[query], at[t], span, value, limit));
    drawLabels(context, at, change, state, width);
    note.textContent = text("arcs_note", { limit: shown(limit, 4) });
  }
  return { element, draw, same: () => limit === 0 };
}
