// @ts-check
// A network with two stacks as a whole: what each reads and is built of, and what goes from the one to the other. A
// click expands the layers of that stack below.

import { h } from "../../dom.js";
import { memo } from "../../reads.js";

/**
 * @typedef {import("../../decode.js").Trace} Trace
 *
 * @typedef {Trace & { encoder: Trace }} Both a run of a network with two stacks
 */

/** @param {Trace | null} run @returns {run is Both} */
const hasBoth = (run) => Boolean(run?.encoder);

/**
 * The sub-layers of a stack, in the order of the computation.
 *
 * @param {import("../../types.d.ts").Model} model
 * @returns {string[]} keys of the texts
 */
const sublayers = ({ parts: { norms, causal } }) => [
  causal === false ? "stacks_all" : "stacks_causal",
  ...(norms.cross_norm ? ["stacks_cross"] : []),
  "stacks_ffn",
];

/**
 * @param {import("../../types.d.ts").Glass} glass
 * @param {import("../../types.d.ts").Say} text of the section "overview"
 * @returns {{ element: HTMLElement; draw: () => void }}
 */
export function createBand(glass, text) {
  const { state } = glass;
  const boxes = Object.fromEntries(
    /** @type {const} */ (["encoder", "decoder"]).map((stack) => [
      stack,
      h("button.ov-stack", { "data-stack": stack, click: () => glass.readStack(stack) }),
    ]),
  );
  const between = h("p.ov-between");
  const element = h("div.ov-stacks", { hidden: "" }, boxes.encoder, between, boxes.decoder);

  /** @type {(run: Both, shown: Trace | null, language: string) => void} */
  const write = memo((run, shown) => {
    const { encoder } = run;
    for (const [stack, trace] of Object.entries({ encoder, decoder: run })) {
      const { model, T } = trace;
      boxes[stack].replaceChildren(
        h("strong", null, text(`stacks_${stack}`, { layers: model.n_layers })),
        h("span", null, text(`stacks_${stack}_reads`, { tokens: T, d: model.d_model })),
        h("span.ov-sublayers", null, ...sublayers(model).map((key) => h("span", null, text(key)))),
        h("span", null, text(`stacks_${stack}_end`)),
      );
      boxes[stack].setAttribute("aria-pressed", String(trace === shown));
    }
    const { n_heads: heads, head_dim: width, n_layers: layers } = run.model;
    between.textContent = text("stacks_between", { tokens: encoder.T, heads, width, layers });
  });

  function draw() {
    const { run, trace, language } = state;
    element.hidden = !hasBoth(run);
    if (hasBoth(run)) write(run, trace, language);
  }
  return { element, draw };
}
