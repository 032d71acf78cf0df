// What a reader takes along from an answer: the figure, and the formula as text or LaTeX with its reference.

import { byteUnit } from "../../counts.js";
import { calledIn, exactBytes, origin, scaled, sourcesOf, together, whole } from "./format.js";
import { sharesOf } from "./question.js";

/** Where the formula of each kind of layer stands, by what its label holds; the first that fits. */
const REFERENCES = /** @type {const} */ ([
  [/\.(latent|indexer)$/, "vLLM MLAAttentionSpec", "DeepSeek-V2 report, arXiv 2405.04434, table 1"],
  [/sliding\./, "vLLM SlidingWindowSpec"],
  [/chunked\./, "vLLM ChunkedLocalAttentionSpec"],
  [/cross\./, "vLLM CrossAttentionSpec"],
  [/state\./, "vLLM MambaSpec"],
  [/full\./, "vLLM FullAttentionSpec"],
]);
const FILE = "(vllm/v1/kv_cache_interface.py)";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("./question.js").Answer} Answer
 *
 * @typedef {import("./question.js").Asked["settings"]} Settings
 *
 * @typedef {Answer["terms"][number]["factors"][number]} Factor
 */

/**
 * What the answer is of, such as "Llama-3 8B, 1 × 8,192 tokens, bf16, TP 2".
 *
 * @param {Glass} glass
 * @param {Answer} answer
 * @param {Settings | null} settings that it answers
 */
function subject(glass, { card, batch, tokens, dtype }, settings) {
  const told = { model: calledIn(glass, card), batch: whole(batch), tokens: whole(tokens), dtype };
  const ranks = sharesOf(settings, ["tp", "pp", "dcp"]);
  const parts = [glass.text("kv.copied_subject", told), ...ranks, ...(settings?.mtp ? ["MTP"] : [])];
  return parts.join(glass.text("kv.list_comma"));
}

/**
 * The figure in one line.
 *
 * @param {Glass} glass
 * @param {Answer} answer
 * @param {Settings | null} [settings] that it answers
 */
export function figureText(glass, answer, settings = null) {
  const { bytes, gpus } = answer;
  const all = together(gpus, (name, params) => glass.text(`kv.${name}`, params));
  const size = `${scaled(bytes, "binary")} = ${scaled(bytes, "decimal")} = ${exactBytes(bytes)}${all}`;
  return `${subject(glass, answer, settings)}${glass.text("marks.colon")}${size}`.replaceAll("\u00a0", " ");
}

/**
 * @param {Glass} glass
 * @param {Factor} factor
 */
const nameOfFactor = (glass, { code, params }) => glass.text(`kv.factor_${code}`, params);

const STATE_FP32 = "its state with --mamba-ssm-cache-dtype float32";

/**
 * Where the formula stands; "" for layers whose own report, which the model's sources name, is all there is. A
 * state in fp32 is vLLM's where it is told so, if that is not its default.
 *
 * @param {Answer} answer
 */
function referenceOf({ terms, notes }) {
  const found = terms.flatMap(({ label }) => REFERENCES.find(([kind]) => kind.test(label))?.slice(1) ?? []);
  const names = [...new Set(found.map(String))];
  const [specs, reports] = [true, false].map((isSpec) => names.filter((name) => name.startsWith("vLLM ") === isSpec));
  const told = notes.some(({ code }) => code === "state_fp32") ? STATE_FP32 : "";
  return [specs.length ? `${specs.join(", ").replaceAll(", vLLM ", ", ")} ${FILE}` : "", told, ...reports]
    .filter(Boolean)
    .join("; ");
}

/**
 * Every product with its factors named, their sum, and where model and formula were read.
 *
 * @param {Glass} glass
 * @param {Answer} answer
 * @param {Settings | null} [settings] that it answers
 */
export function formulaText(glass, answer, settings = null) {
  /** @type {import("./format.js").Named} */
  const name = (code, params) => glass.text(`kv.factor_${code}`, params);
  const factor = (/** @type {Factor} */ one) => {
    const came = origin(one.how, name);
    return `${whole(one.value)} ${nameOfFactor(glass, one)}${came ? ` (${came})` : ""}`;
  };
  const products = answer.terms.map(
    ({ factors, bytes }) => `${factors.map(factor).join(" × ")} = ${exactBytes(bytes)}`,
  );
  const total = products.length > 1 ? [`= ${exactBytes(answer.bytes)}`] : [];
  const origins = [sourcesOf(glass, answer.card), referenceOf(answer)].filter(Boolean);
  return [figureText(glass, answer, settings), ...products, ...total, ...origins].join("\n").replaceAll("\u00a0", " ");
}

const SPECIAL = /** @type {Record<string, string>} */ ({
  "\\": "\\textbackslash{}",
  "~": "\\textasciitilde{}",
  "^": "\\textasciicircum{}",
});

/**
 * A text with what LaTeX reads as its own escaped.
 *
 * @param {string} text
 */
export const escaped = (text) =>
  text.replace(/[\\~^#$%&_{}]/g, (sign) => SPECIAL[sign] ?? `\\${sign}`).replaceAll("\u00a0", "~");

/**
 * A whole number with thin spaces.
 *
 * @param {number | string} value
 */
const spaced = (value) => whole(value).replaceAll(",", "\\,");

/**
 * The same as LaTeX: an align* whose braces name the factors, with what these are worked out of; the reference as a
 * comment.
 *
 * @param {Glass} glass
 * @param {Answer} answer
 * @param {Settings | null} [settings] that it answers
 */
export function formulaLatex(glass, answer, settings = null) {
  /** @type {import("./format.js").Named} */
  const name = (code, params) => glass.text(`kv.factor_${code}`, params);
  const factor = (/** @type {Factor} */ one) => {
    const came = origin(one.how, name);
    const said = `${nameOfFactor(glass, one)}${came ? ` (${came})` : ""}`;
    return `\\underbrace{${spaced(one.value)}}_{\\text{${escaped(said)}}}`;
  };
  const lines = answer.terms.map(
    ({ factors, bytes }, i) =>
      `  ${i ? "&\\quad + " : "M_{\\text{KV}} &= "}${factors.map(factor).join(" \\times ")}${
        answer.terms.length > 1 ? ` && (${spaced(bytes)}\\,\\text{${byteUnit()}})` : ""
      }`,
  );
  const about = escaped(scaled(answer.bytes, "binary"));
  const total = `  &= ${spaced(answer.bytes)}\\,\\text{${byteUnit()}} \\approx ${about}`;
  const head = [subject(glass, answer, settings), sourcesOf(glass, answer.card), referenceOf(answer)]
    .filter(Boolean)
    .map((line) => `% ${line}`);
  const approx = total.replace(/ (\S+)$/, "\\,\\text{$1}");
  return [...head, "\\begin{align*}", [...lines, approx].join(" \\\\\n"), "\\end{align*}"]
    .join("\n")
    .replaceAll("\u00a0", " ");
}
