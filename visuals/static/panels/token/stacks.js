// A network with two stacks: which of them the panels show, and both texts, the one that is read and the one that is
// written. Seen from the decoder, the source is tinted by the cross-attention of the selected head.

import { crossRow } from "../../compute.js";
import { segmented } from "../../controls.js";
import { h } from "../../dom.js";
import { ink, inkOn, shade, visible } from "../../draw.js";
import { WEIGHTS } from "../../marks/scales.js";
import { memo } from "../../reads.js";
import { shownIn } from "../../run-for.js";

const STACKS = /** @type {("encoder" | "decoder")[]} */ (["encoder", "decoder"]);

/**
 * @param {import("../../types.d.ts").Glass} glass
 * @returns {{ element: HTMLElement; draw: () => void }}
 */
export function createStacks(glass) {
  const state = shownIn(glass);
  const { element: choice, mark } = segmented(STACKS, {
    label: "tokens.stacks",
    text: (stack) => `tokens.stack_${stack}`,
    title: (stack) => `tokens.stack_${stack}_means`,
    named: "stack",
    choose: (stack) => glass.readStack(stack),
  });
  const name = h("span.gp-otherName");
  const words = h("span", { dir: "auto" });
  const other = h("p.gp-other", null, name, " ", words);
  const element = h("div.gp-stacks", { hidden: "" }, choice, other);
  words.addEventListener("click", ({ target }) => {
    const word = /** @type {HTMLElement | null} */ (/** @type {HTMLElement} */ (target).closest("[data-token]"));
    if (word) glass.readStack(state.trace.whole ? "decoder" : "encoder", { query: Number(word.dataset.token) });
  });

  const write = memo((/** @type {string[]} */ pieces, /** @type {ArrayLike<number> | null} */ weights) => {
    const table = ink()[WEIGHTS.table];
    words.replaceChildren(
      ...pieces.map((piece, token) => {
        const place = weights ? WEIGHTS.place(weights[token]) : null;
        const style = place === null ? undefined : `background: ${shade(table, place)}; color: ${inkOn(table, place)}`;
        return h("span.gp-otherWord", { "data-token": token, style }, visible(piece));
      }),
    );
  });

  function draw() {
    const { run, trace, head, query, theme } = state;
    element.hidden = !run?.encoder;
    if (!run?.encoder) return;
    mark(trace.whole ? "encoder" : "decoder");
    const shown = trace.whole ? run : run.encoder; // the text that the strip does not show
    const held = trace.whole ? null : glass.layer();
    const cross = held?.cross;
    const weights = cross ? crossRow({ cross }, trace.model, head, query).weights : null;
    name.textContent = glass.text(trace.whole ? "tokens.other_written" : "tokens.other_source", {
      head,
      piece: visible(trace.tokens.pieces[query]),
    });
    write(shown.tokens.pieces, weights, theme);
  }
  return { element, draw };
}
