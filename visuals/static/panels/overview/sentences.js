// What happens at each row of the diagram, in words with the run's numbers.

import { labelsOf } from "../../characters.js";
import { shareSaid } from "../../counts.js";
import { shown, signed } from "../../dom.js";
import { visible } from "../../draw.js";
import { oneLine } from "../../one-line.js";
import { centres } from "../../parts.js";
import { positionOf } from "./labels.js";
import { sizeOf, tensorOf } from "../../readings/diagram.js";
import { crosses, sideBySide } from "../../readings/diagram-rows.js";

/**
 * @typedef {import("../../readings/diagram.js").Place} Place
 *
 * @typedef {import("../../types.d.ts").Says} Says
 */

/**
 * How large a row's tensor is, in words.
 *
 * @param {Says} says
 * @param {Place} run
 * @param {string} key of the row
 */
export function sizeText({ text, whole }, run, key) {
  if (key === "ids") return text("id", { id: run.trace.tokens.ids[run.token] });
  if (!run.stream) return "…";
  const size = sizeOf(key, run) ?? NaN;
  if (key === "head") return text("largest", { value: shown(size, 5) });
  if (key === "softmax") return text("largest", { value: shareSaid(whole, size) });
  return text("length", { value: shown(size, 5) });
}

/**
 * By row, the numbers that only its sentence has.
 *
 * @param {Place & { stream: import("../../readings/diagram.js").Stream }} run
 * @param {Says["whole"]} whole
 * @returns {Record<string, () => Record<string, unknown>>}
 */
function numbersOf(run, whole) {
  const { trace, layer, token, stream } = run;
  const { model, T, rms, mean } = trace;
  const at = layer * T + token;
  const divided = (/** @type {keyof typeof rms} */ name, /** @type {number} */ i) => ({
    rms: shown(rms[name]?.data[i] ?? NaN, 5),
    mean: centres(model) ? shown(mean[name]?.data[i] ?? NaN, 5) : "",
    norm: norm(`${name}_norm`),
  });
  const norm = (/** @type {string} */ key) => shown(tensorOf(key, run).norm ?? NaN, 5);
  const cosine = (/** @type {"attn_cosine" | "cross_cosine" | "ffn_cosine"} */ name) =>
    signed(stream[name]?.data[at] ?? NaN, 3);
  const best = () => visible(stream.best?.pieces[token] ?? "");
  return {
    ids: () => ({}),
    embed: () => ({ norm: norm("embed") }),
    before: () => ({ norm: norm("before") }),
    attn_norm: () => divided("attn", at),
    attn: () => ({ norm: norm("attn"), cosine: cosine("attn_cosine") }),
    attn_add: () => ({ from: norm("before"), to: norm("attn_add") }),
    cross_norm: () => divided("cross", at),
    cross: () => ({ norm: norm("cross"), cosine: cosine("cross_cosine"), source: trace.encoder?.T }),
    cross_add: () => ({ from: norm("attn_add"), to: norm("cross_add") }),
    ffn_norm: () => divided("ffn", at),
    ffn: () => ({ ...model.parts.ffn[layer], norm: norm("ffn"), cosine: cosine("ffn_cosine") }),
    ffn_add: () => ({
      from: norm(sideBySide(model) ? "before" : crosses(model) ? "cross_add" : "attn_add"),
      to: norm("ffn_add"),
    }),
    after: () => ({ norm: norm("after") }),
    final_norm: () => divided("final", token),
    head: () => ({ best: best(), logit: shown(stream.best?.logit.data[token] ?? NaN, 5) }),
    softmax: () => ({ best: best(), p: shareSaid(whole, stream.best?.probability.data[token] ?? NaN) }),
  };
}

/**
 * Which sentence speaks of a row: of attention and of the feed-forward, as the layer has them.
 *
 * @param {string} key
 * @param {import("../../types.d.ts").Model} model
 * @param {number} layer
 */
function nameOf(key, { parts: { latent, ffn } }, layer) {
  const { activation, gated, experts } = ffn[layer];
  if (key === "attn" && latent) return "attn_latent";
  if (key !== "ffn") return key;
  if (experts) return "experts";
  return gated && activation === "silu" ? "ffn" : "ffn_plain";
}

/**
 * What happens at a row, as a sentence.
 *
 * @param {Says} says
 * @param {Place & { stream: import("../../readings/diagram.js").Stream }} run
 * @param {string} key of the row
 * @param {boolean} positions whether it is said how they enter, where the diagram does not
 * @returns {string}
 */
export function sentence({ text, whole }, run, key, positions) {
  const { trace, layer, token } = run;
  const { model, T } = trace;
  const piece = visible(labelsOf(trace.tokens.pieces)[token]);
  const common = { ...model, layer, token, piece, id: trace.tokens.ids[token], tokens: T, last: model.n_layers - 1 };
  const said = text(`say_${nameOf(key, model, layer)}`, { ...common, ...numbersOf(run, whole)[key]() });
  return key === "attn" && positions ? oneLine([said, positionOf(model, text)]) : said;
}
