// The dials of one head with their arithmetic; the channels that are not turned beside them.

import { strongest } from "../../arrays.js";
import { kvHead, rotatedPair, scaledByRoot, vectorOf } from "../../compute.js";
import { checkbox } from "../../controls.js";
import { exact, fraction, h, inBrackets, line, root, sample, shown, signed, strong, sub, tinted } from "../../dom.js";
import { across, bindPointer, bindArrowKeys } from "../../pointing.js";
import { computed } from "../../reads.js";
import { angle, channelsOf, pairsOf, pairTerms, unrotatedTerm, wavelength } from "../../rotation.js";
import { spokenOf } from "./place.js";
import { rotaryOf } from "../../readings/position-kinds.js";
import { beforeRope, turnsPart } from "../../readings/rope-place.js";
import { shownIn } from "../../run-for.js";
import { drawDials, pairAt, pairIn } from "./rope-dials.js";
import { createUnturned } from "./unturned.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../types.d.ts").Shown} State
 *
 * @typedef {import("../../decode.js").Layer} Layer
 *
 * @typedef {ReturnType<typeof partsOf>} Parts
 */

/**
 * Everything the dials show. `sum`: what the pairs add to q·k; `rest`: what the channels add that are not turned;
 * `kv`: the K/V head; `kBefore`: k before RoPE, also where the run has it after RoPE alone and `k` is null
 *
 * @param {Layer} layer
 * @param {Pick<State, "trace" | "head" | "query" | "key">} place of a network that turns its heads
 */
export function partsOf(layer, { trace, head, query, key }) {
  const { model } = trace;
  const rotary = rotaryOf(model);
  const kv = kvHead(model, head);
  const [qTurned, kTurned] = rotatedPair(layer, model, { head, query, key });
  const terms = pairTerms(qTurned, kTurned, rotary);
  const before = {
    q: vectorOf(layer.q, head, query),
    k: layer.k && vectorOf(layer.k, kv, key),
    kBefore: beforeRope(layer, model, "k", kv, key),
  };
  return {
    ...before,
    qTurned,
    kTurned,
    terms,
    sum: terms.reduce((a, b) => a + b, 0),
    rest: unrotatedTerm(qTurned, kTurned, rotary),
    rotary,
    kv,
  };
}

/**
 * The vectors that are shown, by name.
 *
 * @type {(parts: Parts) => Record<string, ArrayLike<number>>}
 */
const vectorsOf = ({ q, qTurned, k, kTurned }) => ({ q, q_rot: qTurned, ...(k ? { k } : {}), k_rot: kTurned });

/**
 * The turning of q and of k, the pair's share of q·k, and the sum over all pairs, with their numbers.
 *
 * @param {Parts} parts
 * @param {State} state
 * @param {Say} text
 */
function arithmetic(parts, { trace: { model }, query, key, pair }, text) {
  const { terms, sum, rest, rotary } = parts;
  const frequency = rotary.inv_freq.data[pair];
  const two = (/** @type {ArrayLike<number>} */ vector) =>
    `(${pairIn(vector, pair, rotary)
      .map((value) => shown(value, 4))
      .join(",\u00a0")})`;
  const bold = (/** @type {string} */ words) => h("strong", null, words);
  /** @type {(role: "q" | "k", at: number) => HTMLElement} */
  const turning = (role, at) => {
    const by = [String(at), " × ", shown(frequency, 5), " = ", bold(`${shown(angle(at, frequency), 5)} rad`)];
    const given = parts[role];
    const before = given ? `${two(given)} → ` : "";
    const after = bold(two(parts[role === "q" ? "qTurned" : "kTurned"]));
    return line`${tinted(role, role)}: ${text("angle")} = ${by}   ${before}${after}`;
  };
  /** @type {(role: string, i: number) => HTMLElement} */
  const name = (role, i) => tinted(role, role, sub(i));
  const [a, b] = channelsOf(rotary, pair);
  const both = [name("q", a), name("k", a), " + ", name("q", b), name("k", b)];
  const long = text("wavelength", { tokens: shown(wavelength(frequency), 4) });
  const products = line`${both} = ${bold(signed(terms[pair], 5))}   ${long}`;
  const [whole, scale] = [sum + rest, model.parts.scale];
  const scaled = scaledByRoot(model)
    ? fraction(shown(whole, 5), root(String(model.head_dim)))
    : `${inBrackets(whole)} · ${shown(scale, 6)}`;
  const others = turnsPart(model)
    ? ` ${rest < 0 ? "−" : "+"} ${shown(Math.abs(rest), 5)} (${text("unrotated")}) = ${shown(whole, 5)}`
    : "";
  const [summed, qk] = [text("sum", { pairs: terms.length }), [tinted("q", "q"), "·", tinted("k", "k")]];
  const score = strong(whole * scale);
  const total = line`${summed} = ${shown(sum, 5)}${others} = ${qk},   ${scaled} = ${score} = ${text("score")}`;
  return [turning("q", query), products, turning("k", key), total];
}

/**
 * For data-value.
 *
 * @param {Parts} parts
 * @param {State} state
 */
function plain(parts, { trace: { model }, query, key, pair }) {
  const frequency = parts.rotary.inv_freq.data[pair];
  const two = (/** @type {ArrayLike<number>} */ vector) =>
    `(${pairIn(vector, pair, parts.rotary)
      .map((value) => exact(value))
      .join(", ")})`;
  const vectors = Object.entries(vectorsOf(parts))
    .map(([name, vector]) => `${name}=${two(vector)}`)
    .join(" ");
  const angles = `angle_q=${exact(angle(query, frequency))} angle_k=${exact(angle(key, frequency))}`;
  const others = turnsPart(model) ? ` unrotated=${exact(parts.rest)} qk=${exact(parts.sum + parts.rest)}` : "";
  return `pair ${pair} ${vectors} ${angles} term=${exact(parts.terms[pair])} sum=${exact(parts.sum)}${others}`;
}

/**
 * The line under the title: what the chosen pair adds, beside the one that adds most.
 *
 * @param {Parts} all
 * @param {State} state
 * @param {Say} text of the panel
 */
function inWords(all, { query, key, pair }, text) {
  const [first, second] = channelsOf(all.rotary, pair);
  const [best] = strongest(all.terms, 1);
  return text(pair === best ? "read_most" : "read", {
    pair: first,
    second,
    query,
    key,
    term: shown(all.terms[pair], 5),
    sum: shown(all.sum + all.rest, 5),
    best: channelsOf(all.rotary, best).join(", "),
    best_term: shown(all.terms[best], 5),
  });
}

/**
 * The chapter's first line: what is turned, by what, and what comes of it here.
 *
 * @param {Parts} all
 * @param {State} state
 * @param {Say} text of the panel
 */
function leadText(all, state, text) {
  const { model } = state.trace;
  const still =
    pairTerms(all.q, all.kBefore, all.rotary).reduce((a, b) => a + b, 0) * all.rotary.attention_scaling ** 2;
  return text("lead", {
    ...spokenOf(state),
    apart: Math.abs(state.query - state.key),
    turned: 2 * pairsOf(model),
    width: model.head_dim,
    before: shown(still + all.rest, 4),
    change: signed(all.sum - still, 3),
  });
}

/**
 * Every pair of the selected head, query and key.
 *
 * @param {Parts} parts
 * @returns {(string | number)[][]}
 */
function tableOf(parts) {
  const { terms, rotary } = parts;
  const vectors = vectorsOf(parts);
  const names = Object.keys(vectors).flatMap((name) => [`${name}_first`, `${name}_second`]);
  const rows = Array.from(terms, (term, i) => [
    i,
    ...channelsOf(rotary, i),
    rotary.inv_freq.data[i],
    ...Object.values(vectors).flatMap((vector) => pairIn(vector, i, rotary)),
    term,
  ]);
  return [["pair", "first", "second", "inv_freq", ...names, "term"], ...rows];
}

/**
 * @param {Glass} glass
 * @param {Say} text
 */
export function createDials(glass, text) {
  const state = shownIn(glass);
  const canvas = h("canvas.gp-canvas", { "data-text-label": "rope.dials" });
  const own = checkbox("rope.own_scale", () => glass.repaint());
  const ownScale = computed(() => own.box.checked);
  const strokes = Object.fromEntries(
    ["q_before", "q_after", "k_before", "k_after"].map((name) => [
      name,
      sample(`span.gp-stroke.is-${name}`, `rope.${name}`),
    ]),
  );
  const formula = h("div.gp-formula");
  const beside = createUnturned(glass, text);
  const element = h(
    "div",
    null,
    h("div.gp-samples", null, ...Object.values(strokes), own.element),
    h("div.gp-scroll", null, canvas),
    h("div.gp-pair", null, formula),
    beside.element,
  );
  let wide = 1;
  bindPointer(canvas, glass, (x, y) => {
    const pair = pairAt(wide, pairsOf(state.trace.model), x, y);
    return pair === null ? null : { pair };
  });
  bindArrowKeys(canvas, glass, across("pair"));

  /**
   * @param {Layer} held
   * @param {number} width
   */
  function draw(held, width) {
    wide = width;
    const all = partsOf(held, state);
    strokes.k_before.hidden = !all.k;
    drawDials(canvas, width, all, state.pair, { own: ownScale() });
    beside.draw(all, width);
    return all;
  }
  /**
   * What data-value holds, and the line under the title.
   *
   * @param {Parts} all
   * @returns {[string, string]}
   */
  function tell(all) {
    formula.replaceChildren(...arithmetic(all, state, text));
    return [plain(all, state), inWords(all, state, text)];
  }
  return {
    element,
    draw,
    lead: (/** @type {Parts} */ all) => leadText(all, state, text),
    tell,
    table: (/** @type {Layer} */ held) => tableOf(partsOf(held, state)),
  };
}
