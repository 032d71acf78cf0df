// Where a decoder looks at a source: what one head of its last token looks at in the prompt.

import { exact } from "../../dom.js";
import { looksAtSource } from "../../parts.js";
import { memo } from "../../reads.js";
import { crossReader } from "../../readings/cross.js";
import { readHere } from "../../run-for.js";
import { createBars } from "../bars.js";
import { bold, few, shareSaid, told, wordOf } from "../words.js";

const SHOWN = 12; // tokens: those that are looked at most

/**
 * @param {import("../scene.js").Glass} glass
 * @returns {import("../scene.js").Scene}
 */
export function createAcross(glass) {
  const { state, text } = glass;
  const bars = createBars({ isShare: true });
  const paint = memo((/** @type {Float64Array} */ weights, /** @type {string[]} */ pieces, most, _language) => {
    const order = Array.from(weights.keys()).sort((a, b) => weights[b] - weights[a]);
    const seen = order.slice(0, SHOWN).sort((a, b) => a - b);
    bars.draw(
      seen.map((t) => ({
        name: wordOf(pieces[t]),
        value: weights[t],
        words: shareSaid(text, weights[t]),
        strong: t === most,
      })),
    );
  });
  return {
    name: "across",
    behind: ["attend", "cross"],
    element: bars.element,
    has: looksAtSource,
    draw() {
      const { trace, layer, head, language } = state;
      const { encoder } = trace ?? {};
      if (!trace || !encoder) return null;
      const query = trace.T - 1;
      const reading = readHere(glass, crossReader, { layer, head, query, source: null });
      if (!reading) return null;
      const { selection, values, row } = reading;
      const { pieces } = encoder.tokens;
      paint(row.weights, pieces, selection.source, language);
      return {
        words: {
          head: bold(text("story.head", { layer, head })),
          word: bold(wordOf(pieces[selection.source])),
          product: told(few(values.qk), values.qk),
          score: told(few(values.score), values.score),
          weight: told(shareSaid(text, values.weight), values.weight),
        },
        value: `layer ${layer} head ${head} source ${selection.source} weight=${exact(values.weight)}`,
        select: { layer, head, query },
      };
    },
  };
}
