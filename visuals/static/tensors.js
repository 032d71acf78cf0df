// "What is this tensor?": the captured tensors that a panel shows, with shape, meaning and the line that makes each.

import { h } from "./dom.js";

/**
 * "(n_heads, T, head_dim) = (8, 9, 32)"
 *
 * @param {{ dims: string[]; shape: number[] }} place
 */
const shapeText = ({ dims, shape }) => `(${dims.join(", ")}) = (${shape.join(", ")})`;

/**
 * A list that fills itself when it is opened.
 *
 * @param {import("./types.d.ts").Glass} glass
 * @param {string[]} names of model/shapes.py; those that the network has are shown
 * @returns {{ element: HTMLElement; show: () => void }}
 */
export function tensorList(glass, names) {
  const list = h("ul.gp-tensors");
  const element = h("div.gp-part", null, h("strong", { "data-text": "frame.tensor" }), list);
  /** @type {unknown} */
  let listed = null;
  let language = "";

  /** Draws the list for the layer of the run that is shown, once it is known; then it is called again. */
  function show() {
    const { trace, layer } = glass.state;
    const places = trace && glass.detail("tensors", { layer });
    if (!places || (listed === places && language === glass.state.language)) return;
    [listed, language] = [places, glass.state.language];
    const rows = names
      .filter((name) => places[name])
      .map((name) => {
        const { file, line } = places[name];
        const said = ` ${shapeText(places[name])} · ${glass.text(`tensor.${name}`)} · `;
        return h("li", null, h("code", null, name), said, h("code", null, `${file}:${line}`));
      });
    list.replaceChildren(...rows);
  }
  return { element, show };
}
