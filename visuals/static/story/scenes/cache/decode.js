// Decode: one more token is one more column.

import { h } from "../../../dom.js";
import { sentences } from "../../../panels/glance/words.js";
import { createGrid } from "../../grid.js";
import { bytesEach, bytesTold, gridOf, pairsSaid } from "../../held.js";
import { createWriteOne } from "../../write-one.js";
import { bold } from "../../words.js";

const NONE = /** @type {string[]} */ ([]);

/**
 * @param {import("../../scene.js").Glass} glass
 * @returns {import("../../scene.js").Scene}
 */
export function createDecode(glass) {
  const { state, text } = glass;
  const grid = createGrid(glass, "story-cache.grid");
  const write = createWriteOne(glass);
  const sum = h("p.st-note");
  const element = h("div", null, grid.element, sum);
  return {
    name: "decode",
    behind: ["kv", "kv-live"],
    element,
    notes: h("p.st-acts", null, write.element), // after the question, which it would answer
    draw(width) {
      const { trace, language } = state;
      if (!trace) return null;
      const { T, nPrompt, model, tokens, steps } = trace;
      grid.paint(gridOf(trace, T, NONE), width, language);
      write.draw(model.eos_ids.includes(tokens.ids[T - 1]));
      const [written, unread] = [T - nPrompt, steps.length - (T - nPrompt)];
      sum.textContent = sentences(
        text,
        text("story-cache.decode_sum", { prompt: nPrompt, written, held: T }),
        unread > 0 ? text("story-cache.decode_unread", { unread }) : "",
      );
      const each = bytesEach(trace);
      const choices = ["column", "row", "all"].map((name) => text(`story-cache.decode_${name}`));
      return {
        guess: { asks: text("story-cache.decode_asks"), choices, right: 0, of: trace.prompt },
        words: {
          layers: String(model.n_layers),
          each: bytesTold(each),
          pairs: pairsSaid(text, trace),
          columns: bold(text("story-cache.columns", { count: written ? T : T + 1 })), // with its own
        },
        value: `held ${T} written ${written} each ${each}`,
        select: { query: T - 1 },
      };
    },
  };
}
