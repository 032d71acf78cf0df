// Where the answer lives: the residual stream of one layer and token taken from a run of another text, and what that
// loses. Of a network with an encoder there are two maps, the decoder's above that of the encoder, which has a place of
// its own.

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
import { chooseText, otherText, swapButtons } from "../glance/words.js";
import { homesOf, tableOf } from "./causal-left.js";
import { createWords } from "./causal-words.js";

export const about = {
  tensors: ["resid_in", "logits"],
  absent: noChoice,
  forms: (model) => (looksAtSource(model) ? ["source"] : []),
};

/**
 * Of 1, what is lost.
 *
 * @returns {import("../../marks/scales.js").Scale & { name: string }}
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

/** The ending of texts on what a part writes, in the place of those on the stream. */
const formOf = (part) => (part === "stream" ? "" : `_${part}`);
/** What is asked beside the texts: nothing for the stream. */
const askedOf = (part) => (part === "stream" ? {} : { patched: part });

/** Of what single parts lose: some gain. */
const scaleOfParts = (values, text) => ({
  ...signedScale(Math.max(...Array.from(values, Math.abs)) || 1),
  name: text("scale_part"),
});

/**
 * The place of the encoder's map that is read: it is none of the store's.
 *
 * @param {import("../../types.d.ts").Glass} glass
 * @param {() => { shape: number[]; data: Float32Array }} left what is left in the encoder
 */
function createSourcePlace(glass, left) {
  /**
   * What is pointed at, and what was chosen.
   *
   * @type {{ under: object | null; kept: object | null }}
   */
  const view = reactive({ under: null, kept: null }, glass.repaint);
  const within = ({ row, token }) => {
    const [depths, tokens] = left().shape;
    return { row: Math.max(0, Math.min(depths - 1, row)), token: Math.max(0, Math.min(tokens - 1, token)) };
  };
  /** Where none was chosen, that of the word that was changed. */
  const now = () => within(view.under ?? view.kept ?? { row: 0, token: homesOf(left())[0] });
  const step = (rows, tokens) => () => {
    const { row, token } = now();
    view.kept = within({ row: row + rows, token: token + tokens });
    return {};
  };
  return {
    now,
    /** How a map leads there. */
    steering: {
      at: now,
      hover: (place) => {
        view.under = place;
      },
      keep: (place) => {
        view.kept = place;
      },
      moves: { ArrowLeft: step(0, -1), ArrowRight: step(0, 1), ArrowUp: step(1, 0), ArrowDown: step(-1, 0) },
    },
  };
}

/**
 * The texts to compare with, as buttons.
 *
 * @param {import("../../types.d.ts").Glass} glass
 */
function createOthers(glass) {
  const { state } = glass;
  const element = h("div.gp-choices", { role: "group", "data-text-label": "why.change" });
  const choose = (other) => chooseText(glass, other, momentOf(state).at);
  const offer = memo((words, _language) =>
    element.replaceChildren(...swapButtons(glass, words ?? { swaps: [], text: "" }, choose)),
  );

  /**
   * The text to compare with: the one chosen on the first screen, else the first that is offered; or why there is
   * none.
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
 * @typedef {import("../../marks/runs.js").RunWith<{
 *   causal: import("../../decoded.d.ts").Detail<"causal_map">;
 * }>} MapRun
 */

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function causalMap(element, glass) {
  const { state } = glass;
  let found = null;
  const panel = frame(element, glass, "causal-map", {
    csv: () => (found ? tableOf(found) : []),
    parts: ["what", "formula", "myth"],
  });
  const say = h("p.wy-notice");
  const source = createSourcePlace(glass, () => found.source_left);
  const others = createOthers(glass);
  const words = createWords(glass, panel.text);
  const part = choices(glass, "causal-map", "part", ["stream", "attention", "ffn"]);
  const now = () => (state.trace.encoder ? "stream" : part.now());
  const named = (row, layers) => panel.text(row === layers ? "final" : `depth${formOf(now())}`, { layer: row });
  const map = createDepthMap(glass, {
    scale: (values) => (now() === "stream" ? scaleOf(panel.text) : scaleOfParts(values, panel.text)),
    label: "causal-map.map",
    values: (/** @type {MapRun} */ { details: { causal } }) => Float64Array.from(causal.left.data, (x) => 1 - x),
    name: (row) => named(row, state.trace.model.n_layers),
    pieces: ({ trace, details: { causal } }) => trace.tokens.pieces.slice(0, causal.left.shape[1]),
    at: ({ layer, query }) => ({ row: layer, token: Math.min(query, found.left.shape[1] - 1) }),
    pick: ({ row, token }) => ({ layer: Math.min(row, state.trace.model.n_layers - 1), query: token }),
  });
  const sourceMap = createDepthMap(glass, {
    scale: () => scaleOf(panel.text),
    label: "causal-map.map_encoder",
    values: (/** @type {MapRun} */ { details: { causal } }) => Float64Array.from(causal.source_left.data, (x) => 1 - x),
    name: (row, { trace }) => named(row, trace.encoder.model.n_layers),
    pieces: ({ trace }) => trace.encoder.tokens.pieces,
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
    const { chosen, none } = isChanged(trace) ? {} : others.now(at);
    found = chosen ? glass.detail("causal_map", { token: at, text: chosen, ...askedOf(now()) }) : null;
    element.toggleAttribute("data-loading", Boolean(chosen) && !found);
    const two = Boolean(found?.source_left);
    map.element.hidden = !found;
    for (const one of [sourceMap.element, ...heads]) one.hidden = !two;
    others.element.hidden = isChanged(trace);
    part.element.hidden = isChanged(trace) || Boolean(trace.encoder);
    part.show();
    const width = wide();
    if (!found) {
      say.textContent = isChanged(trace) ? glass.text("why.changed") : none || panel.text("waiting");
      return panel.tell("nothing", "");
    }
    const { pieces } = trace.tokens;
    say.textContent = two ? words.noticeOfTwo(found, trace) : words.noticeOfOne(found, pieces, now());
    const shownRun = [{ trace, details: { causal: found } }];
    if (width) map.draw(shownRun, width, fresh);
    if (width && two) sourceMap.draw(shownRun, width, fresh);
    const own = words.readOf(two ? "read_decoder" : `read${formOf(now())}`, found.left, pieces, {
      row: layer,
      token: query,
    });
    if (!two) return panel.tell(own.value, own.words);
    const read = words.readOf("read_encoder", found.source_left, trace.encoder.tokens.pieces, source.now());
    return panel.tell(`${own.value} source ${read.value}`, `${own.words} · ${read.words}`);
  });
}
