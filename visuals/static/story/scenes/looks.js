// One head's attention: words that look back are rows, words that are looked at columns.

import { labelsOf } from "../../characters.js";
import { attention, rotatedPair, scores } from "../../compute.js";
import { dot } from "../../arrays.js";
import { exact, h, percent, svg } from "../../dom.js";
import { ink, shade } from "../../draw.js";
import { WEIGHTS } from "../../marks/scales.js";
import { memo, reactive } from "../../reads.js";
import { kept } from "../kept.js";
import { leftOf, leftWithout, restsOf } from "../../readings/rests.js";
import { sentences } from "../../panels/glance/words.js";
import { looksBack, placeOf } from "../place.js";
import { answerOf, bold, chanceSaid, few, named, lengthOf, onEdge, shareSaid, signed, wordOf } from "../words.js";

const [MOST, CELL] = [16, 26]; // how many words at most, and px of a cell
const UPRIGHT = 18; // px of a cell below which slanted names would run into each other
const SLANT = 60; // degrees
const SHADES = [0, 0.01, 0.1, 0.5, 1]; // weights whose shades are named

/**
 * @typedef {import("../../decode.js").Trace} Trace
 *
 * @typedef {import("../../decode.js").Layer} Layer
 *
 * @typedef {{ tokens: number[]; weights: number[][] }} Grid of the tokens that are shown, the weights row by row
 */

/**
 * The tokens that the map has: all, or of a long text those that the query looks at most, and the key.
 *
 * @param {ArrayLike<number>} weights of the query
 * @param {number} query
 * @param {number} key
 */
function tokensShown(weights, query, key) {
  const order = Array.from(weights, (_, t) => t).sort((a, b) => weights[b] - weights[a]);
  const wanted = new Set([...new Set([query, key, ...order])].slice(0, MOST));
  return [...wanted].sort((a, b) => a - b);
}

/**
 * @param {Trace} trace
 * @param {Layer} layer
 * @param {number} head
 * @param {number} query
 * @param {number} key
 * @returns {Grid}
 */
function gridOf({ model }, layer, head, query, key) {
  const tokens = tokensShown(attention(layer, model, head, query), query, key);
  return {
    tokens,
    weights: tokens.map((row) => tokens.map((key) => attention(layer, model, head, row)[key] ?? NaN)),
  };
}

/**
 * What the names of a map need around it, and how large its cells are then.
 *
 * @param {string[]} words
 * @param {number} width
 */
function roomFor(words, width) {
  const long = Math.max(...words.map(lengthOf));
  const cellBeside = (/** @type {number} */ right) => Math.min(CELL, (width - long - right) / words.length);
  const aside = long * Math.cos((SLANT * Math.PI) / 180); // how far the last name leans over the map's edge
  const [turn, right] = cellBeside(aside) < UPRIGHT ? [90, 8] : [SLANT, aside];
  const above = long * Math.sin((turn * Math.PI) / 180);
  return { left: long, above, right, cell: cellBeside(right), turn };
}

/**
 * What of a map is shown.
 *
 * @typedef {{ grid: Grid; pieces: string[]; query: number; key: number; width: number }} Shown
 * @param {Shown} shown
 * @returns {{ wide: number; high: number; parts: SVGElement[] }} its cells with their names, and how large all is
 */
function mapOf({ grid: { tokens, weights }, pieces, query, key, width }) {
  const words = tokens.map((t) => onEdge(labelsOf(pieces)[t]));
  const { left, above, right, cell, turn } = roomFor(words, width);
  const { magnitude } = ink();
  const square = (/** @type {number} */ row, /** @type {number} */ column) => ({
    x: left + column * cell,
    y: above + row * cell,
    width: cell,
    height: cell,
  });
  const cells = weights.flatMap((row, r) =>
    row.map((weight, c) => {
      if (Number.isNaN(weight)) return svg("rect.st-masked", square(r, c));
      const fill = shade(magnitude, WEIGHTS.place(weight));
      return svg("rect", { ...square(r, c), fill, "data-at": `${tokens[r]} ${tokens[c]}` });
    }),
  );
  const names = tokens.flatMap((t, i) => {
    const [name, middle] = [words[i], i * cell + cell / 2 + 5];
    const [mine, theirs] = [t === query ? ".is-query" : "", t === key ? ".is-key" : ""];
    return [
      svg(`text${mine}`, { x: left - 8, y: above + middle, "text-anchor": "end" }, name),
      svg(`text${theirs}`, { transform: `translate(${left + middle} ${above - 8}) rotate(${-turn})` }, name),
    ];
  });
  const [r, c] = [tokens.indexOf(query), tokens.indexOf(key)];
  const mark = r < 0 || c < 0 ? [] : [svg("rect.st-mark", square(r, c))];
  const size = tokens.length * cell;
  return { wide: left + size + right, high: above + size + 2, parts: [...cells, ...names, ...mark] };
}

/**
 * Why the scenes follow this head: how many look there, what it adds, and what the answer loses without it, and
 * without any look.
 *
 * @param {import("../scene.js").Glass} glass
 * @param {import("../place.js").Place} place
 * @param {string} to the word that is looked at
 */
function reasonOf(glass, { layer, head, key, why }, to) {
  const { text, state, detail } = glass;
  const which = text("story.head", { layer, head });
  const counted = text("story.looks_counted");
  const [next, T] = [state.trace?.next, state.trace?.T ?? 0];
  const rests = restsOf(detail("rests", { token: T - 1 }));
  const back = why && looksBack(glass);
  if (!back || !next || !rests) return sentences(text, text("story.looks_head", { head: which }), counted);
  const { looking, together, head: one } = back;
  const share = (/** @type {number} */ p) => chanceSaid(text, p, state.language);
  const answer = answerOf(text, next.pieces[0], Boolean(state.trace?.model.eos_ids.includes(next.ids[0])));
  const found = text(`story.looks_heads${looking.length ? "" : "_none"}`, {
    count: looking.length,
    to,
    together: signed(together),
    answer,
  });
  const [p, left] = [rests.probability, leftOf(rests, one.missed)].map(share);
  const reason = text(`story.looks_head${why === "_shared" && p === left ? "_same" : why}`, {
    head: which,
    adds: signed(one.adds),
    answer,
    p,
    left,
    none: share(leftWithout(rests, key)),
  });
  return sentences(text, found, reason, counted);
}

/** Which shade stands for which weight, and that what comes later has none. */
function createScale() {
  const shades = h("span.st-shades");
  const later = h("span.st-later", null, h("i"), h("span", { "data-text": "story.looks_ahead" }));
  function draw() {
    const { magnitude } = ink();
    const named = SHADES.map((weight) => {
      const colour = h("i", { style: `background: ${shade(magnitude, WEIGHTS.place(weight))}` });
      return h("span", null, colour, percent(weight));
    });
    shades.replaceChildren(...named);
  }
  return { element: h("p.st-note", null, shades, later), draw };
}

/**
 * @param {import("../scene.js").Glass} glass
 * @returns {import("../scene.js").Scene}
 */
export function createLooks(glass) {
  const { state, text } = glass;
  const drawing = svg("svg.st-map", { role: "img" });
  const read = h("p.st-note", { "aria-live": "off" });
  const sum = h("p.st-formula");
  const which = h("p.st-note");
  const scale = createScale();
  const element = h("div", null, drawing, read, scale.element, sum);
  const view = reactive({ at: /** @type {[number, number] | null} */ (null) }, glass.repaint); // under the pointer
  const point = (/** @type {Event} */ { target }) => {
    const place = /** @type {SVGElement} */ (target).getAttribute?.("data-at");
    const at = place ? /** @type {[number, number]} */ (place.split(" ").map(Number)) : null;
    if (String(at) !== String(view.at)) view.at = at;
  };
  drawing.addEventListener("pointermove", point);
  drawing.addEventListener("click", point); // of a finger, which has left by then
  drawing.addEventListener("pointerleave", () => {
    view.at = null;
  });

  /** @type {(place: Shown, ...more: unknown[]) => void} */
  const paint = memo((/** @type {Shown} */ shown) => {
    const { wide, high, parts } = mapOf(shown);
    drawing.setAttribute("viewBox", `0 0 ${wide} ${high}`);
    drawing.setAttribute("width", String(wide));
    drawing.replaceChildren(...parts);
    scale.draw();
  });
  return {
    name: "looks",
    behind: ["attend", "cell"],
    element,
    notes: which,
    draw(width) {
      const { trace, theme, language } = state;
      const place = placeOf(glass);
      const held = trace && place && glass.layerOf(trace, place.layer);
      if (!trace || !place || !held) return null;
      const { layer, head, query } = place;
      const row = attention(held, trace.model, head, query);
      const best = row.reduce((most, weight, t) => (weight > row[most] ? t : most), 0);
      const key = row[place.key] === undefined ? best : place.key;
      const grid = gridFor(trace, held, head, query, key);
      paint(shownFor(grid, trace.tokens.pieces, query, key, width), theme, language);
      drawing.setAttribute("aria-label", text("story.looks_map", { layer, head }));
      const [from, to] = view.at ?? [query, key];
      const weight = attention(held, trace.model, head, from)[to] ?? 0;
      const share = shareSaid(text, weight);
      const labels = labelsOf(trace.tokens.pieces);
      const [looks, seen] = [from, to].map((t) => named(text, labels, t));
      const said = text("story.looks_read", { from: looks, to: seen, weight: share });
      const some = text("story.looks_some", { shown: grid.tokens.length, all: trace.T });
      read.textContent = grid.tokens.length < trace.T ? `${said} · ${some}` : said;
      const [q, k] = rotatedPair(held, trace.model, { head, query: from, key: to });
      const [product, score] = [dot(q, k), scores(held, trace.model, head, from)[to]];
      const dim = q.length;
      const weighed = { product: few(product), dim, score: few(score), weight: share };
      const isRoot = Math.abs(product / Math.sqrt(dim) - score) < 1e-3; // and nothing is added to it
      sum.textContent = text(`story.looks_sum${isRoot ? "_root" : ""}`, weighed);
      sum.title = [product, score, weight].map((x) => exact(x, 6)).join(" · ");
      which.textContent = reasonOf(glass, place, wordOf(labels[key]));
      return {
        select: { layer, head, query, key },
        words: {
          from: bold(wordOf(labels[query]), "q"),
          to: bold(wordOf(labels[key]), "k"),
        },
        value: `layer ${layer} head ${head} query ${query} key ${key} weight=${exact(row[key])} qk=${exact(product)}`,
      };
    },
  };
}

/**
 * @type {(trace: Trace, held: Layer, head: number, query: number, key: number) => Grid} the same grid for the same
 *   head
 */
const gridFor = kept(gridOf);
/** @type {(grid: Grid, pieces: string[], query: number, key: number, width: number) => Shown} */
const shownFor = kept((grid, pieces, query, key, width) => ({ grid, pieces, query, key, width }));
