// The dials of one head with their arithmetic; the channels that are not turned beside them.

import { strongest } from "../../arrays.js";
import { scaledByRoot } from "../../compute.js";
import { checkbox } from "../../controls.js";
import { fraction, h, line, root, sample, shown, signed, strong, sub, tinted } from "../../dom.js";
import { added, bracketed, withSign, writtenOut } from "../../equation.js";
import { across, bindPointer, bindArrowKeys } from "../../pointing.js";
import { computed } from "../../reads.js";
import { oneLine } from "../../one-line.js";
import { pairIn } from "../../readings/dials.js";
import { reachOf } from "../../readings/reach.js";
import { angle, channelsOf, pairsOf, wavelength } from "../../rotation.js";
import { shownIn } from "../../run-for.js";
import { html, nothing } from "../../vendor/lit-html.js";
import { spokenOf, turnText } from "./place.js";
import { drawDials, pairAt } from "./rope-dials.js";
import { createUnturned } from "./unturned.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../types.d.ts").Shown} State
 *
 * @typedef {import("../../readings/dials.js").DialReading} DialReading
 */

/**
 * A pair's frequency, its angles at the two positions, its channels before and after they turn, and its share of
 * q·k, in digits that come out.
 *
 * @param {DialReading} parts
 */
function pairWritten({ q, k, qTurned, kTurned, terms, frequency, rotary, selection: { query, key, pair } }) {
  const both = (/** @type {ArrayLike<number> | null} */ vector) => (vector ? pairIn(vector, pair, rotary) : [NaN, NaN]);
  const [[q0, q1], [k0, k1], [Q0, Q1], [K0, K1]] = [q, k, qTurned, kTurned].map(both);
  /** @type {(a: number, b: number, by: number) => number} */
  const first = (a, b, by) => a * Math.cos(by) - b * Math.sin(by);
  /** @type {(a: number, b: number, by: number) => number} */
  const second = (a, b, by) => a * Math.sin(by) + b * Math.cos(by);
  const [qAngle, kAngle] = [frequency * query, frequency * key];
  return writtenOut(
    { frequency, qAngle, kAngle, q0, q1, k0, k1, Q0, Q1, K0, K1, share: terms[pair] },
    [
      ["qAngle", ["frequency"], (x) => x * query],
      ["kAngle", ["frequency"], (x) => x * key],
      ["share", ["Q0", "K0", "Q1", "K1"], (a, b, c, d) => a * b + c * d],
      ["Q0", ["q0", "q1", "qAngle"], first],
      ["Q1", ["q0", "q1", "qAngle"], second],
      ["K0", ["k0", "k1", "kAngle"], first],
      ["K1", ["k0", "k1", "kAngle"], second],
    ],
    {
      digits: 3,
      of: { share: { digits: 4 } },
      lists: [
        ["qAngle", "kAngle"],
        ["q0", "q1", "k0", "k1"],
        ["Q0", "Q1", "K0", "K1"],
      ],
    },
  );
}

/**
 * The turning of q and of k, the pair's share of q·k, and the sum over all pairs, with their numbers.
 *
 * @param {DialReading} parts
 * @param {import("../../types.d.ts").Model} model
 * @param {Say} text
 * @param {string} colon
 */
function arithmetic(parts, model, text, colon) {
  const { terms, sum, rest, rotary, frequency, unturned } = parts;
  const { query, key, pair } = parts.selection;
  const bold = (/** @type {string} */ words) => h("strong", null, words);
  const { frequency: theta, share, ...of } = pairWritten(parts);
  /** @type {(role: "q" | "k", at: number) => HTMLElement} */
  const turning = (role, at) => {
    const isQuery = role === "q";
    const by = [String(at), " × ", theta, " = ", bold(`${isQuery ? of.qAngle : of.kAngle} ${text("radians")}`)];
    const [x, y, X, Y] = isQuery ? [of.q0, of.q1, of.Q0, of.Q1] : [of.k0, of.k1, of.K0, of.K1];
    const before = parts[role] ? `(${x},\u00a0${y}) → ` : "";
    return line`${tinted(role, role)}${colon}${text("angle")} = ${by}   ${before}${bold(`(${X},\u00a0${Y})`)}`;
  };
  /** @type {(role: string, i: number) => HTMLElement} */
  const name = (role, i) => tinted(role, role, sub(i));
  const [a, b] = channelsOf(rotary, pair);
  const both = [name("q", a), name("k", a), " + ", name("q", b), name("k", b)];
  const long = text("wavelength", { tokens: turnText(wavelength(frequency)) });
  const numbers = `${of.Q0} · ${bracketed(of.K0)} + ${bracketed(of.Q1)} · ${bracketed(of.K1)}`;
  const products = line`${both} = ${numbers} = ${bold(withSign(share))}   ${long}`;
  const [whole, scale] = [sum + rest, model.parts.scale];
  const byRoot = scaledByRoot(model);
  const said = writtenOut(
    { sum, rest: unturned ? rest : 0, whole, factor: scale, score: whole * scale },
    [
      ["whole", ["sum", "rest"], (a, b) => a + b],
      ["score", ["whole", "factor"], (a, by) => (byRoot ? a / Math.sqrt(model.head_dim) : a * by)],
    ],
    { of: { factor: { digits: 6 } } },
  );
  const scaled = byRoot
    ? fraction(said.whole, root(String(model.head_dim)))
    : `${bracketed(said.whole)} · ${said.factor}`;
  const others = unturned ? ` ${added(said.rest)} ${text("unrotated")} = ${said.whole}` : "";
  const summed = text("sum", { pairs: terms.length });
  const qk = [tinted("q", "q"), "·", tinted("k", "k")];
  const score = strong(said.score);
  const pairs = unturned ? said.sum : said.whole;
  const total = line`${summed} = ${pairs}${others} = ${qk};   ${scaled} = ${score} = ${text("score")}`;
  const turned = [turning("q", query), turning("k", key)];
  for (const one of turned) one.dataset.result = "";
  return [...turned, products, total];
}

/**
 * How far apart a hand stands before and after it has turned, in degrees, the short way round.
 *
 * @param {number} turned radians
 */
export function degreesApart(turned) {
  const degrees = ((turned * 180) / Math.PI) % 360;
  return Math.min(degrees, 360 - degrees);
}

/**
 * Of q and of k the pair whose hands before and after stand furthest apart, and by how many degrees: what a class
 * is to find.
 *
 * @param {Pick<DialReading, "rotary" | "selection">} reading
 */
const furthest = ({ rotary, selection: { query, key } }) =>
  [query, key].map((at) => {
    const apart = Array.from(rotary.inv_freq.data, (frequency) => degreesApart(angle(at, frequency)));
    const [pair] = strongest(apart, 1);
    return { pair, by: apart[pair] };
  });

/**
 * @param {DialReading} reading
 * @param {Say} text of the panel
 */
function furthestText(reading, text) {
  const [q, k] = furthest(reading);
  const named = (/** @type {number} */ pair) => channelsOf(reading.rotary, pair).join(", ");
  return text("furthest", { q: named(q.pair), q_by: shown(q.by, 3), k: named(k.pair), k_by: shown(k.by, 3) });
}

/**
 * The pairs whose dials are framed: the chosen one; in a lesson those that the line above the dials names, none
 * while that is covered.
 *
 * @param {DialReading} reading
 * @param {State} state
 */
function framedIn(reading, { presenting, covered }) {
  if (!presenting) return [reading.selection.pair];
  return covered ? [] : furthest(reading).map(({ pair }) => pair);
}

/** An answer above the dials that it points to, which a key has, too. @param {string} words */
const resultLine = (words) => h("div", { "data-result": "", "data-answer": "" }, words);

/**
 * The line under the title: what the chosen pair adds, beside the one that adds most.
 *
 * @param {DialReading} reading
 * @param {Say} text of the panel
 */
function inWords({ rotary, terms, sum, rest, selection: { query, key, pair } }, text) {
  const [first, second] = channelsOf(rotary, pair);
  const [best] = strongest(terms, 1);
  return text(pair === best ? "read_most" : "read", {
    pair: first,
    second,
    query,
    key,
    term: shown(terms[pair], 5),
    sum: shown(sum + rest, 5),
    best: channelsOf(rotary, best).join(", "),
    best_term: shown(terms[best], 5),
  });
}

/**
 * The chapter's first line: what is turned, by what, and what comes of it here.
 *
 * @param {DialReading} reading
 * @param {State} state
 * @param {Say} text of the panel
 */
function leadText({ still, rest, sum, selection }, state, text) {
  const { model } = state.trace;
  return text("lead", {
    ...spokenOf(state),
    apart: Math.abs(selection.query - selection.key),
    turned: 2 * pairsOf(model),
    width: model.head_dim,
    change: signed(sum - still, 3),
    after: shown(sum + rest, 5),
  });
}

/**
 * That distance hardly counts in a score, in words; "" where it does.
 *
 * @param {Glass} glass
 * @param {{ head: number; query: number; key: number }} cell
 */
function flatText(glass, cell) {
  const layer = glass.layer();
  const found = layer && reachOf(layer, shownIn(glass).trace, cell);
  if (!found?.flat) return "";
  return glass.text("rope.flat", { most: shown(found.most, 3), spread: shown(found.spread, 3) });
}

/**
 * What rope.js shows of a network that turns its heads.
 *
 * @param {Glass} glass
 * @param {Say} text
 */
export function createDials(glass, text) {
  const state = shownIn(glass);
  const canvas = h("canvas.gp-canvas", { "data-text-label": "rope.dials" });
  const own = checkbox("rope.own_scale", () => glass.repaint());
  // in a lesson the question is how far each has turned, which a short arrow hides
  const ownScale = computed(() => own.box.checked || state.presenting === true);
  const said = h("span", { "data-text": "rope.own_scale" });
  const lengths = h("span.gp-note", { "data-text": "rope.one_scale" }); // or short ones seem to say nothing
  const strokes = Object.fromEntries(
    ["q_before", "q_after", "k_before", "k_after"].map((name) => [
      name,
      sample(`span.gp-stroke.is-${name}`, `rope.${name}`),
    ]),
  );
  const beside = createUnturned(text);
  let wide = 1;
  bindPointer(canvas, glass, (x, y) => {
    const pair = pairAt(wide, pairsOf(state.trace.model), x, y);
    return pair === null ? null : { pair };
  });
  bindArrowKeys(canvas, glass, across("pair"));
  /** @param {DialReading} reading */
  const sums = (reading) => arithmetic(reading, state.trace.model, text, glass.text("marks.colon"));

  return {
    /**
     * @param {DialReading} reading
     * @param {number} width
     */
    draw(reading, width) {
      wide = width;
      strokes.k_before.hidden = !reading.k;
      said.hidden = !state.presenting;
      own.element.hidden = Boolean(state.presenting);
      lengths.hidden = ownScale();
      drawDials(canvas, width, reading, { own: ownScale(), framed: framedIn(reading, state) });
      beside.draw(reading, width);
    },
    /** @param {DialReading | null} reading null where another is shown */
    view: (reading) => html`
      <div ?hidden=${!reading}>
        <div class="gp-samples" data-of-drawings>${Object.values(strokes)} ${own.element} ${lengths} ${said}</div>
        <div class="position-dials">
          ${reading && state.presenting ? resultLine(furthestText(reading, text)) : nothing}
          <div class="gp-scroll">${canvas}</div>
          <div class="gp-pair" data-answer="">
            <div class="gp-formula">${reading && sums(reading)}</div>
          </div>
        </div>
        ${beside.view(reading)}
      </div>
    `,
    lead: (/** @type {DialReading} */ reading) =>
      oneLine([leadText(reading, state, text), flatText(glass, reading.selection)]),
    words: (/** @type {DialReading} */ reading) => inWords(reading, text),
  };
}
