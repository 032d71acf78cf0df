// @ts-check
// What the shown run would hold as MHA, GQA, MQA and MLA, at the moment that the live panel shows: side by side, bars
// to one scale, and the product of each. The calculator shows the kinds of its own model so.

import { h } from "../../dom.js";
import { frame } from "../../frame.js";
import { noCache } from "../../parts.js";
import { inView } from "../../pointing.js";
import { shownIn } from "../../run-for.js";
import { scaled, shortProduct, times, whole } from "./format.js";
import { momentOf } from "./live-state.js";
import { troubleText } from "./trouble.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../messages.d.ts").KindRow} Row what a model would hold as a kind, or why that cannot be
 *   said
 *
 * @typedef {Row & Required<Pick<Row, "bytes" | "terms">>} Counted
 */

/**
 * @param {Row} row
 * @returns {row is Counted}
 */
const isCounted = (row) => row.bytes !== undefined && row.terms !== undefined;

/** @param {Glass} glass */
export function kindsView(glass) {
  /** @type {import("../../types.d.ts").Say} */
  const text = (name, params) => glass.text(`kv.${name}`, params);
  /** @type {import("./format.js").Named} */
  const factor = (code, params) => text(`factor_${code}`, params);
  const body = h("div.kv-kinds");
  const notes = h("div");
  const title = h("h3.gp-subtitle", { "data-text": "kv.kinds_title" });
  const element = h("div", null, title, body, notes);

  /** @param {Row} row */
  function shape({ kind, n_kv_heads, head_dim, latent }) {
    if (latent)
      return text("kind_latent", { latent: whole(latent[0]), rope: latent[1], sum: whole(latent[0] + latent[1]) });
    return text(`kind_${kind.toLowerCase()}`, { kv: n_kv_heads, head_dim });
  }

  /**
   * @param {Row} row
   * @param {number} most bytes of all kinds
   * @param {number} own bytes; 0 where there is no kind of its own
   */
  function card(row, most, own) {
    const title = h("h4", null, row.kind, ...(row.own ? [h("span.kv-own", null, text("kind_own"))] : []));
    if (!isCounted(row)) {
      const why = row.refused ? troubleText(glass, row.refused) : "";
      return h("div.kv-kind", null, title, h("p.gp-note", null, why));
    }
    const { bytes } = row;
    const ratio = own && !row.own ? text("kind_ratio", { ratio: times(Number(bytes) / own) }) : "";
    if (row.assumed) title.append(h("span.kv-own", null, text("kind_assumed")));
    const bar = h("span.kv-kind-bar", { style: `width: ${(100 * Number(bytes)) / most}%` });
    return h(
      `div.kv-kind${row.own ? ".is-own" : ""}`,
      null,
      title,
      h("p.kv-kind-size", null, h("strong", null, scaled(bytes, "binary")), h("span.gp-note", null, ` ${ratio}`)),
      h("div.kv-kind-track", null, bar),
      h("p.gp-note", null, shape(row)),
      ...row.terms.map((term) => shortProduct(term.factors, factor, term.bytes)),
    );
  }

  /**
   * @param {Row[]} kinds
   * @param {boolean} plain whether the answer had options that these leave out
   */
  function show(kinds, plain = false) {
    const known = kinds.filter(isCounted);
    const most = Math.max(...known.map(({ bytes }) => Number(bytes)));
    const own = Number(known.find((row) => row.own)?.bytes ?? 0);
    body.replaceChildren(...kinds.map((row) => card(row, most, own)));
    const assumed = kinds.find((row) => row.assumed);
    const grouped = kinds.find((row) => row.kind === "GQA");
    const said = plain ? [text("kinds_plain")] : [];
    if (assumed?.latent) {
      const { latent, head_dim } = assumed;
      said.push(text("mla_assumed", { head_dim, latent: whole(latent[0]), rope: latent[1] }));
    }
    const ownLatent = kinds.find((row) => row.own && row.latent);
    if (ownLatent) said.push(text("mla_widths", { head_dim: ownLatent.head_dim }));
    if (grouped && !grouped.own) said.push(text("gqa_assumed", { kv: grouped.n_kv_heads }));
    notes.replaceChildren(...said.map((line) => h("p.gp-note", null, line)));
  }
  return { element, title, show };
}

export const about = { absent: noCache };

/**
 * A row of one token as one of `tokens` tokens: every term grows with them alone, but for what is kept of a source.
 *
 * @template {Pick<Row, "terms">} Of
 * @param {Of} row
 * @param {number} tokens
 */
export function grown(row, tokens) {
  const terms = (row.terms ?? []).map((term) => {
    const written = !term.label.startsWith("cross.");
    const factor = (/** @type {(typeof term.factors)[number]} */ one) =>
      written && one.code === "tokens" ? { ...one, value: tokens } : one;
    return {
      ...term,
      factors: term.factors.filter(({ code }) => code !== "sequences").map(factor),
      bytes: String(BigInt(term.bytes) * BigInt(written ? tokens : 1)),
    };
  });
  return { ...row, terms, bytes: String(terms.reduce((sum, { bytes }) => sum + BigInt(bytes), 0n)) };
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function kvKinds(element, glass) {
  const state = shownIn(glass);
  /** @type {(Row & { bytes: string })[]} */
  let rows = [];
  let tokens = 0;
  const table = () => [["kind", "tokens", "bytes"], ...rows.map(({ kind, bytes }) => [kind, tokens, bytes])];
  const panel = frame(element, glass, "kv-kinds", { csv: table, parts: ["what", "formula", "myth"], pointed: false });
  const view = kindsView(glass);
  view.title.hidden = true; // the panel's own title says it
  panel.body.append(view.element);

  return inView(element, function draw() {
    const { trace, query } = state;
    const live = trace.generating ? null : glass.detail("kv_live");
    tokens = momentOf(trace, query).held;
    panel.title.textContent = panel.text("title", { tokens: whole(tokens) });
    if (!live) return;
    rows = live.kinds.map((row) => grown(row, tokens));
    view.show(rows);
    const sizes = rows.map(({ kind, bytes }) => `${kind}=${bytes}`).join(" ");
    panel.tell(`tokens=${tokens} ${sizes} own=${rows.find(({ own }) => own)?.kind}`);
  });
}
