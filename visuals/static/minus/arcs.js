// B − A of one query's attention as arcs over B's text: orange where B gives a token more weight, blue where less.

import { largest, row, subtract } from "../compute.js";
import { h, shown } from "../dom.js";
import { fit, ink, shade } from "../draw.js";
import { ARCS, THICK, drawNames, nearest, placesOf, strokeArc } from "../panels/attend/arc-drawing.js";
import { OVER_CELLS, link, steer } from "../pointing.js";
import { part } from "../reads.js";

const [BELOW, LINES] = [30, 1]; // px for one line of names
const [LESS, MORE] = [0.15, 0.85]; // the two hues, as places on the signed scale

function drawArc(context, from, to, span, change, limit) {
  context.strokeStyle = shade(ink().signed, change < 0 ? LESS : MORE);
  context.lineWidth = Math.max(0.5, (Math.abs(change) / limit) * THICK);
  strokeArc(context, from, to, span);
}

/** Their numbers are saved by the table that stands beside them. @returns {import("./face.js").Part} */
export function arcs(glass, text) {
  const { state } = glass;
  const canvas = h("canvas.gp-canvas", { "data-text-label": "minus.arcs" });
  const note = h("p.gp-note");
  const element = h("div", null, canvas, note);
  let [places, limit] = [null, 0];
  link(canvas, glass, (x, y) => {
    if (!places) return null;
    const t = nearest(places, x);
    return y > ARCS ? { query: t } : { key: Math.min(t, state.query) };
  });
  steer(canvas, glass, OVER_CELLS);

  const draw = part((a, b, width) => {
    const { head, query } = state;
    const { model, tokens } = b.trace;
    const change = subtract(row(b.held, model, head, query).weights, row(a.held, model, head, query).weights);
    limit = largest(change);
    const context = fit(canvas, width, ARCS + BELOW);
    places = placesOf(context, tokens.pieces, width);
    const { at } = places;
    const span = Math.max(1, at[query] - at[0]);
    change.forEach((value, t) => value !== 0 && drawArc(context, at[query], at[t], span, value, limit));
    drawNames(context, places, change, state, width, LINES);
    note.textContent = text("arcs_note", { limit: shown(limit, 4) });
  });
  return { element, draw, same: () => limit === 0 };
}
