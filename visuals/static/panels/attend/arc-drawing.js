// Arcs over a text: where its tokens stand, one arc, and the tokens' names where there is room for them.

import { cut, ink, visible, write } from "../../draw.js";

export const [ARCS, THICK] = [170, 12];
const [PAD, LINE, FONT] = [8, 18, "14px system-ui, sans-serif"];

/** @typedef {{ fits: boolean, at: number[] }} Places  whether all names fit beside each other, and the middle of each */

/** Where each token stands: side by side at their own widths where they fit, else at equal distances. @returns {Places} */
export function placesOf(context, pieces, width) {
  context.font = FONT;
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

/** The token nearest to x. @param {Places} places @returns {number} */
export const nearest = ({ at }, x) => at.reduce((best, place, t) => (Math.abs(place - x) < Math.abs(at[best] - x) ? t : best), 0);

/** An arc in the stroke that is set, the higher the wider; a small ring where a token looks at itself. @param {number} span the widest arc */
export function strokeArc(context, from, to, span) {
  context.beginPath();
  const high = 22 + ((ARCS - 34) * Math.abs(from - to)) / span;
  if (from === to) context.ellipse(from, ARCS - 14, 8, 12, 0, 0, 2 * Math.PI);
  else context.ellipse((from + to) / 2, ARCS, Math.abs(from - to) / 2, high, 0, Math.PI, 2 * Math.PI);
  context.stroke();
}

/**
 * Names of the tokens: the query, the key, and then those of the largest weight, where there is room; a line under those
 * that the model wrote. @param {Places} places @param {ArrayLike<number>} weights of keys 0 … query, by magnitude
 * @param {number} lines of names, where they do not all fit beside each other
 */
export function drawNames(context, places, weights, { trace, query, key }, width, lines) {
  const { colour } = ink();
  const order = trace.tokens.pieces.map((_, t) => t);
  const rank = (t) => (t === query ? Infinity : t === key ? Number.MAX_VALUE : Math.abs(weights[t] ?? -1));
  if (!places.fits) order.sort((a, b) => rank(b) - rank(a));
  const taken = Array.from({ length: places.fits ? 1 : lines }, () => []);
  for (const t of order) {
    const marked = t === query || t === key;
    context.font = `${marked ? 700 : 400} ${FONT}`;
    const name = cut(context, visible(trace.tokens.pieces[t]), 140);
    const half = context.measureText(name).width / 2 + 3;
    const x = Math.max(half, Math.min(width - half, places.at[t]));
    const line = taken.findIndex((spans) => spans.every(([from, to]) => x + half < from || x - half > to));
    if (line < 0) continue;
    taken[line].push([x - half, x + half]);
    const y = ARCS + 20 + line * LINE;
    write(context, name, x, y, {
      weight: marked ? 700 : 400,
      colour: colour(t === query ? "q" : t === key ? "k" : t > query ? "muted" : "text"),
      align: "center",
    });
    if (t >= trace.nPrompt) {
      context.fillStyle = colour("output");
      context.fillRect(x - half + 3, y + 5, 2 * half - 6, 2);
    }
  }
}
