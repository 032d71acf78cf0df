// The calculator: bytes of any model's KV cache, with every multiplication, and the same shape under the four kinds.

import { copyButton } from "../../controls.js";
import { h } from "../../dom.js";
import { frame } from "../../frame.js";
import { inView } from "../../pointing.js";
import { readCache } from "../../readings/kv-answer.js";
import { html, nothing, render } from "../../vendor/lit-html.js";
import { leadTo } from "../glance/words.js";
import { answerView } from "./answer.js";
import { figureText, formulaLatex, formulaText } from "./copied.js";
import { nameOf, subjectOf, whole } from "./format.js";
import { keptText } from "./kept.js";
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
 *
 * @typedef {import("../../readings/kv-answer.js").CacheReading} CacheReading
 */

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
      asked.answer ? write(glass, asked.answer, asked.answered) : "",
    ),
  );
  return h("div.kv-copies", { role: "group", "data-text-label": "kv.copies", hidden: "" }, ...buttons);
}

/**
 * Buttons to what is asked next of a cache: these panels lie in the chapter's fold.
 *
 * @param {Glass} glass
 */
function onwardButtons(glass) {
  const kinds = ["kv-fit", "kv-log"];
  const buttons = kinds.map((kind) =>
    h("button.kv-button", {
      type: "button",
      "data-text": `kv-calculator.to_${kind}`,
      click: () => leadTo(glass, "kv", kind),
    }),
  );
  return h("div.kv-copies", { role: "group", "data-text-label": "kv-calculator.onward" }, ...buttons);
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

/**
 * A last good answer while another format is refused: what was remarked on its own format would stand beside that.
 *
 * @param {Answer} answer
 * @returns {Answer}
 */
const withoutFormat = (answer) => ({
  ...answer,
  notes: answer.notes.filter(({ code }) => !["format", "stored_fp8", "state_fp32"].includes(code)),
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
 * The answer with its buttons, and what is wrong with the settings.
 *
 * @param {Glass} glass
 * @param {{
 *   reading: CacheReading | null;
 *   trouble: string;
 *   kept: string;
 *   copies: HTMLElement;
 *   onward: HTMLElement;
 * }} shown
 */
const resultView = (glass, { reading, trouble, kept, copies, onward }) => html`
  <p class="kv-trouble" role="alert" .textContent=${trouble}></p>
  <p class="gp-note kv-kept" role="status" .textContent=${kept}></p>
  ${reading ? answerView(glass, reading) : nothing} ${copies} ${onward}
`;

/**
 * The same shape under every kind of attention; without attention there is none.
 *
 * @param {Glass} glass
 * @param {Answer} answer
 * @param {boolean} plain as in `kindsView`
 */
const comparedView = (glass, { kinds }, plain) =>
  kinds.length
    ? html`<h3 class="gp-subtitle" .textContent=${glass.text("kv.kinds_title")}></h3>
        ${kindsView(glass, kinds, { plain })}`
    : nothing;

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function kvCalculator(element, glass) {
  const asked = question(glass);
  const panel = frame(element, glass, "kv-calculator", {
    subject: () => subjectOf(glass, asked.answer),
    parts: ["what", "formula", "myth"],
    pointed: false,
  });
  const form = settingsForm(glass, asked);
  const [copies, onward] = [copyButtons(glass, asked), onwardButtons(glass)];
  const [result, kinds] = [h("div.kv-result-side", { "data-part": "result" }), h("div")];
  panel.body.append(h("div.kv-two", null, form.element, result), form.fold, kinds);
  glass.translate(element);
  for (const one of [copies, onward]) glass.translate(one);

  let pasted = false; // whether the box for a config has held something
  /**
   * What is wrong; of a box for a config that is empty yet, nothing: a reader is about to paste.
   *
   * @param {NonNullable<Asked["trouble"]>} trouble
   */
  function saidOf(trouble) {
    if (asked.settings.model !== ":config" || asked.settings.config) return troubleText(glass, trouble);
    return pasted ? glass.text("kv.config_empty") : "";
  }

  return inView(element, function draw() {
    const { answer, trouble } = asked;
    pasted ||= Boolean(asked.settings.config);
    const settings = answer && settingsIn(glass, answer);
    const reading = answer && readCache(trouble?.params.field === "dtype" ? withoutFormat(answer) : answer);
    panel.title.textContent = settings ? panel.text("title_of", settings) : panel.text("title");
    form.show();
    const said = trouble ? saidOf(trouble) : "";
    const placed = form.complain(trouble, said);
    element.toggleAttribute("data-stale", Boolean(trouble));
    const kept = trouble && answer ? panel.text("kept", { settings: keptText(glass, asked) }) : "";
    render(resultView(glass, { reading, trouble: placed ? "" : said, kept, copies, onward }), result);
    if (!reading) return;
    copies.hidden = false;
    const plain = PLAIN.some((name) => asked.settings[name]);
    render(comparedView(glass, reading.answer, plain), kinds);
    panel.show(reading, "");
  });
}
