// The facts beside a GPU's memory: the largest batch and context, and the bound on decoding.

import { h, shown } from "../../dom.js";
import { exactBytes, scaled, whole } from "./format.js";
import { troubleText } from "./trouble.js";

/**
 * @typedef {import("../../decoded.d.ts").Calculation<"kv_fit">} Fit
 *
 * @typedef {import("../../types.d.ts").Glass} Glass
 */

const noteOf = (/** @type {string} */ words) => h("p.gp-note", null, words);
const figure = (/** @type {string} */ words) => h("p.kv-kind-size", null, h("strong", null, words));

/**
 * The largest batch or context that fits, and what one more would take.
 *
 * @param {Glass} glass
 * @param {Fit["batch"] | Fit["context"]} found
 * @param {string} title
 * @param {"sequences" | "tokens"} unit
 */
export function largestFact(glass, found, title, unit) {
  /** @type {import("../../types.d.ts").Say} */
  const text = (name, params) => glass.text(`kv-fit.${name}`, params);
  if ("refused" in found)
    return h("div.kv-fact", null, h("h4", null, title), noteOf(troubleText(glass, found.refused)));
  const value = found.unlimited
    ? text("no_limit")
    : found.value
      ? text(unit, { count: whole(found.value) })
      : text("none_fits");
  const { next, max_context: trained } = found;
  const beyond = unit === "tokens" && trained !== null && found.value > trained;
  const notes = [
    ...(next === null ? [] : [text("next", { bytes: exactBytes(next) })]),
    ...(beyond ? [text("trained", { max_context: whole(trained) })] : []),
  ];
  return h("div.kv-fact", null, h("h4", null, title), figure(value), ...notes.map(noteOf));
}

/** Tokens a second: as a whole number, or to three digits. */
const rate = (/** @type {number} */ value) => (value >= 1000 ? whole(Math.round(value)) : shown(value, 3));

/**
 * How the bound on decoding comes about, in words.
 *
 * @param {import("../../messages.d.ts").BoundMessage} found
 * @param {import("../../types.d.ts").Say} text of the section "kv-fit"
 */
function boundText(found, text) {
  return text(found.micro_batches > 1 ? "bound_stages" : "bound_how", {
    weights: scaled(found.weights, "decimal"),
    cache: scaled(found.cache, "decimal"),
    micro: whole(found.micro_batches),
    ranks: found.ranks,
    bandwidth: `${scaled(found.bandwidth, "decimal")}/s`,
    ms: shown(found.milliseconds, 3),
    steps: rate(found.each),
  });
}

/**
 * How many tokens a second decoding writes at most, of each sequence and of all.
 *
 * @param {Fit["bound"]} found
 * @param {number} batch
 * @param {import("../../types.d.ts").Say} text of the section "kv-fit"
 */
export function boundFact(found, batch, text) {
  const title = h("h4", null, text("bound_title"));
  if ("refused" in found) return h("div.kv-fact", null, title, noteOf(text("bound_none")));
  const spread = {
    weights: scaled(found.spread_weights, "decimal"),
    ms: shown(found.spread_milliseconds, 3),
  };
  return h(
    "div.kv-fact",
    null,
    title,
    figure(text("bound_each", { rate: rate(found.each) })),
    ...(batch > 1 ? [h("p", null, text("bound_all", { rate: rate(found.all), batch: whole(batch) }))] : []),
    noteOf(boundText(found, text)),
    ...(found.spread_milliseconds > found.milliseconds ? [noteOf(text("spread", spread))] : []),
    noteOf(text("bound_drafts")),
  );
}
