// One query's attention as arcs over the text, the heavier the thicker. Of two runs the change: orange where B gives a
// token more weight, blue where less.

import { labelsOf } from "../characters.js";
import { largest, subtract } from "../arrays.js";
import { row } from "../compute.js";
import { h } from "../dom.js";
import { cut, fit, ink, shade, visible, write } from "../draw.js";
import { headOff } from "../off.js";
import { OVER_CELLS, bindPointer, bindArrowKeys } from "../pointing.js";
import { memo } from "../reads.js";
import { createMemory, newest } from "./runs.js";

export const THICK = 12; // px of an arc of weight 1; of two runs, of the largest change
const [ARCS, LABELS, LINES] = [170, 56, 2]; // px over the names and for them, on so many lines
const FAINTEST = 0.45; // of full opacity, an arc of weight 0: it is still seen on either theme
const [PAD, LINE, FONT] = [8, 18, "14px system-ui, sans-serif"];

/**
 * @typedef {{ fits: boolean; at: number[] }} Places whether all names fit beside each other, and the middle of each
 *
 * @typedef {import("./runs.js").Run & { held: import("../decode.js").Layer }} Run whose selected layer is here
 *
 * @typedef {{ trace: import("../decode.js").Trace; query: number; key: number }} Cell
 */

/**
 * Where each token stands: side by side at their own widths where they fit, else at equal distances.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {string[]} pieces
 * @param {number} width of the canvas
 * @returns {Places}
 */
function placesOf(context, pieces, width) {
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

/**
 * The token nearest to x.
 *
 * @param {Places} places
 * @param {number} x
 * @returns {number}
 */
const nearest = ({ at }, x) =>
  at.reduce((best, place, t) => (Math.abs(place - x) < Math.abs(at[best] - x) ? t : best), 0);

/**
 * An arc in the stroke that is set, the higher the wider; a small ring where a token looks at itself.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {number} from
 * @param {number} to
 * @param {number} span the widest arc
 */
function strokeArc(context, from, to, span) {
  context.beginPath();
  const high = 22 + ((ARCS - 34) * Math.abs(from - to)) / span;
  if (from === to) context.ellipse(from, ARCS - 14, 8, 12, 0, 0, 2 * Math.PI);
  else context.ellipse((from + to) / 2, ARCS, Math.abs(from - to) / 2, high, 0, Math.PI, 2 * Math.PI);
  context.stroke();
}

/**
 * Names of the tokens: the query, the key, and then those of the largest weight, where there is room; a line under
 * those that the model wrote.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Places} places
 * @param {ArrayLike<number>} weights of the keys that are seen, by magnitude
 * @param {Cell} cell
 * @param {number} width of the canvas
 */
function drawNames(context, places, weights, { trace, query, key }, width) {
  const { colour } = ink();
  const order = trace.tokens.pieces.map((_, t) => t);
  /** @type {(t: number) => number} */
  const rank = (t) => (t === query ? Infinity : t === key ? Number.MAX_VALUE : Math.abs(weights[t] ?? -1));
  if (!places.fits) order.sort((a, b) => rank(b) - rank(a));
  /** @type {[number, number][][]} */
  const taken = Array.from({ length: places.fits ? 1 : LINES }, () => []);
  for (const t of order) {
    const marked = t === query || t === key;
    context.font = `${marked ? 700 : 400} ${FONT}`;
    const name = cut(context, visible(labelsOf(trace.tokens.pieces)[t]), 140);
    const half = context.measureText(name).width / 2 + 3;
    const x = Math.max(half, Math.min(width - half, places.at[t]));
    const line = taken.findIndex((spans) => spans.every(([from, to]) => x + half < from || x - half > to));
    if (line < 0) continue;
    taken[line].push([x - half, x + half]);
    const y = ARCS + 20 + line * LINE;
    write(context, name, x, y, {
      weight: marked ? 700 : 400,
      colour: colour(t === query ? "q" : t === key ? "k" : t >= weights.length ? "muted" : "text"),
      align: "center",
    });
    if (t >= trace.nPrompt) {
      context.fillStyle = colour("output");
      context.fillRect(x - half + 3, y + 5, 2 * half - 6, 2);
    }
  }
}

/**
 * An arc as wide as a weight; a dashed grey one where nothing uses the head.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {number} from
 * @param {number} to
 * @param {number} weight 0 … 1
 * @param {number} span the widest arc
 * @param {string} name of its hue
 * @param {boolean} off
 */
function drawArc(context, from, to, weight, span, name, off) {
  context.strokeStyle = ink().colour(off ? "muted" : name);
  context.setLineDash(off ? [3, 5] : []);
  const faintest = name === "k" ? 0.5 : FAINTEST;
  context.globalAlpha = faintest + (1 - faintest) * Math.sqrt(weight);
  context.lineWidth = Math.max(1, weight * THICK);
  strokeArc(context, from, to, span);
  context.setLineDash([]);
  context.globalAlpha = 1;
}

const [LESS, MORE] = [0.15, 0.85]; // the two hues, as places on the signed scale
/**
 * An arc as wide as a weight's change, in the hue of its sign.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {number} from
 * @param {number} to
 * @param {number} change
 * @param {number} limit the largest change
 * @param {number} span the widest arc
 */
function drawChange(context, from, to, change, limit, span) {
  context.strokeStyle = shade(ink().signed, change < 0 ? LESS : MORE);
  context.lineWidth = Math.max(0.5, (Math.abs(change) / limit) * THICK);
  strokeArc(context, from, to, span);
}

/**
 * A tick under each token.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Places} places
 * @param {number} seen how many keys the query sees
 * @param {Omit<Cell, "trace">} cell
 */
function drawTicks(context, { at }, seen, { query, key }) {
  at.forEach((x, t) => {
    const marked = t === query || t === key;
    context.fillStyle = ink().colour(t === query ? "q" : t === key ? "k" : t >= seen ? "masked-line" : "muted");
    context.fillRect(x - (marked ? 2 : 0.75), ARCS, marked ? 4 : 1.5, 6);
  });
}

/**
 * @param {import("../types.d.ts").Glass} glass
 * @param {string} label the key of its name
 */
export function createArcs(glass, label) {
  const { state } = glass;
  const canvas = h("canvas.gp-canvas", { "data-text-label": label });
  /** @type {(runs: Run[]) => Run[]} */
  const remembered = createMemory();
  /** @type {Places | null} null until it is drawn */
  let places = null;
  let limit = 0;
  // Over the text a token is a key, in the text itself the query.
  bindPointer(canvas, glass, (/** @type {number} */ x, /** @type {number} */ y) => {
    if (!places) return null;
    const t = nearest(places, x);
    return y > ARCS ? { query: t } : { key: t };
  });
  bindArrowKeys(canvas, glass, OVER_CELLS);

  const paint = memo((/** @type {number} */ width, /** @type {Run[]} */ runs) => {
    const { layer, head, query, key } = state;
    const { trace } = newest(runs);
    const [first, second] = runs.map(({ held }) => row(held, trace.model, head, query).weights);
    const weights = second ? subtract(second, first) : first;
    limit = largest(weights);
    const context = fit(canvas, width, ARCS + LABELS);
    const own = placesOf(context, labelsOf(trace.tokens.pieces), width);
    places = own;
    const { at } = own;
    const span = Math.max(1, at[query] - at[0], at[weights.length - 1] - at[query]);
    const off = headOff(trace, layer, head);
    weights.forEach((weight, t) => {
      if (second) return weight !== 0 && drawChange(context, at[query], at[t], weight, limit, span);
      return t !== key && drawArc(context, at[query], at[t], weight, span, "accent", off);
    });
    if (!second) drawArc(context, at[query], at[key], weights[key], span, "k", off);
    drawTicks(context, own, weights.length, { query, key });
    drawNames(context, own, weights, { trace, query, key }, width);
  });
  /**
   * @param {Run[]} runs one, or A and B
   * @param {number} width
   * @returns {{ fits: boolean; limit: number }} whether all names stand beside each other; the largest weight or
   *   change
   */
  function draw(runs, width) {
    paint(width, remembered(runs));
    return { fits: Boolean(places?.fits), limit };
  }
  return { element: canvas, draw, same: () => limit === 0 };
}
