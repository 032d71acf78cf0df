// What the diagram's parts are called, and what a row's tensor is called and how large it is: from the model's config.

import { hasBias } from "../../compute.js";
import { innerShapes, shapeText, tensorOf } from "../../readings/diagram.js";
import { rowsOf, sideBySide } from "../../readings/diagram-rows.js";

/**
 * @typedef {import("./diagram.js").Diagram} Diagram
 *
 * @typedef {import("../../types.d.ts").Say} Say
 */

/**
 * Names of the parts, and of the expanded layer.
 *
 * @param {Diagram} diagram
 * @param {{ trace: import("../../decode.js").Trace; layer: number }} run
 * @param {Say} text of the section "overview"
 */
export function nameParts(diagram, { trace: { model }, layer }, text) {
  const { n_layers: layers, n_heads: heads, n_kv_heads: kv } = model;
  const range = (/** @type {number} */ from, /** @type {number} */ to) =>
    from > to ? "none" : from === to ? "one" : "many";
  for (const { key } of rowsOf(model)) {
    const parts = diagram.row(key);
    let name = text(`part_${key}`);
    if (key === "before") name = text(`before_${range(0, layer - 1)}`, { last: layer - 1 });
    if (key === "after") name = text(`after_${range(layer + 1, layers - 1)}`, { first: layer + 1, last: layers - 1 });
    if (key === "attn" && diagram.layout().wide && !sideBySide(model))
      name = text(model.parts.latent ? "attn_mla" : kv === heads ? "attn_mha" : kv === 1 ? "attn_mqa" : "attn_gqa");
    if (key === "ffn" && model.parts.ffn[layer].experts) name = text("part_experts");
    parts.label.textContent = name;
    if (parts.mark.getAttribute("role")) parts.mark.setAttribute("aria-label", text("open", { name }));
  }
  diagram.title.textContent = text("layer_of", { layer, last: layers - 1 });
  diagram.note.textContent = diagram.layout().wide ? positionOf(model, text) : "";
}

/** How positions enter where nothing is rotated. @param {import("../../types.d.ts").Model} model */
function unturned(model) {
  const { buckets, sinusoidal } = model.parts;
  return buckets ? "buckets" : hasBias(model) ? "bias" : sinusoidal ? "added" : "none";
}

/**
 * How a network knows where tokens stand, in a few words.
 *
 * @param {import("../../types.d.ts").Model} model
 * @param {Say} text of the section "overview"
 */
export function positionOf(model, text) {
  const { rotary, latent } = model.parts;
  if (!rotary) return text(`position_${unturned(model)}`);
  const turned = 2 * rotary.inv_freq.data.length;
  return text(latent ? "position_latent" : turned < model.head_dim ? "position_partial" : "position_rope", {
    turned,
    width: model.head_dim,
  });
}

/**
 * Names and shapes of the tensors.
 *
 * @param {Diagram} diagram
 * @param {import("../../readings/diagram.js").Place} run
 */
export function nameTensors(diagram, run) {
  const { wide } = diagram.layout();
  for (const { key } of rowsOf(run.trace.model)) {
    const parts = diagram.row(key);
    const { name, dims, shape } = tensorOf(key, run);
    parts.name.textContent = name;
    parts.shape.textContent = wide ? `${dims} = ${shapeText(shape)}` : shapeText(shape);
    const inner = innerShapes(key, run.trace, run.layer)
      .map(([part, size]) => `${part} ${shapeText(size)}`)
      .join(" · ");
    parts.inner.textContent = wide ? inner : "";
    // A latent's shapes are too many for the strip's width: they end where the row does.
    const { strip, limit } = diagram.layout().columns;
    const far = key === "attn" && run.trace.model.parts.latent;
    parts.inner.setAttribute("x", String(far ? limit : strip));
    parts.inner.setAttribute("text-anchor", far ? "end" : "start");
  }
}
