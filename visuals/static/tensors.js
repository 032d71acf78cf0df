// "What is this tensor?": the captured tensors that a panel shows, with shape, meaning and the line that makes each.

import { h } from "./dom.js";

/** The size of a named dimension in a run. */
function sizeOf(name, { T, model }) {
  const sizes = { T, d: model.d_model, f: model.ffn_hidden, V: model.vocab_size };
  return sizes[name] ?? model[name];
}

/** "(n_heads, T, head_dim) = (8, 9, 32)" @param {string[]} dims */
export const shapeText = (dims, trace) =>
  `(${dims.join(", ")}) = (${dims.map((name) => sizeOf(name, trace)).join(", ")})`;

let asked = null; // the places are the same for every run

/** A list that fills itself when it is opened. @param {string[]} names of model/trace.py's SHAPES @returns {{ element: HTMLElement, show: Function }} */
export function tensorList(glass, names) {
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
