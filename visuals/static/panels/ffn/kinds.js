// A layer's feed-forward in names and numbers: its activation, what that reads, and a token's neurons as they are drawn. Pure.

import { inner } from "../../activations.js";
import { once } from "../../arrays.js";
import { quadrants } from "./gates.js";

const WRITTEN = { silu: "SiLU", relu: "ReLU", gelu: "GELU", gelu_new: "GELU" };
const PLAIN = [["up", "up"], ["activated", "output"]];
const GATED = [["gate", "gate"], ["activated", "gate"], ["up", "up"], ["product", "output"]];
const ROUTED = [["gate", "gate"], ["activated", "gate"], ["up", "up"], ["weight", "accent"], ["product", "output"]];

/**
 * @typedef {{ activation: string, act: string, column: string, reads: "gate"|"up", form: string, strips: [string, string][], routed: boolean }} Kind
 * `act`: the activation as it is written, `column`: as a saved table names what it gives; `reads`: what it is of; `form`: in
 * which texts tell of it, "" for a SwiGLU; `strips`: name and role of each vector, from the top
 * @param {import("../../decode.js").Ffn} ffn @returns {Kind}
 */
export function kindOf({ activation, gated, experts }) {
  const act = WRITTEN[activation];
  const routed = experts > 0;
  return {
    activation, act, column: act.toLowerCase(), reads: gated ? "gate" : "up", routed,
    form: routed ? "experts" : !gated ? "plain" : activation === "silu" ? "" : "gated",
    strips: routed ? ROUTED : gated ? GATED : PLAIN,
  };
}

/** In which form panels speak of a layer's feed-forward (frame.js). @returns {string[]} */
export function ffnForms({ parts: { ffn } }, layer) {
  const { form } = kindOf(ffn[layer]);
  return form ? [form] : [];
}

/** A vector's name. @param {string} name of `strips` @param {Kind} kind @param {Function} text glass.text */
export const vectorName = (name, { act, reads }, text) => (name === "activated" ? `${act}(${reads})` : text(`swiglu.${name}`));
/** A vector's name in a saved table and in data-value. */
export const columnOf = (name, { column }) => (name === "activated" ? column : name);

/**
 * A token's neurons as they are drawn: all of them, or those of the experts that it goes to. Vectors are by place; `index` is
 * the neuron at each place, null where that is the place itself.
 * @type {(neurons: import("../../decode.js").Neurons) => { index: Int32Array|null, gate, activated, up, weight, product: ArrayLike<number>,
 *         quadrants: { count: number, share: number }[], of: (place: number) => number, place: (neuron: number) => number, kind: Kind }}
 */
export const drawnOf = once((neurons) => {
  const full = inner(neurons);
  const index = full.weight && Int32Array.from(full.weight.keys()).filter((i) => !Number.isNaN(full.weight[i]));
  const pick = (values) => (values && index ? Float64Array.from(index, (i) => values[i]) : values);
  const found = Object.fromEntries(Object.entries(full).map(([name, values]) => [name, pick(values)]));
  return {
    ...found, index, kind: kindOf(neurons.ffn), quadrants: quadrants(found),
    of: (place) => (index ? index[place] : place),
    place: (neuron) => (index ? index.indexOf(neuron) : neuron < full.up.length ? neuron : -1),
  };
});

/** The expert of a neuron and its number there; the expert is null for the shared one. @param {import("../../decode.js").Ffn} ffn */
export function expertOf({ experts, width }, neuron) {
  const expert = Math.floor(neuron / width);
  return expert < experts ? { expert, own: neuron % width } : { expert: null, own: neuron - experts * width };
}

/** A neuron in words: its number, and where there are experts whose it is. @param {Function} text glass.text */
export function neuronName(ffn, neuron, text) {
  if (!ffn.experts) return String(neuron);
  const { expert, own } = expertOf(ffn, neuron);
  return expert === null ? text("experts.neuron_shared", { neuron: own }) : text("experts.neuron_of", { neuron: own, expert });
}

/** `neuronName` of a neuron of a layer. @param {import("../../decode.js").Model} model */
export const neuronIn = ({ parts: { ffn } }, layer, neuron, text) => neuronName(ffn[layer], neuron, text);

/** As `neuronName`, for data-value. */
export function neuronPlace(ffn, neuron) {
  if (!ffn.experts) return `neuron ${neuron}`;
  const { expert, own } = expertOf(ffn, neuron);
  return `neuron ${neuron} expert ${expert ?? "shared"} own ${own}`;
}
