// RoPE: the pairs that count in a score as dials, and what the score would be at any other distance.

import { strongest } from "../../arrays.js";
import { attention, kvHead, vectorOf } from "../../compute.js";
import { slider } from "../../controls.js";
import { exact, h, svg } from "../../dom.js";
import { reachOf } from "../../readings/reach.js";
import { askRests, restsOf } from "../../readings/rests.js";
import { addingUp } from "../../readings/adding-up.js";
import { memo, reactive } from "../../reads.js";
import { channelsOf, pairTerms, rotate, unrotatedTerm } from "../../rotation.js";
import { createFold } from "../fold.js";
import { kept } from "../kept.js";
import { placeOf } from "../place.js";
import { bold, few, named, told } from "../words.js";

const NONE = /** @type {number[]} */ ([]);
const [DIALS, RADIUS, FAR] = [4, 56, 64]; // how many pairs, px, tokens apart at most
const EDGE = RADIUS - 4; // px: of the dial's face, with room for the end of a hand that reaches it
const DECIDES = 1; // of the row's spread: a head whose score other distances move by as much goes by distance
// px of the curve, over it and under it for what its axes are, and left of it for scores
const [HIGH, ABOVE, BELOW, LEFT] = [168, 30, 30, 56];

/**
 * @typedef {import("../../rotation.js").Rotary} Rotary
 *
 * @typedef {import("../../decode.js").Layer} Layer
 *
 * @typedef {import("../../decode.js").Trace} Trace
 *
 * @typedef {{ head: string; from: string; to: string }} Names whose pair it is
 *
 * @typedef {{ q: ArrayLike<number>; k: ArrayLike<number>; rotary: Rotary; scale: number }} Pair of vectors, before
 *   RoPE
 */

/**
 * A score as it is when the key stands so many tokens back: pair by pair, and all of it.
 *
 * @param {Pair} pair
 * @param {number} distance
 */
function scoreAt({ q, k, rotary, scale }, distance) {
  const [turned, still] = [rotate(q, distance, rotary), rotate(k, 0, rotary)];
  const terms = pairTerms(turned, still, rotary);
  const sum = terms.reduce((a, b) => a + b, 0) + unrotatedTerm(turned, still, rotary);
  return { turned, still, terms, sum, score: sum * scale };
}

/**
 * One pair as a dial: q turned on by the distance, k where it was.
 *
 * @param {ReturnType<typeof scoreAt>} at
 * @param {Rotary} rotary
 * @param {number} i the pair
 * @param {string} said what it adds
 */
function dial({ turned, still, terms }, rotary, i, said) {
  const [a, b] = channelsOf(rotary, i);
  const [q, k] = [turned, still].map((vector) => [vector[a], vector[b]]);
  const long = Math.max(Math.hypot(...q), Math.hypot(...k)) || 1;
  const arm = (/** @type {number[]} */ [x, y], /** @type {string} */ role) =>
    svg("line.st-arm", {
      x1: 0,
      y1: 0,
      x2: (x / long) * EDGE,
      y2: (-y / long) * EDGE,
      stroke: `var(--glass-${role})`,
    });
  const face = svg("circle.st-face", { r: EDGE });
  const box = `${-RADIUS} ${-RADIUS} ${2 * RADIUS} ${2 * RADIUS}`;
  return h(
    "figure.st-dial",
    null,
    svg("svg", { viewBox: box, width: 2 * RADIUS, "aria-hidden": "true" }, face, arm(k, "k"), arm(q, "q")),
    h("figcaption", null, `(${a}, ${b}) `, told(`${terms[i] > 0 ? "+" : ""}${said}`, terms[i])),
  );
}

/**
 * The score over the distance, with the one that is chosen and the one that the text has.
 *
 * @param {number} width
 * @param {number[]} scores by distance
 * @param {number} chosen
 * @param {number} own
 * @param {{ score: string; apart: string }} axes what they are
 */
function curveOf(width, scores, chosen, own, axes) {
  const [low, high] = [Math.min(0, ...scores), Math.max(0, ...scores)];
  const x = (/** @type {number} */ d) => LEFT + ((width - LEFT - 8) * d) / (scores.length - 1);
  const y = (/** @type {number} */ s) => ABOVE + (HIGH - ABOVE - BELOW) * (1 - (s - low) / (high - low || 1));
  const points = scores.map((score, d) => `${x(d)},${y(score)}`).join(" ");
  const far = (/** @type {number} */ s) => s === 0 || Math.abs(y(s) - y(0)) > 16; // from the name of 0
  const ticks = [...new Set([low, 0, high])].filter(far);
  return [
    svg("line.st-axis", { x1: LEFT, x2: width, y1: y(0), y2: y(0) }),
    svg("line.st-axis", { x1: LEFT, x2: LEFT, y1: y(high), y2: y(low) }),
    svg("text", { x: 0, y: 13 }, axes.score),
    ...ticks.map((s) => svg("text", { x: LEFT - 6, y: y(s) + 5, "text-anchor": "end" }, few(s))),
    svg("text", { x: width, y: HIGH - 4, "text-anchor": "end" }, axes.apart),
    svg("polyline.st-curve", { points }),
    svg("circle.st-own", { cx: x(own), cy: y(scores[own] ?? 0), r: 6 }),
    svg("circle.st-chosen", { cx: x(chosen), cy: y(scores[chosen]), r: 6 }),
  ];
}

/**
 * The head of a layer whose look depends most on distance: from the query at the earlier token that it looks at
 * most, sinks apart; null where distance decides for none.
 *
 * @param {Layer} held
 * @param {Trace} trace
 * @param {number} query
 * @param {ArrayLike<number>} sinks
 */
function movedMost(held, trace, query, sinks) {
  const parked = new Set(Array.from(sinks));
  const all = Array.from({ length: trace.model.n_heads }, (_, head) => {
    const weights = attention(held, trace.model, head, query);
    const [key] = [...weights.keys()]
      .filter((t) => t < query && !parked.has(t))
      .sort((a, b) => weights[b] - weights[a]);
    const reach = key === undefined ? null : reachOf(held, trace, { head, query, key });
    return { head, key, part: !reach || reach.flat ? 0 : reach.most / (reach.spread || Infinity) };
  });
  const most = all.reduce((best, one) => (one.part > best.part ? one : best));
  return most.part >= DECIDES ? most : null;
}

/**
 * The dials of the pairs that count most, and what all others add to them.
 *
 * @param {import("../../types.d.ts").Say} text
 */
function createDials(text) {
  const [caption, dials, total] = [h("p.st-note"), h("div.st-dials"), h("p.st-note.st-total")];
  return {
    elements: [caption, dials, total],
    /**
     * @param {Pair} pair
     * @param {ReturnType<typeof scoreAt>} at
     * @param {number[]} strong the pairs that have a dial
     * @param {Names} names
     * @returns {number} how many they are
     */
    draw({ q, rotary }, at, strong, names) {
      caption.textContent = `${names.head}: ${names.from} → ${names.to}`;
      const counted = [...strong].sort((a, b) => a - b);
      const { terms, drawn, rest, whole } = addingUp(
        counted.map((i) => at.terms[i]),
        at.sum,
      );
      dials.replaceChildren(...counted.map((i, n) => dial(at, rotary, i, terms[n])));
      const others = at.terms.length - counted.length;
      const inDials = counted.reduce((sum, i) => sum + at.terms[i], 0);
      const isPartly = 2 * at.terms.length < q.length ? "_partly" : "";
      total.hidden = !others && !isPartly;
      total.textContent = text(`story.read_rope_total${isPartly}`, { drawn, others, rest, sum: whole });
      total.title = [inDials, at.sum - inDials, at.sum].map((x) => exact(x, 6)).join(" · ");
      return counted.length;
    },
  };
}

/**
 * @param {import("../scene.js").Glass} glass
 * @returns {import("../scene.js").Scene}
 */
export function createRope(glass) {
  const { state, text } = glass;
  const view = reactive({ distance: /** @type {number | null} */ (null) }, glass.repaint);
  const about = h("p.st-note");
  const dials = createDials(text);
  const curve = svg("svg.st-scores", { role: "img" });
  const away = slider("st-slider", "story.rope_distance", { min: 0, max: FAR, step: 1 }, (value) => {
    view.distance = value;
  });
  const read = h("p.st-note", { "aria-live": "polite" });
  const element = h("div", null, ...dials.elements, away.element, curve, read);
  for (const event of ["run", "select"]) {
    glass.on(event, () => {
      view.distance = null;
    });
  }
  const paint = memo((/** @type {Pair} */ pair, distance, own, width, /** @type {string} */ packed, _language) => {
    const at = scoreAt(pair, distance);
    const [all, dim] = [at.terms.length, pair.q.length];
    const root = Math.abs(pair.scale - 1 / Math.sqrt(dim)) < 1e-9 ? "_root" : "";
    const names = /** @type {Names} */ (JSON.parse(packed)); // as text, so that the same are not drawn again
    const count = dials.draw(pair, at, strongest(scoreAt(pair, own).terms, DIALS), names);
    about.textContent = text(`story.rope_dials${root}`, { ...names, count, all, dim });
    curve.setAttribute("viewBox", `0 0 ${width} ${HIGH}`);
    curve.setAttribute("aria-label", text("story.rope_curve"));
    const scores = Array.from({ length: Math.max(FAR, own) + 1 }, (_, d) => scoreAt(pair, d).score);
    const axes = { score: text("story.rope_score"), apart: text("story.rope_axis", { most: scores.length - 1 }) };
    curve.replaceChildren(...curveOf(width, scores, distance, own, axes));
    const here = distance === own ? "_own" : "";
    read.textContent = text(`story.rope_read${here}`, { distance, score: few(at.score) });
  });
  return {
    name: "rope",
    behind: ["position", "rope"],
    element,
    notes: createFold("story.rope_dials_read", about),
    has: ({ parts: { rotary, latent } }) => Boolean(rotary) && !latent,
    draw(width) {
      const { trace } = state;
      const place = placeOf(glass);
      const held = trace && place && glass.layerOf(trace, place.layer);
      if (!trace || !place || !held?.k) return null;
      const { layer, query } = place;
      const { model, tokens } = trace;
      const reach = reachOf(held, trace, place);
      const sinks = restsOf(askRests(glass, { token: trace.T - 1 }).found)?.sinks ?? NONE;
      const other = reach.flat ? otherFor(held, trace, query, sinks) : null;
      const { head, key } = other ?? place;
      const own = Math.max(0, query - key);
      const distance = view.distance ?? own;
      const pair = pairFor(held, model, head, query, key);
      away.show(distance, String(distance), { max: Math.max(FAR, own) });
      const [from, to] = [query, key].map((t) => named(text, tokens.pieces, t));
      const names = { head: text("story.head", { layer, head }), from, to };
      paint(pair, distance, own, width, JSON.stringify(names), state.language);
      const { score } = scoreAt(pair, own);
      const { most, spread } = other ? reachOf(held, trace, { head, query, key }) : reach;
      return {
        select: { layer, head, query, key },
        words: {
          from: bold(from, "q"),
          to: bold(to, "k"),
          distance: bold(String(own)),
          score: told(few(score), score),
          most: told(few(most), most),
          spread: told(few(spread), spread),
          head: bold(text("story.head", { layer, head: place.head })),
          other: bold(names.head),
          little: told(few(reach.most), reach.most),
        },
        form: other ? "_other" : reach.flat ? "_flat" : "",
        value: [
          `head ${head} key ${key} distance ${distance} score=${exact(scoreAt(pair, distance).score)}`,
          `own ${own} score=${exact(score)}`,
        ].join(" "),
      };
    },
  };
}

/**
 * What turns into the score of a cell.
 *
 * @param {import("../../decode.js").Layer} held
 * @param {import("../../types.d.ts").Model} model
 * @param {number} head
 * @param {number} query
 * @param {number} key
 * @returns {Pair}
 */
function pairOf(held, model, head, query, key) {
  const [rotary, k] = [model.parts.rotary, held.k];
  if (!rotary || !k) throw new Error("nothing is turned here");
  return {
    q: vectorOf(held.q, head, query),
    k: vectorOf(k, kvHead(model, head), key),
    rotary,
    scale: model.parts.scale,
  };
}
const pairFor = kept(pairOf);
const otherFor = kept(movedMost);
