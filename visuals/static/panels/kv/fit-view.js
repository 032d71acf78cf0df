// The answer about one GPU: its memory as a bar, the largest batch and context, the bound, and the weights' sum.

import { h } from "../../dom.js";
import { largestFact, boundFact } from "./fit-facts.js";
import { both, exactBytes, remarkIn, scaled, titled, weightName, whole } from "./format.js";
import { memoryBar } from "./memory-bar.js";
import { oneLine } from "../../one-line.js";

/**
 * @typedef {import("../../decoded.d.ts").Calculation<"kv_fit">} Fit
 *
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 */

/**
 * Whether it fits, and what is free or missing.
 *
 * @param {Fit["use"]} use
 * @param {Say} text of the section "kv-fit"
 */
function verdict({ fits, free }, text) {
  const words = fits ? text("fits") : text("lacks", { bytes: both(-Number(free)) });
  const left = fits ? [h("span", null, ` ${text("free", { bytes: both(free) })}`)] : [];
  return h("p.kv-total.kv-fits", null, h("strong", null, words), ...left);
}

/**
 * How a config.json says that the weights are stored, or why that is not counted, and what they are counted in.
 *
 * @param {Glass} glass
 * @param {Fit["use"]} use
 */
const stored = ({ state, text }, { stored: notes, weights_in: format }) =>
  notes.map((one) =>
    h("p.gp-note.kv-stored", null, oneLine([remarkIn(one, state.language), text("kv-fit.counted_in", { format })])),
  );

/**
 * The weights as the sum of their terms, in a list that stays open where a reader opened it.
 *
 * @param {Glass} glass
 * @param {HTMLElement} element that the list stands in
 */
function createWeights(glass, element) {
  let opened = false;
  element.addEventListener(
    "toggle",
    (event) => {
      opened = /** @type {HTMLDetailsElement} */ (event.target).open;
    },
    true,
  );
  /** @type {import("./format.js").Named} */
  const factor = (code, params) => glass.text(`kv.factor_${code}`, params);

  /** @param {Fit["use"]} use */
  function of({ weight_terms, all_weights, measured }) {
    const files = measured && glass.text("kv-fit.measured", { bytes: exactBytes(measured), both: both(measured) });
    const sum = { bytes: exactBytes(all_weights), both: both(all_weights) };
    const rows = weight_terms.map(({ label, factors, bytes }) =>
      titled(weightName(glass.text, label), factors, factor, bytes),
    );
    const summary = h("summary", null, glass.text("kv-fit.weights_sum", sum));
    const list = h("details.kv-source", opened ? { open: "" } : null, summary, ...rows);
    return h("div", null, ...(files ? [h("p.gp-note.kv-measured", null, files)] : []), list);
  }
  return { of };
}

/**
 * The sum that decides, with exact bytes: memory less weights and cache, and by lines less each of these.
 *
 * @param {Fit} found
 * @param {Say} text of the section "kv-fit"
 */
function sumOf({ use, beside }, text) {
  const percent = use.by === "share" || use.percent < 100;
  const memory = exactBytes(use.gpu.memory);
  const words = text(`sum_${use.by}`, {
    memory: percent ? `${memory} × ${use.percent}%` : memory,
    weights: exactBytes(use.weights),
    cache: exactBytes(use.cache),
    activations: exactBytes(beside.activation_bytes),
    context: exactBytes(beside.context),
    fragmentation: exactBytes(beside.left),
    free: exactBytes(use.free).replace("-", "−"),
  });
  return h("p.kv-sum.kv-fit-sum", null, words);
}

/**
 * What the memory that weights and cache may not take is for: each line's name, bytes and words.
 *
 * @param {Fit} found
 * @param {Say} text of the section "kv-fit"
 * @returns {[string, string, string][]}
 */
function linesOf({ use, beside }, text) {
  const { activation_bytes, context, left } = beside;
  const mib = (/** @type {string} */ bytes) => `${whole(BigInt(bytes) >> 20n)} MiB × 1,048,576 · `;
  /** @type {[string, string, string][]} */
  const lines = [
    ["activations", activation_bytes, text("kept_activations_says")],
    ["context", context, mib(context) + text("kept_context_says")],
  ];
  if (use.by === "share") {
    const name = left.startsWith("-") ? "lacking" : "left";
    return [...lines, [name, left.replace("-", ""), text(`kept_${name}_says`)]];
  }
  const system = String(BigInt(use.gpu.memory) - BigInt(use.share));
  lines.push(["fragmentation", left, mib(left) + text("kept_fragmentation_says")]);
  return system === "0" ? lines : [...lines, ["system", system, text("kept_system_says", { percent: use.percent })]];
}

/**
 * What the memory that weights and cache may not take is for, line by line, and the products of the activations.
 *
 * @param {Glass} glass
 * @param {Fit} found
 */
function keptBack(glass, found) {
  /** @type {Say} */
  const text = (name, params) => glass.text(`kv-fit.${name}`, params);
  /** @type {import("./format.js").Named} */
  const factor = (code, params) => glass.text(`kv.factor_${code}`, params);
  const { kept_back, activations } = found.beside;
  const line = (/** @type {[string, string, string]} */ [name, bytes, says]) =>
    h(
      "li",
      { "data-line": name },
      h("strong", null, text(`kept_${name}`)),
      h("span.kv-log-bytes", null, scaled(bytes, "binary")),
      h("span.gp-note", null, says),
    );
  return h(
    "div.kv-kept-back",
    null,
    h("h4", null, text(`kept_title_${found.use.by}`, { bytes: both(kept_back) })),
    ...(found.use.by === "share" ? [h("p.gp-note", null, text("share_says"))] : []),
    h("ul.kv-log-steps", null, ...linesOf(found, text).map(line)),
    h(
      "details.kv-kept-products",
      null,
      h("summary", null, text("kept_products")),
      ...activations.map(({ label, factors, bytes }) => titled(text(`kept_${label}`), factors, factor, bytes)),
    ),
  );
}

/** @param {Glass} glass */
export function fitView(glass) {
  /** @type {Say} */
  const text = (name, params) => glass.text(`kv-fit.${name}`, params);
  const element = h("div.kv-answer");
  const weights = createWeights(glass, element);

  /**
   * @param {Fit} found
   * @param {{ tokens: number; batch: number }} asked
   */
  function show(found, { tokens, batch: sequences }) {
    const { use, batch, context, bound } = found;
    element.replaceChildren(
      verdict(use, text),
      ...stored(glass, use),
      ...memoryBar(found, text),
      sumOf(found, text),
      h(
        "div.kv-facts",
        null,
        largestFact(glass, batch, text("largest_batch", { tokens: whole(tokens) }), "sequences"),
        largestFact(glass, context, text("largest_context", { batch: whole(sequences) }), "tokens"),
        boundFact(bound, sequences, text),
      ),
      keptBack(glass, found),
      weights.of(use),
      h("p.gp-note", null, text("source", { source: remarkIn(use.gpu.source, glass.state.language) })),
    );
  }
  return { element, show };
}
