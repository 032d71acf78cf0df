// A network with two stacks as a whole: what each reads and is built of, and what goes from the one to the other. A
// click expands the layers of that stack below.

import { h } from "../../dom.js";
import { memo } from "../../reads.js";

/**
 * The sub-layers of a stack, in the order of the computation.
 *
 * @returns {string[]} keys of the texts
 */
const sublayers = ({ parts: { norms, causal } }) => [
  causal === false ? "stacks_all" : "stacks_causal",
  ...(norms.cross_norm ? ["stacks_cross"] : []),
  "stacks_ffn",
];

/**
 * @param {import("../../types.d.ts").Glass} glass
 * @param {Function} text of the section "overview"
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

  const write = memo((run, shown, _language) => {
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
    element.hidden = !run.encoder;
    if (run.encoder) write(run, trace, language);
  }
  return { element, draw };
}
