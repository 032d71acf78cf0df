// The KV cache: what of each token is kept, and what one more token costs.

import { labelsOf } from "../../characters.js";
import { h } from "../../dom.js";
import { memo } from "../../reads.js";
import { bytesOf } from "./group.js";
import { createWriteOne } from "../write-one.js";
import { bold, count, wordOf } from "../words.js";

const SHOWN = 24; // tokens

/**
 * What the cache holds: keys and values by their sizes, until what the server measured is there; a latent as it is
 * measured; null until that has come.
 *
 * @param {import("../scene.js").Glass} glass
 * @param {import("../../decode.js").Trace} trace
 */
function heldIn(glass, { T, model }) {
  const measured = glass.detail("kv_live", {});
  return measured ?? (model.parts.latent ? null : { tokens: T, bytes: T * bytesOf(model, model.n_kv_heads) });
}

/**
 * @param {import("../scene.js").Glass} glass
 * @returns {import("../scene.js").Scene}
 */
export function createCache(glass) {
  const { state, text } = glass;
  const tokens = h("ol.st-cache", { "data-text-label": "story.cache_drawing" });
  const write = createWriteOne(glass);
  const back = h("button.st-act", {
    "data-text": "story.cache_back",
    click: () => state.status === "idle" && takeBack(),
  });
  const takeBack = () => glass.read(state.trace?.prompt ?? "", state.run?.model.name, state.run ?? undefined);
  const whole = h("button.st-act", { "data-story": "story-cache", "data-text": "story.cache_whole" });
  const tells = h("p.st-note", { role: "status" });
  const kinds = h("p.st-note", { "data-text": "story.cache_kinds" });
  const element = h("div", null, tokens, kinds, tells, h("p.st-acts", null, write.element, back, whole));
  const paint = memo((/** @type {string[]} */ pieces, /** @type {number} */ nPrompt, _language) => {
    const from = Math.max(0, pieces.length - SHOWN);
    tokens.replaceChildren(
      ...(from ? [h("li.st-before", null, text("story.cache_before", { count: from }))] : []),
      ...labelsOf(pieces)
        .slice(from)
        .map((piece, i) =>
          h(
            `li${from + i >= nPrompt ? ".is-new" : ""}`,
            null,
            h("span.st-kept.is-k", null, "K"),
            h("span.st-kept.is-v", null, "V"),
            h("span.st-word", null, wordOf(piece)),
          ),
        ),
    );
  });
  return {
    name: "cache",
    behind: ["kv", "kv-live"],
    element,
    has: ({ parts: { stack } }) => !stack,
    draw() {
      const { trace, language, status } = state;
      const found = trace && heldIn(glass, trace);
      if (!trace || !found) return null;
      paint(trace.tokens.pieces, trace.nPrompt, language);
      const { eos_ids: ends } = trace.model;
      const over = ends.includes(trace.tokens.ids[trace.T - 1]);
      const written = trace.T - trace.nPrompt;
      write.draw(over);
      back.setAttribute("aria-disabled", String(status !== "idle"));
      if (!written && document.activeElement === back) write.element.focus({ preventScroll: true });
      back.hidden = !written;
      tells.textContent = text(`story.cache_${written ? "written" : "writes"}`, { count: written });
      const each = found.bytes / found.tokens;
      return {
        form: over ? "_over" : "",
        words: {
          tokens: bold(count(found.tokens, language)),
          bytes: bold(count(found.bytes, language)),
          each: bold(count(each, language)),
          layers: String(trace.model.n_layers),
        },
        select: { query: found.tokens - 1 },
        value: `tokens ${found.tokens} bytes ${found.bytes}`,
      };
    },
  };
}
