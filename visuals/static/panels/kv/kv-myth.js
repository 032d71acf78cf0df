// The copied sum that gives 128 GB where 8 GiB is right: both products, factor by factor.

import { frame } from "../../frame.js";
import { inView } from "../../pointing.js";
import { readMyth } from "../../readings/kv-myth.js";
import { reactive } from "../../reads.js";
import { html, nothing, render } from "../../vendor/lit-html.js";
import { exactBytes, scaled, whole } from "./format.js";
import { product } from "./product.js";
import { troubleText } from "./trouble.js";

const ASKED = { model: "Llama-2 7B", tokens: 1024, batch: 16, dtype: "fp16", n_kv_heads: 8 };

/**
 * @typedef {import("../../readings/kv-myth.js").Answer} Answer
 *
 * @typedef {import("../../readings/kv-myth.js").MythReading} Reading
 */

/**
 * What the texts say of a model and of what the copied sum makes of it.
 *
 * @param {Answer} answer
 * @param {number} wrong bytes
 */
const paramsOf = ({ card, tokens, batch, dtype }, wrong) => ({
  model: card.name,
  batch,
  tokens: whole(tokens),
  dtype,
  d_model: whole(card.d_model),
  heads: card.n_heads,
  head_dim: card.head_dim,
  copied: exactBytes(wrong),
  binary: scaled(wrong, "binary"),
  decimal: scaled(wrong, "decimal"),
});

/**
 * Both sums side by side, and what lies between them.
 *
 * @param {import("../../types.d.ts").Glass} glass
 * @param {import("../../types.d.ts").Say} text the panel's own
 * @param {Answer} answer
 * @param {Reading} reading
 */
function verdict(glass, text, answer, { copied, ratio, grouped, values: { wrong, right } }) {
  /** @type {import("./format.js").Named} */
  const factor = (code, params) => glass.text(`kv.factor_${code}`, params);
  const params = paramsOf(answer, wrong);
  const side = (/** @type {string} */ name, /** @type {string} */ size, /** @type {unknown} */ products) =>
    html`<div class=${`kv-verdict-card is-${name}`}>
      <h3 class="gp-subtitle" .textContent=${text(name)}></h3>
      <p class="kv-total"><strong .textContent=${size}></strong></p>
      ${products}
      <p .textContent=${text(`${name}_text`, params)}></p>
    </div>`;
  const products = answer.terms.map((term) => product(term.factors, factor, term.bytes));
  const [wrongSize, rightSize] = [scaled(wrong, "binary"), scaled(right, "binary")];
  const gqa = grouped && {
    bytes: exactBytes(grouped.bytes),
    gib: scaled(grouped.bytes, "binary"),
    group: grouped.group,
  };
  return html`<p .textContent=${text("question", params)}></p>
    <div class="gp-columns">
      ${side("wrong", wrongSize, [product(copied, factor, wrong)])} ${side("right", rightSize, products)}
    </div>
    <p .textContent=${text("ratio", { ...params, wrong: wrongSize, right: rightSize, ratio })}></p>
    ${gqa ? html`<p .textContent=${text("gqa", gqa)}></p>` : nothing}
    <p class="gp-note"><strong .textContent=${`${text("check")} `}></strong>${text("check_text")}</p>`;
}

export const about = { namesChanges: false };

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function kvMyth(element, glass) {
  /** @type {{ answer: Answer | null; trouble: import("../../types.d.ts").Refusal | null }} */
  const first = { answer: null, trouble: null };
  const view = reactive(first, glass.repaint);
  const panel = frame(element, glass, "kv-myth", { parts: ["what", "formula"], pointed: false });
  glass
    .calculate("kv", ASKED)
    .then(({ data, message }) => Object.assign(view, { answer: data ?? null, trouble: message ?? null }));

  return inView(element, function draw() {
    const { answer, trouble } = view;
    panel.title.textContent = panel.text("title");
    if (trouble) render(html`<p class="gp-note" .textContent=${troubleText(glass, trouble)}></p>`, panel.body);
    if (!answer) return;
    const reading = readMyth(answer);
    render(verdict(glass, panel.text, answer, reading), panel.body);
    panel.show(reading, "");
  });
}
