// Prefill: the prompt is read at once, and of every token every layer keeps something.

import { h, sample } from "../../../dom.js";
import { createGrid } from "../../grid.js";
import { bytesEach, bytesOfSource, bytesTold, formOf, gridOf, pairsSaid } from "../../held.js";
import { bold } from "../../words.js";

const NONE = /** @type {string[]} */ ([]);

/**
 * @param {import("../../scene.js").Glass} glass
 * @returns {import("../../scene.js").Scene}
 */
export function createPrefill(glass) {
  const { state, text } = glass;
  const grid = createGrid(glass, "story-cache.grid");
  const legend = h("p.st-legend", null, sample("span.st-swatch", "story-cache.key", "k"), " ");
  legend.append(sample("span.st-swatch", "story-cache.value", "v"));
  const element = h("div", null, grid.element, legend);
  return {
    name: "prefill",
    behind: ["kv", "kv-live"],
    element,
    draw(width) {
      const { trace, language } = state;
      if (!trace) return null;
      const { encoder, nPrompt, model } = trace;
      const read = encoder?.tokens.pieces ?? NONE;
      const form = formOf(trace);
      legend.hidden = form === "_latent";
      grid.paint(gridOf(trace, nPrompt, read), width, language);
      const [own, source] = [bytesEach(trace) * nPrompt, bytesOfSource(trace)];
      const tokens = read.length || nPrompt;
      return {
        form,
        words: {
          tokens: bold(String(tokens)),
          layers: String(model.n_layers),
          pairs: pairsSaid(text, trace),
          bytes: bytesTold(source || own),
        },
        value: `tokens ${tokens} layers ${model.n_layers} bytes ${source || own}`,
        select: { query: nPrompt - 1 },
      };
    },
  };
}
