// The calculator: bytes of any model's KV cache, with every multiplication, and the same shape under the four kinds.

import { copyButton } from "../../controls.js";
import { h } from "../../dom.js";
import { frame } from "../../frame.js";
import { inView } from "../../pointing.js";
import { html, render } from "../../vendor/lit-html.js";
import { answerView } from "./answer.js";
import { figureText, formulaLatex, formulaText } from "./copied.js";
import { calledIn, nameOf, origin, sourcesOf, subjectOf, whole } from "./format.js";
import { kindsView } from "./kv-kinds.js";
import { question } from "./question.js";
import { settingsForm } from "./settings-form.js";
import { troubleText } from "./trouble.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("./question.js").Asked} Asked
 *
 * @typedef {import("./question.js").Answer} Answer
 */

/**
 * The products and the kinds of the shown answer.
 *
 * @param {Glass} glass
 * @param {Asked} asked
 * @returns {(string | number)[][]}
 */
function table(glass, { answer }) {
  if (!answer) return [];
  /** @type {import("./format.js").Named} */
  const name = (code, params) => glass.text(`kv.factor_${code}`, params);
  /** @typedef {Answer["terms"][number]} Term */
  const counted = (/** @type {Term["factors"][number]} */ { value, code, how }) =>
    `${value} ${code}${how ? ` (${origin(how, name)})` : ""}`;
  const product = (/** @type {Term} */ { factors }) => factors.map(counted).join(" × ");
  const { tokens, batch, dtype, card } = answer;
  const row = (/** @type {string[]} */ ...values) => [
    calledIn(glass, card),
    tokens,
    batch,
    dtype,
    ...values,
    sourcesOf(glass, card),
  ];
  const rows = answer.terms.map((term) => row(term.label, product(term), term.bytes));
  const kinds = answer.kinds.flatMap(({ kind, terms, bytes }) =>
    bytes && terms ? [row(`as ${kind}`, terms.map(product).join(" + "), bytes)] : [],
  );
  const names = ["model", "tokens", "batch", "dtype", "what", "product", "bytes", "source"];
  return [names, ...rows, row("total", "", answer.bytes), ...kinds];
}

/**
 * Buttons that copy the figure, and the formula as text and as LaTeX.
 *
 * @param {Glass} glass
 * @param {Asked} asked
 */
function copyButtons(glass, asked) {
  const ways = { copy_figure: figureText, copy_formula: formulaText, copy_latex: formulaLatex };
  const buttons = Object.entries(ways).map(([key, write]) =>
    copyButton("kv-button", glass.text, [`kv.${key}`, "kv.copied"], () =>
      asked.answer ? write(glass, asked.answer) : "",
    ),
  );
  return h("div.kv-copies", { role: "group", "data-text-label": "kv.copies", hidden: "" }, ...buttons);
}

/**
 * Which settings the figures are of.
 *
 * @param {Glass} glass
 * @param {Answer} answer
 */
const settingsIn = (glass, { model, tokens, batch, dtype }) => ({
  model: nameOf(glass, model),
  tokens: whole(tokens),
  batch: whole(batch),
  dtype,
});

/** Settings that the comparison of the four kinds leaves out. */
const PLAIN = [
  "tp",
  "pp",
  "dcp",
  "block_size",
  "shared_prefix",
  "shared_layers",
  "reserved_tokens",
  "reserved_batch",
  "window",
  "layout",
  "draft",
  "mtp",
  "indexer",
];

export const about = { namesChanges: false };

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function kvCalculator(element, glass) {
  const asked = question(glass);
  const panel = frame(element, glass, "kv-calculator", {
    csv: () => table(glass, asked),
    subject: () => subjectOf(glass, asked.answer),
    parts: ["what", "formula", "myth"],
    pointed: false,
  });
  const form = settingsForm(glass, asked);
  const answer = answerView(glass);
  const kinds = h("div");
  const trouble = h("p.kv-trouble", { role: "alert" });
  const kept = h("p.gp-note.kv-kept", { role: "status" });
  const copies = copyButtons(glass, asked);
  const result = h("div.kv-result-side", { "data-part": "result" }, trouble, kept, answer.element, copies);
  panel.body.append(h("div.kv-two", null, form.element, result), form.fold, kinds);
  glass.translate(element);

  return inView(element, function draw() {
    panel.title.textContent = asked.answer
      ? panel.text("title_of", settingsIn(glass, asked.answer))
      : panel.text("title");
    form.show();
    const said = asked.trouble ? troubleText(glass, asked.trouble) : "";
    const placed = form.complain(asked.trouble, said);
    trouble.textContent = placed ? "" : said;
    element.toggleAttribute("data-stale", Boolean(asked.trouble));
    kept.textContent = asked.trouble && asked.answer ? panel.text("kept", settingsIn(glass, asked.answer)) : "";
    kinds.hidden = !asked.answer?.kinds.length; // without attention there are no kinds of it
    if (!asked.answer) return;
    answer.show(asked.answer);
    copies.hidden = false;
    const plain = PLAIN.some((name) => asked.settings[name]);
    const heading = html`<h3 class="gp-subtitle" .textContent=${glass.text("kv.kinds_title")}></h3>`;
    render(html`${heading}${kindsView(glass, asked.answer.kinds, plain)}`, kinds);
    const { model, tokens, batch, dtype, bytes } = asked.answer;
    panel.tell(`${model} tokens=${tokens} batch=${batch} dtype=${dtype} bytes=${bytes}`);
  });
}
