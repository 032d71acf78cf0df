// The facts beside a GPU's memory: the largest batch and context, and the bound on decoding.

import { h, shown } from "../../dom.js";
import { exactBytes, scaled, whole } from "./format.js";
import { troubleText } from "./trouble.js";

/**
 * @typedef {import("../../decoded.d.ts").Calculation<"kv_fit">} Fit
 *
 * @typedef {import("../../types.d.ts").Glass} Glass
 */

const noteOf = (words) => h("p.gp-note", null, words);
const figure = (words) => h("p.kv-kind-size", null, h("strong", null, words));

/**
 * The largest batch or context that fits, and what one more would take.
 *
 * @param {Glass} glass
 * @param {Fit["batch"] | Fit["context"]} found
 * @param {string} title
 * @param {"sequences" | "tokens"} unit
 */
export function largestFact(glass, found, title, unit) {
  const text = (name, params) => glass.text(`kv-fit.${name}`, params);
  if ("refused" in found)
    return h("div.kv-fact", null, h("h4", null, title), noteOf(troubleText(glass, found.refused)));
  const value = found.unlimited
    ? text("no_limit")
    : found.value
      ? text(unit, { count: whole(found.value) })
      : text("none_fits");
  const beyond = unit === "tokens" && found.max_context && found.value > found.max_context;
  const notes = [
    found.next && text("next", { bytes: exactBytes(found.next) }),
    beyond && text("trained", { max_context: whole(found.max_context) }),
  ];
  return h("div.kv-fact", null, h("h4", null, title), figure(value), ...notes.filter(Boolean).map(noteOf));
}

/** Tokens a second: as a whole number, or to three digits. */
const rate = (value) => (value >= 1000 ? whole(Math.round(value)) : shown(value, 3));

/**
 * How the bound on decoding comes about, in words.
 *
 * @param {import("../../messages.d.ts").BoundMessage} found
 * @param {Function} text of the section "kv-fit"
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
 * @param {Function} text of the section "kv-fit"
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
