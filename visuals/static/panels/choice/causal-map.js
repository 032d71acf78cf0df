// Where the answer lives: the residual stream of one layer and token taken from a run of another text, and what that
// loses. Of a network with an encoder there are two maps, the decoder's above that of the encoder, which has a place of
// its own.

import { labelsOf } from "../../characters.js";
import { largest } from "../../arrays.js";
import { choices } from "../../controls.js";
import { h } from "../../dom.js";
import { frame } from "../../frame.js";
import { glossOf } from "../../gloss.js";
import { createDepthMap } from "../../marks/depth.js";
import { signedScale } from "../../marks/scales.js";
import { momentOf } from "../../chosen-step.js";
import { isChanged } from "../../off.js";
import { looksAtSource, noChoice } from "../../parts.js";
import { inView, widthOf } from "../../pointing.js";
import { memo, reactive } from "../../reads.js";
import { causalMapReader } from "../../readings/causal-map.js";
import { savedRows } from "../../readings/reading.js";
import { readHere, shownIn } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";
import { chooseText, otherText, swapButtons } from "../glance/words.js";
import { createWords } from "./causal-words.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../readings/causal-map.js").CausalMap} CausalMap
 *
 * @typedef {import("../../readings/causal-map.js").CausalReading} CausalReading
 *
 * @typedef {import("../../decoded.d.ts").NumArray} NumArray
 *
 * @typedef {import("../../marks/runs.js").RunWith<{ causal: CausalMap }>} MapRun
 *
 * @typedef {import("../../readings/causal-map.js").Place} Place
 *
 * @typedef {import("../../readings/causal-map.js").Part} Part
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
 * @param {() => Place} now where it is read; where no place was chosen, that of the word that was changed
 */
function createSourcePlace(glass, now) {
  /**
   * What is pointed at, and what was chosen.
   *
   * @type {{ under: Place | null; kept: Place | null }}
   */
  const view = reactive({ under: null, kept: null }, glass.repaint);
  /** @type {(rows: number, tokens: number) => () => {}} */
  const step = (rows, tokens) => () => {
    const { row, token } = now();
    view.kept = { row: Math.max(0, row + rows), token: Math.max(0, token + tokens) };
    return {};
  };
  return {
    chosen: () => view.under ?? view.kept,
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
  const choose = (/** @type {{ text: string }} */ other) => chooseText(glass, other.text, momentOf(state).at);
  /** @typedef {import("../../decoded.d.ts").Detail<"words">} Words */
  const offer = memo(
    (/** @type {Words | null} */ words, /** @type {import("../../gloss.js").Gloss} */ gloss, _language) =>
      element.replaceChildren(...swapButtons(glass, words ?? { swaps: [], text: "" }, choose, gloss)),
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
    offer(words, glossOf(glass), state.language);
    for (const button of /** @type {HTMLCollectionOf<HTMLElement>} */ (element.children))
      button.setAttribute("aria-pressed", String(button.dataset.swap === chosen));
    if (!words || chosen) return { chosen, none: null };
    const why = fits ? "no_swaps" : state.trace.encoder ? "too_long_two" : "too_long";
    return { chosen, none: glass.text(`why.${why}`, { limit: words.map_limit }) };
  }
  return { element, now };
}

/**
 * The maps: what is lost in the network, or its decoder, and below it in its encoder.
 *
 * @param {Glass} glass
 * @param {Say} text the panel's own
 * @param {() => Part} part
 * @param {ReturnType<typeof createSourcePlace>["steering"]} steering
 */
function createMaps(glass, text, part, steering) {
  /** @type {(row: number, trace: import("../../decode.js").Trace) => string} */
  const named = (row, { model: { n_layers: layers } }) =>
    text(row === layers ? "final" : `depth${formOf(part())}`, { layer: row });
  const own = createDepthMap(glass, {
    scale: (values) => (part() === "stream" ? scaleOf(text) : scaleOfParts(values, text)),
    label: "causal-map.map",
    values: (/** @type {MapRun} */ { details: { causal } }) => lostOf(causal.left),
    name: (row, { trace }) => named(row, trace),
    pieces: ({ trace, details: { causal } }) => labelsOf(trace.tokens.pieces).slice(0, causal.left.shape[1]),
    at: ({ layer, query }, { details: { causal } }) => ({
      row: layer,
      token: Math.min(query, causal.left.shape[1] - 1),
    }),
    pick: ({ row, token }, _state, { trace }) => ({ layer: Math.min(row, trace.model.n_layers - 1), query: token }),
  });
  const source = createDepthMap(glass, {
    scale: () => scaleOf(text),
    label: "causal-map.map_encoder",
    values: (/** @type {MapRun} */ { details: { causal } }) => lostOf(causal.source_left),
    name: (row, { trace }) => named(row, trace.encoder ?? trace),
    pieces: ({ trace }) => labelsOf((trace.encoder ?? trace).tokens.pieces),
    pick: () => ({}),
    ...steering,
  });
  return { own, source };
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function causalMap(element, glass) {
  const state = shownIn(glass);
  /** @type {CausalReading | null} */
  let reading = null;
  const panel = frame(element, glass, "causal-map", {
    csv: () => (reading ? savedRows(reading) : []), // none of a run whose maps have not come
    parts: ["what", "formula", "myth"],
  });
  const source = createSourcePlace(glass, () => ({
    row: reading?.source?.depth ?? 0,
    token: reading?.source?.token ?? 0,
  }));
  const others = createOthers(glass);
  const words = createWords(glass, panel.text);
  const part = choices(glass, "causal-map", "part", /** @type {Part[]} */ (["stream", "attention", "ffn"]));
  const now = () => (state.trace.encoder ? "stream" : part.now());
  const maps = createMaps(glass, panel.text, now, source.steering);

  /** @param {{ notice: string; changed: boolean; two: boolean; drawn: boolean }} shown */
  function view({ notice, changed, two, drawn }) {
    /** @param {"decoder" | "encoder"} stack */
    const heading = (stack) => html`
      <h3 class="gp-subtitle" ?hidden=${!two} .textContent=${glass.text(`why.stack_${stack}`)}></h3>
    `;
    return html`
      <p class="wy-notice" .textContent=${notice}></p>
      <div class="gp-options" ?hidden=${changed}>${others.element}</div>
      <div class="gp-options" ?hidden=${changed || Boolean(state.trace?.encoder)}>${part.element}</div>
      ${heading("decoder")}
      <div ?hidden=${!drawn}>${maps.own.element}</div>
      ${heading("encoder")}
      <div ?hidden=${!two}>${maps.source.element}</div>
    `;
  }
  render(view({ notice: "", changed: false, two: false, drawn: false }), panel.body);
  const wide = widthOf(panel.body, glass);

  /** @param {CausalReading} read */
  function tell(read) {
    const { trace } = state;
    const pieces = labelsOf(trace.tokens.pieces);
    if (!read.source || !trace.encoder) return panel.show(read, words.readOf(`read${formOf(now())}`, read.own, pieces));
    const own = words.readOf("read_decoder", read.own, pieces);
    return panel.show(
      read,
      `${own} · ${words.readOf("read_encoder", read.source, labelsOf(trace.encoder.tokens.pieces))}`,
    );
  }

  /** @param {CausalReading} read */
  function noticeOf({ found }) {
    const { encoder, tokens } = state.trace;
    const pieces = labelsOf(tokens.pieces);
    return found.source_left && encoder
      ? words.noticeOfTwo(found, found.source_left, labelsOf(encoder.tokens.pieces), pieces)
      : words.noticeOfOne(found, pieces, now());
  }

  return inView(element, function draw(fresh) {
    const { trace, layer, query } = state;
    const { at } = momentOf(state);
    const changed = isChanged(trace);
    const { chosen, none } = changed ? { none: glass.text("why.changed") } : others.now(at);
    const asked = { token: at, text: chosen ?? "", part: now(), layer, query, source: source.chosen() };
    const read = (reading = chosen ? readHere(glass, causalMapReader, asked) : null);
    const [width, two] = [wide(), Boolean(read?.source && trace.encoder)];
    const runs = read && width ? [{ trace, details: { causal: read.found } }] : [];
    if (runs.length) maps.own.draw(runs, width, fresh);
    if (runs.length && two) maps.source.draw(runs, width, fresh);
    return () => {
      part.show();
      panel.title.textContent = panel.text("title");
      element.toggleAttribute("data-loading", Boolean(chosen) && !read);
      const notice = read ? noticeOf(read) : none || panel.text("waiting");
      render(view({ notice, changed, two, drawn: Boolean(read) }), panel.body);
      if (read) tell(read);
      else panel.tell("nothing", "");
    };
  });
}
