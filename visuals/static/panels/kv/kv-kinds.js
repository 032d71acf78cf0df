// What the shown run would hold as MHA, GQA, MQA and MLA, at the moment that the live panel shows: side by side, bars
// to one scale, and the product of each. The calculator shows the kinds of its own model so.

import { frame } from "../../frame.js";
import { oneLine } from "../../one-line.js";
import { noCache } from "../../parts.js";
import { inView } from "../../pointing.js";
import { isCounted, kindsReader, momentOf } from "../../readings/kv.js";
import { readHere, shownIn } from "../../run-for.js";
import { html, nothing, render } from "../../vendor/lit-html.js";
import { scaled, toThree, whole } from "./format.js";
import { shortProduct } from "./product.js";
import { troubleText } from "./trouble.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../readings/kv.js").Row} Row
 */

/**
 * The shape of a kind, in words.
 *
 * @param {Row} row
 * @param {Say} text of the section "kv"
 */
function shapeText({ kind, n_kv_heads, head_dim, latent }, text) {
  if (latent)
    return text("kind_latent", { latent: whole(latent[0]), rope: latent[1], sum: whole(latent[0] + latent[1]) });
  return text(`kind_${kind.toLowerCase()}`, { kv: n_kv_heads, head_dim });
}

/**
 * One kind: its bytes as a number, as a bar, and as a product; or why there are none.
 *
 * @param {Row} row
 * @param {number} most bytes of all kinds
 * @param {number} own bytes; 0 where there is no kind of its own
 * @param {Glass} glass
 * @param {Say} text of the section "kv"
 * @param {boolean} measured whether the model's own kind was
 */
function card(row, most, own, glass, text, measured) {
  const remark = (/** @type {string} */ name) =>
    html`<span class="kv-own" data-answer="beside" .textContent=${text(name)}></span>`;
  const ownKind = measured ? "kind_measured" : "kind_own";
  const heading = html`<h4>
    ${row.kind}${row.own ? remark(ownKind) : nothing}${row.assumed ? remark("kind_assumed") : nothing}
  </h4>`;
  if (!isCounted(row)) {
    const why = row.refused ? troubleText(glass, row.refused) : "";
    return html`<div class="kv-kind">
      ${heading}
      <p class="gp-note" .textContent=${why}></p>
    </div>`;
  }
  const bytes = Number(row.bytes);
  const ratio = own && !row.own ? text("kind_ratio", { ratio: toThree(bytes / own) }) : "";
  /** @type {import("./format.js").Named} */
  const factor = (code, params) => text(`factor_${code}`, params);
  const size = scaled(row.bytes, "binary");
  const result = `${row.kind} ${size}${row.own ? ` ✓ ${text("kind_own")}` : ""}`;
  return html`<div class=${row.own ? "kv-kind is-own" : "kv-kind"} data-result=${result}>
    ${heading}
    <p class="kv-kind-size" data-answer>
      <strong .textContent=${size}></strong>
      <span class="gp-note" .textContent=${ratio}></span>
    </p>
    <div class="kv-kind-track" data-answer="beside">
      <span class="kv-kind-bar" style=${`width: ${(100 * bytes) / most}%`}></span>
    </div>
    <p class="gp-note" .textContent=${shapeText(row, text)}></p>
    ${row.terms.map((term) => shortProduct(term.factors, factor, term.bytes))}
  </div>`;
}

/**
 * How wide MHA's keys are counted beside those of an MLA model, and what its own would take.
 *
 * @param {Row} own
 * @param {Row[]} kinds
 * @param {Say} text of the section "kv"
 */
function widthsText({ head_dim: values, key_width: keys, latent }, kinds, text) {
  const mha = kinds.find((row) => row.kind === "MHA");
  const widths = { head_dim: values, keys, rope: latent?.[1] ?? 0, both: 2 * values, own: keys + values };
  const said = text("mla_widths", widths);
  const plain = mha && isCounted(mha) && mha.terms.every(({ factors }) => factors.some(({ code }) => code === "bytes"));
  if (!plain) return said; // blocks with scales are no product of a width
  const bytes = Math.round((Number(mha.bytes) * (keys + values)) / (2 * values));
  const sizes = { mha: scaled(mha.bytes, "binary"), size: scaled(String(bytes), "binary") };
  return oneLine([said, text("mla_own_widths", { ...widths, ...sizes })]);
}

/**
 * What is remarked on kinds that are not the model's own.
 *
 * @param {Row[]} kinds
 * @param {boolean} plain whether the answer had options that these leave out
 * @param {Say} text of the section "kv"
 */
function remarksOn(kinds, plain, text) {
  const assumed = kinds.find((row) => row.assumed);
  const grouped = kinds.find((row) => row.kind === "GQA");
  const ownLatent = kinds.find((row) => row.own && row.latent);
  const said = plain ? [text("kinds_plain")] : [];
  if (assumed?.latent) {
    const { latent, head_dim } = assumed;
    said.push(text("mla_assumed", { head_dim, latent: whole(latent[0]), rope: latent[1] }));
  }
  if (ownLatent) said.push(widthsText(ownLatent, kinds, text));
  if (grouped && !grouped.own) said.push(text("gqa_assumed", { kv: grouped.n_kv_heads }));
  return said;
}

/**
 * The kinds side by side.
 *
 * @param {Glass} glass
 * @param {Row[]} kinds
 * @param {{ plain?: boolean; measured?: boolean }} how `plain`: the answer had options that these leave out;
 *   `measured`: the model's own kind was
 */
export function kindsView(glass, kinds, { plain = false, measured = false }) {
  /** @type {Say} */
  const text = (name, params) => glass.text(`kv.${name}`, params);
  const known = kinds.filter(isCounted);
  const most = Math.max(...known.map(({ bytes }) => Number(bytes)));
  const own = Number(known.find((row) => row.own)?.bytes ?? 0);
  return html`<div class="kv-kinds">${kinds.map((row) => card(row, most, own, glass, text, measured))}</div>
    <div class="kv-remarks" data-answer="beside">
      ${remarksOn(kinds, plain, text).map((said) => html`<p class="gp-note" .textContent=${said}></p>`)}
    </div>`;
}

/** @type {import("../../frame.js").About} */
export const about = { absent: noCache };

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function kvKinds(element, glass) {
  const state = shownIn(glass);
  const panel = frame(element, glass, "kv-kinds", { parts: ["what", "formula", "myth"], pointed: false });

  return inView(element, function draw() {
    const { trace, query } = state;
    panel.title.textContent = panel.text("title", { tokens: whole(momentOf(trace, query).held) });
    const reading = trace.generating ? null : readHere(glass, kindsReader, { query });
    if (!reading) return;
    // from which a class finds which kind is the model's
    const { n_heads: heads, n_kv_heads: kv, parts } = trace.model;
    const own = state.presenting && !parts.latent ? panel.text("heads", { heads, kv }) : "";
    render(
      html`<p class="kv-heads" ?hidden=${!own} .textContent=${own}></p>
        ${kindsView(glass, reading.kinds, { measured: true })}
        <p class="gp-note" .textContent=${panel.text("latent")}></p>`,
      panel.body,
    );
    panel.show(reading, "");
  });
}
