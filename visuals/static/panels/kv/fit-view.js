// The answer about one GPU: its memory as a bar, the largest batch and context, the bound, and the weights' sum.

import { h } from "../../dom.js";
import { largestFact, boundFact } from "./fit-facts.js";
import { both, exactBytes, remarkIn, scaled, titled, weightName, whole } from "./format.js";
import { memoryBar } from "./memory-bar.js";

/**
 * @typedef {import("../../decoded.d.ts").Calculation<"kv_fit">} Fit
 *
 * @typedef {import("../../types.d.ts").Glass} Glass
 */

/**
 * Whether it fits, and what is free or missing.
 *
 * @param {Fit["use"]} use
 * @param {Function} text of the section "kv-fit"
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
    h("p.gp-note.kv-stored", null, remarkIn(one, state.language), " ", text("kv-fit.counted_in", { format })),
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
  const factor = (code, params) => glass.text(`kv.factor_${code}`, params);

  /** @param {Fit["use"]} use */
  function of({ weight_terms, all_weights }) {
    const sum = { bytes: exactBytes(all_weights), both: both(all_weights) };
    const rows = weight_terms.map(({ label, factors, bytes }) =>
      titled(weightName(glass.text, label), factors, factor, bytes),
    );
    const summary = h("summary", null, glass.text("kv-fit.weights_sum", sum));
    return h("details.kv-source", opened ? { open: "" } : null, summary, ...rows);
  }
  return { of };
}

/**
 * What the memory that is kept back is for, line by line: activations with their products, CUDA's context, the
 * rest.
 *
 * @param {Glass} glass
 * @param {Fit["beside"]} beside
 */
function keptBack(glass, { kept_back, activations, activation_bytes, context, left }) {
  const text = (name, params) => glass.text(`kv-fit.${name}`, params);
  const factor = (code, params) => glass.text(`kv.factor_${code}`, params);
  const line = (name, bytes, says) =>
    h(
      "li",
      { "data-line": name },
      h("strong", null, text(`kept_${name}`)),
      h("span.kv-log-bytes", null, scaled(bytes, "binary")),
      h("span.gp-note", null, says),
    );
  const lacks = left.startsWith("-");
  return h(
    "div.kv-kept-back",
    null,
    h("h4", null, text("kept_title", { bytes: both(kept_back) })),
    h(
      "ul.kv-log-steps",
      null,
      line("activations", activation_bytes, text("kept_activations_says")),
      line("context", context, text("kept_context_says")),
      lacks ? line("lacking", left.slice(1), text("kept_lacking_says")) : line("left", left, text("kept_left_says")),
    ),
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
  const text = (name, params) => glass.text(`kv-fit.${name}`, params);
  const element = h("div.kv-answer");
  const weights = createWeights(glass, element);

  /**
   * @param {Fit} found
   * @param {{ tokens: number; batch: number }} asked
   */
  function show({ use, beside, batch, context, bound }, { tokens, batch: sequences }) {
    element.replaceChildren(
      verdict(use, text),
      ...stored(glass, use),
      ...memoryBar(use, text),
      h(
        "div.kv-facts",
        null,
        largestFact(glass, batch, text("largest_batch", { tokens: whole(tokens) }), "sequences"),
        largestFact(glass, context, text("largest_context", { batch: whole(sequences) }), "tokens"),
        boundFact(bound, sequences, text),
      ),
      keptBack(glass, beside),
      weights.of(use),
      h("p.gp-note", null, text("source", { source: remarkIn(use.gpu.source, glass.state.language) })),
    );
  }
  return { element, show };
}
