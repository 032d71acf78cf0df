// The facts beside a GPU's memory: the largest batch and context, and the bound on decoding.

import { shown } from "../../dom.js";
import { html, nothing } from "../../vendor/lit-html.js";
import { exactBytes, scaled, whole } from "./format.js";
import { troubleText } from "./trouble.js";

/**
 * @typedef {import("../../readings/kv-fit.js").Fit} Fit
 *
 * @typedef {import("../../types.d.ts").Glass} Glass
 */

/** @param {string} words */
const note = (words) => html`<p class="gp-note" .textContent=${words}></p>`;
/** @param {string} words */
const figure = (words) => html`<p class="kv-kind-size"><strong .textContent=${words}></strong></p>`;
/** @param {string} title @param {unknown} content */
const fact = (title, content) =>
  html`<div class="kv-fact">
    <h4 .textContent=${title}></h4>
    ${content}
  </div>`;

/**
 * The largest batch or context that fits, and what one more would take.
 *
 * @param {Glass} glass
 * @param {Fit["batch"] | Fit["context"]} found
 * @param {string} title
 * @param {"sequences" | "tokens"} unit
 * @param {Pick<Fit["use"], "gpus" | "by" | "share">} use how many GPUs share the work, by what their room is
 *   counted, and the bytes of one that may be taken
 */
export function largestFact(glass, found, title, unit, { gpus, by, share }) {
  /** @type {import("../../types.d.ts").Say} */
  const text = (name, params) => glass.text(`kv-fit.${name}`, params);
  if ("refused" in found) return fact(title, note(troubleText(glass, found.refused)));
  const value = found.unlimited
    ? text("no_limit")
    : found.value
      ? text(unit, { count: whole(found.value) })
      : text("none_fits");
  const { next, next_blocks: blocks, max_context: trained } = found;
  const told = { bytes: exactBytes(next ?? "0"), limit: exactBytes(share) };
  const beyond = unit === "tokens" && trained !== null && found.value > trained;
  return fact(
    title,
    html`${figure(value)} ${next === null ? nothing : note(text(gpus > 1 ? "next" : "next_one", told))}
    ${blocks === null ? nothing : note(text("next_blocks", { blocks: whole(blocks) }))}
    ${next !== null && unit === "sequences" && by !== "share" ? note(text("next_grows")) : nothing}
    ${beyond ? note(text("trained", { max_context: whole(trained) })) : nothing}`,
  );
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
 * @param {{ table: string; assumed: boolean }} unread bytes of weights that no step reads whole, the input
 *   embedding's; whether that is their share in the count, of files that may store them otherwise
 * @param {import("../../types.d.ts").Say} text of the section "kv-fit"
 */
export function boundFact(found, batch, { table, assumed }, text) {
  if ("refused" in found) {
    const { code, params } = found.refused;
    const unknown = code === "unstated";
    return fact(text("bound_title"), note(unknown ? text("bound_unknown", params) : text("bound_none")));
  }
  const all = batch > 1 ? text("bound_all", { rate: rate(found.all), batch: whole(batch) }) : "";
  const left = { table: scaled(table, "decimal") };
  const spread = {
    weights: scaled(found.spread_weights, "decimal"),
    ms: shown(found.spread_milliseconds, 3),
  };
  return fact(
    text("bound_title"),
    html`${figure(text("bound_each", { rate: rate(found.each) }))} ${all ? html`<p .textContent=${all}></p>` : nothing}
    ${note(boundText(found, text))}
    ${table === "0" ? nothing : note(text(assumed ? "bound_table_assumed" : "bound_table", left))}
    ${found.spread_milliseconds > found.milliseconds ? note(text("spread", spread)) : nothing}
    ${note(text("bound_drafts"))}`,
  );
}
