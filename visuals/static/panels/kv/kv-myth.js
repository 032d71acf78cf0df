// The copied sum that gives 128 GB where 8 GiB is right: both products, factor by factor.

import { frame } from "../../frame.js";
import { inView } from "../../pointing.js";
import { bytesOf } from "../../readings/kv.js";
import { reactive } from "../../reads.js";
import { html, nothing, render } from "../../vendor/lit-html.js";
import { copiedFactors } from "./copied-sum.js";
import { exactBytes, scaled, whole } from "./format.js";
import { product } from "./product.js";

const ASKED = { model: "Llama-2 7B", tokens: 1024, batch: 16, dtype: "fp16", n_kv_heads: 8 };

/** @typedef {import("./question.js").Answer} Answer */

/** @param {Answer} answer */
const wrongBytes = (answer) => bytesOf(copiedFactors(answer.card, answer));

/**
 * What the texts say of a model and of what the copied sum makes of it.
 *
 * @param {Answer} answer
 */
function paramsOf(answer) {
  const { card, tokens, batch, dtype } = answer;
  const wrong = wrongBytes(answer);
  return {
    model: card.name,
    batch,
    tokens: tokens.toLocaleString("en-US"),
    dtype,
    d_model: whole(card.d_model),
    heads: card.n_heads,
    head_dim: card.head_dim,
    copied: exactBytes(wrong),
    binary: scaled(wrong, "binary"),
    decimal: scaled(wrong, "decimal"),
  };
}

/**
 * Both sums side by side, and what lies between them.
 *
 * @param {import("../../types.d.ts").Glass} glass
 * @param {import("../../types.d.ts").Say} text the panel's own
 * @param {Answer} answer
 */
function verdict(glass, text, answer) {
  const { card, bytes, terms, kinds } = answer;
  const copied = copiedFactors(card, answer);
  const wrong = bytesOf(copied);
  /** @type {import("./format.js").Named} */
  const factor = (code, params) => glass.text(`kv.factor_${code}`, params);
  const grouped = kinds.find(({ kind }) => kind === "GQA");
  const params = paramsOf(answer);
  const side = (/** @type {string} */ name, /** @type {string} */ size, /** @type {unknown} */ products) =>
    html`<div class=${`kv-verdict-card is-${name}`}>
      <h3 class="gp-subtitle" .textContent=${text(name)}></h3>
      <p class="kv-total"><strong .textContent=${size}></strong></p>
      ${products}
      <p .textContent=${text(`${name}_text`, params)}></p>
    </div>`;
  const products = terms.map((term) => product(term.factors, factor, term.bytes));
  const [wrongSize, rightSize] = [scaled(wrong, "binary"), scaled(bytes, "binary")];
  const ratio = { ...params, wrong: wrongSize, right: rightSize, ratio: wrong / Number(bytes) };
  const gqa = grouped?.bytes && {
    bytes: exactBytes(grouped.bytes),
    gib: scaled(grouped.bytes, "binary"),
    group: card.n_heads / grouped.n_kv_heads,
  };
  return html`<p .textContent=${text("question", params)}></p>
    <div class="gp-columns">
      ${side("wrong", wrongSize, [product(copied, factor, wrong)])} ${side("right", rightSize, products)}
    </div>
    <p .textContent=${text("ratio", ratio)}></p>
    ${gqa ? html`<p .textContent=${text("gqa", gqa)}></p>` : nothing}
    <p class="gp-note"><strong .textContent=${`${text("check")} `}></strong>${text("check_text")}</p>`;
}

/**
 * Both sums as a reading: bytes, of which every digit tells.
 *
 * @param {Answer} answer
 * @returns {import("../../readings/reading.js").Reading<typeof ASKED>}
 */
function readingOf(answer) {
  const [wrong, right] = [wrongBytes(answer), Number(answer.bytes)];
  return {
    selection: ASKED,
    at: "",
    values: { wrong, right },
    whole: ["wrong", "right"],
    rows: { sums: () => ({ keys: { sum: ["copied", "right"] }, columns: { bytes: [wrong, right] } }) },
  };
}

export const about = { namesChanges: false };

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function kvMyth(element, glass) {
  /** @type {{ answer: Answer | null }} */
  const view = reactive({ answer: null }, glass.repaint);
  const panel = frame(element, glass, "kv-myth", { parts: ["what", "formula"], pointed: false });
  glass.calculate("kv", ASKED).then(({ data }) => {
    view.answer = data ?? null;
  });

  return inView(element, function draw() {
    panel.title.textContent = panel.text("title");
    if (!view.answer) return;
    render(verdict(glass, panel.text, view.answer), panel.body);
    panel.show(readingOf(view.answer), "");
  });
}
