// The calculator: bytes of any model's KV cache, with every multiplication, and the same shape under the four kinds.

import { h, watcher } from "../../dom.js";
import { frame } from "../../frame.js";
import { inView } from "../../pointing.js";
import { answerView } from "./answer.js";
import { kindsView } from "./kinds.js";
import { question } from "./question.js";
import { settingsForm } from "./settings-form.js";
import { troubleText } from "./trouble.js";

/** @returns {(string|number)[][]} the products and the kinds of the shown answer */
function table({ answer }) {
  if (!answer) return [];
  const product = ({ factors }) => factors.map(({ value, code, how }) => `${value} ${code}${how ? ` (${how})` : ""}`).join(" × ");
  const rows = answer.terms.map((term) => [answer.model, answer.tokens, answer.batch, answer.dtype, term.label, product(term), term.bytes]);
  const kinds = answer.kinds.filter(({ bytes }) => bytes).map((kind) => [answer.model, answer.tokens, answer.batch, answer.dtype, `as ${kind.kind}`, kind.terms.map(product).join(" + "), kind.bytes]);
  const total = [answer.model, answer.tokens, answer.batch, answer.dtype, "total", "", answer.bytes];
  return [["model", "tokens", "batch", "dtype", "what", "product", "bytes"], ...rows, total, ...kinds];
}

/** Settings that the comparison of the four kinds leaves out. */
const PLAIN = ["tp", "pp", "dcp", "block_size", "shared_prefix", "reserved_tokens", "reserved_batch", "window", "layout", "draft", "mtp", "indexer"];

/** @param {HTMLElement} element @param {object} glass */
export default function kvCalculator(element, glass) {
  const { state } = glass;
  const asked = question(glass);
  const panel = frame(element, glass, "kv-calculator", { csv: () => table(asked), parts: ["what", "formula", "myth"], pointed: false });
  const form = settingsForm(glass, asked);
  const answer = answerView(glass);
  const kinds = kindsView(glass);
  const trouble = h("p.kv-trouble", { role: "alert" });
  const result = h("div.kv-result-side", null, trouble, answer.element);
  panel.body.append(h("div.kv-two", null, form.element, result), form.fold, kinds.element);
  glass.translate(element);

  const changed = watcher();
  return inView(element, function draw(fresh) {
    if (!changed(asked.settings, asked.answer, asked.trouble, asked.catalogue, state.language) && !fresh) return;
    panel.title.textContent = panel.text("title");
    form.show();
    const said = asked.trouble ? troubleText(glass, asked.trouble) : "";
    const placed = form.complain(asked.trouble, said);
    trouble.textContent = placed ? "" : said;
    element.toggleAttribute("data-stale", Boolean(asked.trouble));
    kinds.element.hidden = !asked.answer;
    if (!asked.answer) return;
    answer.show(asked.answer);
    kinds.show(asked.answer.kinds, PLAIN.some((name) => asked.settings[name]));
    const { model, tokens, batch, dtype, bytes } = asked.answer;
    panel.tell(`${model} tokens=${tokens} batch=${batch} dtype=${dtype} bytes=${bytes}`);
  });
}
