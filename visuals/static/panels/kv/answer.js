// A calculator's answer: the total, what it means per token and per GPU, and every product that it is the sum of.

import { oneLine } from "../../one-line.js";
import { remarkIn } from "../../remark.js";
import { termTexts } from "../../readings/kv-answer.js";
import { html, nothing } from "../../vendor/lit-html.js";
import { both, exactBytes, scaled, together, whole } from "./format.js";
import { titled } from "./product.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../readings/kv-answer.js").CacheReading} Reading
 *
 * @typedef {Reading["answer"]} Answer
 */

/** @param {string} words */
const note = (words) => html`<p class="gp-note" data-answer="beside" .textContent=${words}></p>`;

/**
 * What is remarked on an answer, such as a context beyond the model's own, copies on ranks, what was assumed: each
 * note in the reader's language; a code that the page does not know is said in English. Names stand as a list.
 *
 * @param {Glass} glass
 * @param {import("../../messages.d.ts").NoteMessage[]} notes
 */
export function notesView(glass, notes) {
  return notes.map(({ code, text: english, params }) => {
    const one = (/** @type {unknown} */ value) =>
      typeof value === "number"
        ? (Number.isInteger(value) ? value : Number(value.toPrecision(6))).toLocaleString("en-US")
        : Array.isArray(value)
          ? value.join(glass.text("kv.list_comma"))
          : value;
    const shown = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, one(value)]));
    const said = glass.text(`kv.note_${code}`, shown);
    return note(said === `kv.note_${code}` || glass.state.language === "en" ? english : said);
  });
}

/**
 * What is remarked on the model.
 *
 * @param {Glass} glass
 * @param {Answer["card"]} card
 */
function sourceView(glass, { source, not_verified: unsure, notes, parameters, published }) {
  /** @type {Say} */
  const text = (name, params) => glass.text(`kv.${name}`, params);
  /** @typedef {import("../../messages.d.ts").Remark} Remark */
  const said = (/** @type {Remark} */ one) => remarkIn(one, glass.state.language);
  const list = (/** @type {Remark[]} */ remarks) =>
    html`<ul>
      ${remarks.map((one) => html`<li .textContent=${said(one)}></li>`)}
    </ul>`;
  const stated = published
    ? text(published.exact ? "published" : "published_rounded", { total: whole(published.total) })
    : "";
  const count = parameters === null ? text("parameters_unstated") : text("parameters", { count: whole(parameters) });
  const counted = oneLine([count, stated]);
  return html`<details class="kv-source">
    <summary .textContent=${text("source")}></summary>
    ${list(source)}
    <p class="gp-note kv-parameters" .textContent=${counted}></p>
    ${unsure.length ? note(text("not_verified", { fields: unsure.map(said).join(text("list_comma")) })) : nothing}
    ${
      notes.length
        ? html`<h4 .textContent=${text("notes")}></h4>
            ${list(notes)}`
        : nothing
    }
  </details>`;
}

/**
 * What a token adds, as one sum of products under the names of their factors.
 *
 * @param {string} said until when
 * @param {Reading["rates"][number]} rate
 * @param {import("./format.js").Named} factor
 */
function rateView(said, { terms, bytes }, factor) {
  const names = terms.map(({ factors }) => factors.map(({ code, params }) => factor(code, params)).join(" × "));
  const sum = terms.map(({ factors }) => factors.map(({ value }) => whole(value)).join(" × ")).join(" + ");
  const more = BigInt(bytes) >= 1024n ? ` =\u00a0${scaled(bytes, "binary").replace(" ", "\u00a0")}` : "";
  return html`<div class="kv-rate" data-answer="beside">
    <p>
      <span .textContent=${said}></span> <strong .textContent=${exactBytes(bytes)}></strong
      ><span .textContent=${more}></span>
    </p>
    ${note(`${sum} = ${exactBytes(bytes)}`)} ${note([...new Set(names)].join(" + "))}
  </div>`;
}

/**
 * Layers of each stage in their order, equal ones that follow each other together, such as "31 + 30" or "3 × 12 +
 * 13 + 12"; uneven ones with whose split it is.
 *
 * @param {number[]} layers
 * @param {Say} text of the section "kv"
 */
function stagesText(layers, text) {
  /** @type {{ stages: number; count: number }[]} */
  const runs = [];
  for (const count of layers) {
    const last = runs.at(-1);
    if (last?.count === count) last.stages += 1;
    else runs.push({ stages: 1, count });
  }
  const said = runs.map(({ stages, count }) => (stages > 1 ? `${stages} × ${count}` : `${count}`)).join(" + ");
  return text(runs.length > 1 ? "stages_uneven" : "stages", { pp: layers.length, layers: said });
}

/**
 * Bytes a token: one figure, or more where a window drops older tokens once it is full.
 *
 * @param {Reading} reading
 * @param {import("./format.js").Named} factor
 * @param {Say} text of the section "kv"
 */
function ratesView({ rates, answer: { growth, gpus, copies } }, factor, text) {
  if (!growth) {
    const [{ bytes }] = rates;
    const also = Number(bytes) < 1024 ? "" : ` = ${scaled(bytes, "binary")}`;
    const sum = copies > 1 ? `${copies} × ${exactBytes(BigInt(bytes) / BigInt(copies))} = ` : "";
    return note(text("per_token", { bytes: `${sum}${exactBytes(bytes)}`, scaled: also }) + together(gpus, text));
  }
  const said = (/** @type {number | null} */ until, /** @type {number} */ i) =>
    until === null
      ? text(`after_${growth.kind}`)
      : text(i ? "between" : `until_${growth.kind}`, { tokens: whole(until) });
  return rates.map((rate, i) =>
    rate.terms.length ? rateView(said(rate.until, i), rate, factor) : note(text(`after_${growth.kind}_all`)),
  );
}

/**
 * The products, and where there are several, their sum.
 *
 * @param {Glass} glass
 * @param {Answer} answer
 * @param {import("./format.js").Named} factor
 */
function termsView(glass, { terms, bytes }, factor) {
  /** @param {string} label */
  function nameOfTerm(label) {
    const { place, part, draft } = termTexts(label, terms);
    const own = `${glass.text(place)} · ${glass.text(part)}`;
    return draft ? glass.text("kv.draft", { part: own }) : own;
  }
  const sum = `${terms.map((term) => exactBytes(term.bytes)).join(" + ")} = `;
  return html`<div class="kv-terms">
      ${terms.map((term) => titled(nameOfTerm(term.label), term.factors, factor, term.bytes))}
    </div>
    ${
      terms.length > 1
        ? html`<p class="kv-sum" data-answer="beside">
            <span .textContent=${sum}></span><strong .textContent=${exactBytes(bytes)}></strong>
          </p>`
        : nothing
    }`;
}

/**
 * What a worksheet's key says: the bytes, and those of twice the text where each token takes as many.
 *
 * @param {Answer} answer
 * @param {Say} text of the section "kv"
 */
const resultOf = ({ bytes, growth }, text) =>
  growth
    ? both(bytes)
    : text("result_twice", { bytes: exactBytes(bytes), twice: exactBytes(String(2n * BigInt(bytes))) });

/**
 * The bytes at large; of a cache that several GPUs keep whole, how many copies of how many bytes they are.
 *
 * @param {Answer} answer
 * @param {Say} text of the section "kv"
 */
function totalView({ bytes, copies, ...answer }, text) {
  const [binary, decimal] = [scaled(bytes, "binary"), scaled(bytes, "decimal")];
  const [large, small] =
    copies > 1
      ? [`${copies} × ${scaled(BigInt(bytes) / BigInt(copies), "binary")}`, ` = ${binary} = ${decimal}`]
      : [binary, ` = ${decimal}`];
  return html`<p class="kv-total" data-result=${resultOf({ ...answer, bytes, copies }, text)} data-answer>
    <strong .textContent=${large}></strong><span .textContent=${small}></span>
  </p>`;
}

/**
 * @param {Glass} glass
 * @param {Reading} reading
 */
export function answerView(glass, reading) {
  /** @type {Say} */
  const text = (name, params) => glass.text(`kv.${name}`, params);
  /** @type {import("./format.js").Named} */
  const factor = (code, params) => text(`factor_${code}`, params);
  const { bytes, per_gpu, gpus, pp, stage_layers: stages, notes, card } = reading.answer;
  const one = { gpus, bytes: exactBytes(per_gpu), both: both(per_gpu) };
  return html`<div class="kv-answer">
    ${totalView(reading.answer, text)}
    ${gpus > 1 ? note(text("of_gpus", { gpus, one: scaled(per_gpu, "binary") })) : nothing}
    <p class="kv-exact" data-answer="beside" .textContent=${exactBytes(bytes)}></p>
    ${ratesView(reading, factor, text)} ${gpus > 1 ? note(text(pp > 1 ? "per_gpu_most" : "per_gpu", one)) : nothing}
    ${pp > 1 ? note(stagesText(stages, text)) : nothing} ${termsView(glass, reading.answer, factor)}
    ${notesView(glass, notes)} ${sourceView(glass, card)}
  </div>`;
}
