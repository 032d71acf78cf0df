// The pieces that the model reads: the sentence cut into tokens, each in a colour of its own.

import { textOf } from "../../characters.js";
import { h } from "../../dom.js";
import { visible } from "../../draw.js";
import { memo } from "../../reads.js";
import { bold, count } from "../words.js";

const HUES = ["q", "k", "v", "gate", "up"];

/**
 * Whether every piece of a text is one character of it.
 *
 * @param {string[]} pieces
 * @param {number} letters characters of the text
 */
export const isByCharacter = (pieces, letters) =>
  pieces.length === letters && pieces.every((piece) => [...piece].length === 1);

/**
 * @param {import("../scene.js").Glass} glass
 * @returns {import("../scene.js").Scene}
 */
export function createPieces(glass) {
  const { state } = glass;
  const element = h("ol.st-pieces", { dir: "auto" });
  const write = memo((/** @type {string[]} */ pieces, /** @type {number[]} */ ids) => {
    element.replaceChildren(
      ...pieces.map((piece, i) =>
        h(
          "li",
          { style: `--hue: var(--glass-${HUES[i % HUES.length]})` },
          h("small", null, String(i)),
          h("span.st-piece", null, visible(piece)),
          h("small", null, String(ids[i])),
        ),
      ),
    );
  });
  return {
    name: "pieces",
    behind: ["token", "merges"],
    element,
    draw() {
      const { trace, language } = state;
      if (!trace) return null;
      const { tokens, model } = trace;
      const [{ pieces, ids }, { eos_ids }] = [tokens, model];
      const read = pieces.filter((_, t) => !eos_ids.includes(ids[t]));
      const letters = [...textOf(read)].length;
      write(pieces, ids);
      return {
        form: isByCharacter(read, letters) ? "_single" : "",
        words: {
          letters: count(letters, language),
          pieces: bold(count(pieces.length, language)),
          vocabulary: count(trace.model.vocab_size, language),
        },
        value: `tokens ${pieces.length} ids ${ids.join(",")}`,
      };
    },
  };
}
