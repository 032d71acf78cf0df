// @ts-check
// Where the answer lives: the residual stream of one layer and token taken from a run of another text, and what that
// loses. Of a network with an encoder there are two maps, the decoder's above that of the encoder, which has a place of
// its own.

import { largest } from "../../arrays.js";
import { choices } from "../../controls.js";
import { h } from "../../dom.js";
import { frame } from "../../frame.js";
import { createDepthMap } from "../../marks/depth.js";
import { signedScale } from "../../marks/scales.js";
import { momentOf } from "../../chosen-step.js";
import { isChanged } from "../../off.js";
import { looksAtSource, noChoice } from "../../parts.js";
import { inView, widthOf } from "../../pointing.js";
import { memo, reactive } from "../../reads.js";
import { shownIn } from "../../run-for.js";
import { chooseText, otherText, swapButtons } from "../glance/words.js";
import { homesOf, tableOf } from "./causal-left.js";
import { createWords } from "./causal-words.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../decoded.d.ts").Detail<"causal_map">} CausalMap
 *
 * @typedef {import("../../decoded.d.ts").NumArray} NumArray
 *
 * @typedef {import("../../marks/runs.js").RunWith<{ causal: CausalMap }>} MapRun
 *
 * @typedef {import("./causal-left.js").Place} Place
 *
 * @typedef {import("./causal-words.js").Part} Part
 *
 * @typedef {import("../../marks/scales.js").Scale & { name: string }} NamedScale
 */

/** @type {import("../../frame.js").About} */
export const about = {
  tensors: ["resid_in", "logits"],
  absent: noChoice,
  forms: (model) => (looksAtSource(model) ? ["source"] : []),
};

/**
 * Of 1, what is lost.
 *
 * @param {Say} text
 * @returns {NamedScale}
 */
const scaleOf = (text) => ({
  table: "magnitude",
  place: (x) => Math.max(0, Math.min(1, x)),
  ticks: [
    [0, "0"],
    [0.5, "50%"],
    [1, "100%"],
  ],
  name: text("scale"),
});

/**
 * The ending of texts on what a part writes, in the place of those on the stream.
 *
 * @param {Part} part
 */
const formOf = (part) => (part === "stream" ? "" : `_${part}`);
/**
 * What is asked beside the texts: nothing for the stream.
 *
 * @param {Part} part
 */
const askedOf = (part) => (part === "stream" ? {} : { patched: part });

/**
 * Of what single parts lose: some gain.
 *
 * @param {ArrayLike<number>} values
 * @param {Say} text
 * @returns {NamedScale}
 */
const scaleOfParts = (values, text) => ({
  ...signedScale(largest(values) || 1),
  name: text("scale_part"),
});

/**
 * What is lost at every place.
 *
 * @param {NumArray | null} left
 */
const lostOf = (left) => Float64Array.from(left?.data ?? [], (x) => 1 - x);

/**
 * The place of the encoder's map that is read: it is none of the store's.
 *
 * @param {Glass} glass
 * @param {() => NumArray | null | undefined} left what is left in the encoder; none before it has come
 */
function createSourcePlace(glass, left) {
  /**
   * What is pointed at, and what was chosen.
   *
   * @type {{ under: Place | null; kept: Place | null }}
   */
  const view = reactive({ under: null, kept: null }, glass.repaint);
  /**
   * @param {Place} place
   * @param {NumArray} map
   * @returns {Place}
   */
  const within = ({ row, token }, { shape: [depths, tokens] }) => ({
    row: Math.max(0, Math.min(depths - 1, row)),
    token: Math.max(0, Math.min(tokens - 1, token)),
  });
  /** Where none was chosen, that of the word that was changed. */
  function now() {
    const map = left();
    return map ? within(view.under ?? view.kept ?? { row: 0, token: homesOf(map)[0] }, map) : { row: 0, token: 0 };
  }
  /** @type {(rows: number, tokens: number) => () => {}} */
  const step = (rows, tokens) => () => {
    const [map, { row, token }] = [left(), now()];
    if (map) view.kept = within({ row: row + rows, token: token + tokens }, map);
    return {};
  };
  return {
    now,
    /** How a map leads there. */
    steering: {
      at: now,
      hover: (/** @type {Place | null} */ place) => {
        view.under = place;
      },
      keep: (/** @type {Place} */ place) => {
        view.kept = place;
      },
      moves: { ArrowLeft: step(0, -1), ArrowRight: step(0, 1), ArrowUp: step(1, 0), ArrowDown: step(-1, 0) },
    },
  };
}

/**
 * The texts to compare with, as buttons.
 *
 * @param {Glass} glass
 */
function createOthers(glass) {
  const state = shownIn(glass);
  const element = h("div.gp-choices", { role: "group", "data-text-label": "why.change" });
  const choose = (/** @type {string} */ other) => chooseText(glass, other, momentOf(state).at);
  const offer = memo((/** @type {import("../../decoded.d.ts").Detail<"words"> | null} */ words) =>
    element.replaceChildren(...swapButtons(glass, words ?? { swaps: [], text: "" }, choose)),
  );

  /**
   * The text to compare with: the one chosen on the first screen, else the first that is offered; or why there is
   * none.
   *
   * @param {number} at
   * @returns {{ chosen?: string; none: string | null }}
   */
  function now(at) {
    const words = glass.detail("words", { token: at });
    const fits = words && words.tokens <= words.map_limit;
    const chosen = fits ? otherText(glass, at) || words.swaps[0]?.text : "";
    offer(words, state.language);
    for (const button of /** @type {HTMLCollectionOf<HTMLElement>} */ (element.children))
      button.setAttribute("aria-pressed", String(button.dataset.swap === chosen));
    if (!words || chosen) return { chosen, none: null };
    const why = fits ? "no_swaps" : state.trace.encoder ? "too_long_two" : "too_long";
    return { chosen, none: glass.text(`why.${why}`, { limit: words.map_limit }) };
  }
  return { element, now };
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function causalMap(element, glass) {
  const state = shownIn(glass);
  /** @type {CausalMap | null} */
  let found = null;
  const panel = frame(element, glass, "causal-map", {
    csv: () => (found ? tableOf(found) : []),
    parts: ["what", "formula", "myth"],
  });
  const say = h("p.wy-notice");
  const source = createSourcePlace(glass, () => found?.source_left);
  const others = createOthers(glass);
  const words = createWords(glass, panel.text);
  const part = choices(glass, "causal-map", "part", /** @type {Part[]} */ (["stream", "attention", "ffn"]));
  const now = () => (state.trace.encoder ? "stream" : part.now());
  /** @type {(row: number, trace: import("../../decode.js").Trace) => string} */
  const named = (row, { model: { n_layers: layers } }) =>
    panel.text(row === layers ? "final" : `depth${formOf(now())}`, { layer: row });
  const map = createDepthMap(glass, {
    scale: (values) => (now() === "stream" ? scaleOf(panel.text) : scaleOfParts(values, panel.text)),
    label: "causal-map.map",
    values: (/** @type {MapRun} */ { details: { causal } }) => lostOf(causal.left),
    name: (row, { trace }) => named(row, trace),
    pieces: ({ trace, details: { causal } }) => trace.tokens.pieces.slice(0, causal.left.shape[1]),
    at: ({ layer, query }, { details: { causal } }) => ({
      row: layer,
      token: Math.min(query, causal.left.shape[1] - 1),
    }),
    pick: ({ row, token }) => ({ layer: Math.min(row, state.trace.model.n_layers - 1), query: token }),
  });
  const sourceMap = createDepthMap(glass, {
    scale: () => scaleOf(panel.text),
    label: "causal-map.map_encoder",
    values: (/** @type {MapRun} */ { details: { causal } }) => lostOf(causal.source_left),
    name: (row, { trace }) => named(row, trace.encoder ?? trace),
    pieces: ({ trace }) => (trace.encoder ?? trace).tokens.pieces,
    pick: () => ({}),
    ...source.steering,
  });
  const heads = ["decoder", "encoder"].map((stack) => h("h3.gp-subtitle", { "data-text": `why.stack_${stack}` }));
  panel.body.append(say, others.element, part.element, heads[0], map.element, heads[1], sourceMap.element);
  const wide = widthOf(map.element, glass);

  return inView(element, function draw(fresh) {
    const { trace, layer, query } = state;
    const { at } = momentOf(state);
    panel.title.textContent = panel.text("title");
    const { chosen, none } = isChanged(trace) ? { none: glass.text("why.changed") } : others.now(at);
    found = chosen ? glass.detail("causal_map", { token: at, text: chosen, ...askedOf(now()) }) : null;
    element.toggleAttribute("data-loading", Boolean(chosen) && !found);
    const { source_left: sourceLeft = null } = found ?? {};
    const encoder = sourceLeft && trace.encoder;
    map.element.hidden = !found;
    for (const one of [sourceMap.element, ...heads]) one.hidden = !encoder;
    others.element.hidden = isChanged(trace);
    part.element.hidden = isChanged(trace) || Boolean(trace.encoder);
    part.show();
    const width = wide();
    if (!found) {
      say.textContent = none || panel.text("waiting");
      return panel.tell("nothing", "");
    }
    const { pieces } = trace.tokens;
    const shownRun = [{ trace, details: { causal: found } }];
    const place = { row: layer, token: query };
    if (width) map.draw(shownRun, width, fresh);
    if (!encoder) {
      say.textContent = words.noticeOfOne(found, pieces, now());
      const own = words.readOf(`read${formOf(now())}`, found.left, pieces, place);
      return panel.tell(own.value, own.words);
    }
    say.textContent = words.noticeOfTwo(found, sourceLeft, encoder.tokens.pieces, pieces);
    if (width) sourceMap.draw(shownRun, width, fresh);
    const own = words.readOf("read_decoder", found.left, pieces, place);
    const read = words.readOf("read_encoder", sourceLeft, encoder.tokens.pieces, source.now());
    return panel.tell(`${own.value} source ${read.value}`, `${own.words} · ${read.words}`);
  });
}
