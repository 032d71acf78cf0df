// How large the cache grows: as long as the text, beside the weights, which are there but once.

import { slider } from "../../../controls.js";
import { byteUnit } from "../../../counts.js";
import { h } from "../../../dom.js";
import { elementBytes, factorsOf, measuredAt } from "../../../readings/kv.js";
import { memo, reactive } from "../../../reads.js";
import { createBars } from "../../bars.js";
import { bytesEach, bytesOfSource, bytesTold, formOf, inBytes } from "../../held.js";
import { bold, count } from "../../words.js";

/**
 * @param {import("../../scene.js").Glass} glass
 * @returns {import("../../scene.js").Scene}
 */
export function createGrows(glass) {
  const { state, text } = glass;
  const view = reactive({ tokens: /** @type {number | null} */ (null) }, glass.repaint);
  const bars = createBars();
  const formula = h("p.st-formula", { lang: "en" });
  const long = slider("st-slider", "story-cache.saves_tokens", { min: 1, step: 1 }, (value) => {
    view.tokens = value;
  });
  const factorNames = h("p.st-note");
  const element = h("div", null, bars.element, formula, factorNames, long.element);
  glass.on("run", () => {
    view.tokens = null;
  });
  const paint = memo((/** @type {number} */ held, /** @type {number} */ weights, _language) => {
    const name = (/** @type {string} */ key) => text(`story-cache.grows_${key}`);
    bars.draw([
      { name: name("cache"), value: held, words: inBytes(held) },
      { name: name("weights"), value: weights, words: inBytes(weights) },
    ]);
  });
  return {
    name: "grows",
    behind: ["kv", "kv-live"],
    element,
    draw() {
      const { trace, language } = state;
      const live = trace && !trace.generating && glass.detail("kv_live", {});
      if (!trace || !live) return null;
      const { model, T } = trace;
      const n = view.tokens ?? T;
      const [each, source] = [bytesEach(trace), bytesOfSource(trace)];
      const weights = model.n_parameters * elementBytes(trace);
      const measured = measuredAt(trace, live, T);
      paint(source + n * each, weights, language);
      const factors = factorsOf(trace, n).map(({ value }) => count(value, language));
      formula.textContent = `${factors.join(" · ")} = ${count(n * each, language)} ${byteUnit()}`;
      factorNames.textContent = text(`story-cache.grows_factors${formOf(trace) === "_latent" ? "_latent" : ""}`);
      long.show(n, count(n, language), { max: model.max_context });
      const even = Number((weights / each).toPrecision(2));
      return {
        form: source ? "_source" : even > model.max_context ? "_beyond" : "",
        words: {
          each: bytesTold(each),
          tokens: bold(text("story-cache.tokens", { count: T })),
          measured: bytesTold(measured ?? NaN),
          source: bytesTold(source),
          even: bold(count(even, language)),
          context: count(model.max_context, language),
        },
        value: `tokens ${n} each ${each} held ${source + n * each} measured ${measured} weights ${weights}`,
        select: { query: T - 1 },
      };
    },
  };
}
