// A large model's cache: the same product, as the calculator works it out.

import { memo, reactive } from "../../../reads.js";
import { createBars } from "../../bars.js";
import { FIRST, requestOf } from "../../../panels/kv/question.js";
import { bytesTold, inBytes } from "../../held.js";
import { bold, count } from "../../words.js";

const TIMES = 4;

/** @typedef {import("../../../decoded.d.ts").Calculation<"kv">} Answer */

/**
 * @param {import("../../scene.js").Glass} glass
 * @returns {import("../../scene.js").Scene}
 */
export function createPredict(glass) {
  const { state, text } = glass;
  const view = reactive({ answers: /** @type {Answer[] | null} */ (null) }, glass.repaint);
  let asked = false;
  const bars = createBars();

  /** The calculator's first question, and before it the same of a shorter text: the model reads no longer one. */
  async function ask() {
    if (asked) return;
    asked = true;
    const tokens = [Number(FIRST.tokens) / TIMES, Number(FIRST.tokens)].map(String);
    const answers = await Promise.all(tokens.map((n) => glass.calculate("kv", requestOf({ ...FIRST, tokens: n }))));
    const found = answers.flatMap(({ data }) => (data ? [data] : []));
    if (found.length === tokens.length) view.answers = found;
    else asked = false;
  }
  const paint = memo((/** @type {Answer[]} */ answers, /** @type {string} */ language) => {
    bars.draw(
      answers.map(({ tokens, bytes }) => ({
        name: text("story-cache.tokens", { count: count(tokens, language) }),
        value: Number(bytes),
        words: inBytes(Number(bytes)),
      })),
    );
  });
  return {
    name: "predict",
    behind: ["kv", "kv-calculator"],
    element: bars.element,
    draw() {
      const { language } = state;
      ask();
      if (!view.answers) return null;
      const [first, then] = view.answers;
      paint(view.answers, language);
      const { card } = first;
      const bytes = Number(first.bytes);
      const named = { model: card.name, tokens: count(first.tokens, language), next: count(then.tokens, language) };
      return {
        guess: {
          hides: true,
          asks: text("story-cache.predict_asks", { ...named, bytes: inBytes(bytes) }),
          choices: [1, TIMES, TIMES * TIMES].map((times) => inBytes(times * bytes)),
          right: 1,
        },
        words: {
          model: bold(card.name),
          times: String(TIMES),
          bytes: bytesTold(Number(then.bytes)),
          layers: String(card.n_layers),
          kv: String(card.n_kv_heads),
          dim: String(card.head_dim),
          dtype: first.dtype,
        },
        value: `tokens ${first.tokens} bytes ${first.bytes} then ${then.tokens} bytes ${then.bytes}`,
      };
    },
  };
}
