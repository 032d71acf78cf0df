// "What is this tensor?": the captured tensors that a panel shows, with shape, meaning and the line that makes each.

import { h } from "./dom.js";

const STREAM = ["resid_in", "attn_out", "resid_mid", "ffn_out", "resid_out"];
const NORMS = ["resid_in", "attn_norm_rms", "attn_normed", "resid_mid", "ffn_norm_rms", "ffn_normed"];
/** The names of model/trace.py's SHAPES, by panel. */
export const SHOWN = {
  tokens: ["attention"],
  attention: ["q_rot", "k_rot", "scores", "attention"],
  next: ["logits"],
  rmsnorm: ["attn_norm_rms", "ffn_norm_rms"],
  rope: ["q", "k", "q_rot", "k_rot"],
  swiglu: ["gate", "up"],
  overview: ["resid_in", "attn_normed", "attn_out", "resid_mid", "ffn_normed", "ffn_out", "resid_out", "logits"],
  residual: STREAM,
  "norm-vector": NORMS,
  "norm-scale": NORMS,
  "rope-score": ["q", "k", "q_rot", "k_rot", "scores"],
  "rope-scaling": ["q", "k", "scores"],
  "rope-layout": ["q", "k", "scores"],
  heads: ["scores", "attention"],
  cell: ["q_rot", "k_rot", "scores", "attention", "v", "attn_out"],
  arcs: ["attention"],
  difference: ["attention"],
  "ffn-token": ["gate", "up", "ffn_out"],
  "ffn-tokens": ["gate", "up"],
  "kv-live": ["k_rot", "v"],
  sampling: ["logits"],
  lens: ["resid_out", "logits"],
  contributions: ["attn_out", "ffn_out", "logits"],
  compare: ["logits"],
  "stream-change": ["resid_in", "resid_out"],
  "head-change": ["attention"],
};

/** The size of a named dimension in a run. */
function sizeOf(name, { T, model }) {
  const sizes = { T, d: model.d_model, f: model.ffn_hidden, V: model.vocab_size };
  return sizes[name] ?? model[name];
}

/** "(n_heads, T, head_dim) = (8, 9, 32)" @param {string[]} dims */
export const shapeText = (dims, trace) =>
  `(${dims.join(", ")}) = (${dims.map((name) => sizeOf(name, trace)).join(", ")})`;

let asked = null; // the places are the same for every run

/** A list that fills itself when it is opened. @param {string} kind the panel @returns {{ element: HTMLElement, show: Function }|null} */
export function tensorList(glass, kind) {
  const names = SHOWN[kind];
  if (!names) return null;
  const list = h("ul.gp-tensors");
  const element = h("div.gp-part", null, h("strong", { "data-text": "frame.tensor" }), list);

  /** Draws the list for the run that is shown. */
  async function show() {
    const { data: places } = await (asked ??= glass.calculate("tensors"));
    if (!places) asked = null; // the next opening asks again
    if (!places || !glass.state.trace) return;
    const rows = names.map((name) => {
      const { dims, file, line } = places[name];
      const said = ` ${shapeText(dims, glass.state.trace)} · ${glass.text(`tensor.${name}`)} · `;
      return h("li", null, h("code", null, name), said, h("code", null, `${file}:${line}`));
    });
    list.replaceChildren(...rows);
  }
  return { element, show };
}
