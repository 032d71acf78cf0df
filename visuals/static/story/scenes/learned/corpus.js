// What the model has read: its training, stage by stage, by the tokens of each.

import { memo } from "../../../reads.js";
import { createBars } from "../../bars.js";
import { pointsOf } from "../../../readings/record.js";
import { nameOf, recordOf } from "../../record.js";
import { bold, count, large } from "../../words.js";

/** @typedef {import("../../../readings/record.js").Training} Training */

/**
 * @param {import("../../scene.js").Glass} glass
 * @returns {import("../../scene.js").Scene}
 */
export function createCorpus(glass) {
  const { state, text } = glass;
  const bars = createBars();
  const paint = memo((/** @type {Training} */ found, /** @type {string} */ language) => {
    const read = pointsOf(found).at(-1)?.tokens ?? 0;
    const ends = [...found.stages.slice(1).map(({ tokens }) => tokens), read];
    const sizes = found.stages.map(({ number, name, tokens }, i) => {
      const size = ends[i] - tokens;
      return { name: `${number} · ${nameOf(glass, name)}`, value: size, words: counted(size, language) };
    });
    bars.draw(sizes.length ? sizes : [{ name: "", value: read, words: counted(read, language) }]);
  });
  const counted = (/** @type {number} */ tokens, /** @type {string} */ language) =>
    text("story-learned.tokens", { count: large(tokens, language) });
  return {
    name: "corpus",
    behind: ["overview", "training"],
    element: bars.element,
    draw() {
      const { trace, language } = state;
      const found = recordOf(glass);
      if (!trace || !found) return null;
      paint(found, language);
      const read = pointsOf(found).at(-1)?.tokens ?? 0;
      const { n_parameters: parameters, vocab_size: vocabulary } = trace.model;
      return {
        words: {
          read: bold(large(read, language)),
          parameters: large(parameters, language),
          vocabulary: count(vocabulary, language),
        },
        value: `tokens ${read} stages ${found.stages.length} parameters ${parameters}`,
      };
    },
  };
}
