// A network with two stacks as a whole: what each reads and is built of, and what goes from the one to the other. A
// click expands the layers of that stack below.

import { html, nothing } from "../../vendor/lit-html.js";

/** @typedef {import("../../decode.js").Trace} Trace */

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
 * @returns {() => unknown} the band; nothing where the network has one stack
 */
export function createBand(glass, text) {
  const { state } = glass;
  /**
   * @param {"encoder" | "decoder"} stack
   * @param {Trace} trace
   */
  const box = (stack, trace) =>
    html`<button
      type="button"
      class="ov-stack"
      data-stack=${stack}
      aria-pressed=${String(trace === state.trace)}
      @click=${() => glass.readStack(stack)}
    >
      <strong .textContent=${text(`stacks_${stack}`, { layers: trace.model.n_layers })}></strong>
      <span .textContent=${text(`stacks_${stack}_reads`, { tokens: trace.T, d: trace.model.d_model })}></span>
      <span class="ov-sublayers"
        >${sublayers(trace.model).map((key) => html`<span .textContent=${text(key)}></span>`)}</span
      >
      <span .textContent=${text(`stacks_${stack}_end`)}></span>
    </button>`;
  return function band() {
    const { run } = state;
    if (!run?.encoder) return nothing;
    const { n_heads: heads, head_dim: width, n_layers: layers } = run.model;
    const between = text("stacks_between", { tokens: run.encoder.T, heads, width, layers });
    return html`<div class="ov-stacks">
      ${box("encoder", run.encoder)}
      <p class="ov-between" .textContent=${between}></p>
      ${box("decoder", run)}
    </div>`;
  };
}
