// A layer's feed-forward in names and numbers: its activation, what that reads, a token's neurons as they are drawn,
// and what its gates add up to. Pure.

import { inner } from "../../activations.js";
import { once } from "../../arrays.js";

const WRITTEN = { silu: "SiLU", relu: "ReLU", gelu: "GELU", gelu_new: "GELU" };
/** @type {[string, string][]} */
const PLAIN = [
  ["up", "up"],
  ["activated", "output"],
];
/** @type {[string, string][]} */
const GATED = [
  ["gate", "gate"],
  ["activated", "gate"],
  ["up", "up"],
  ["product", "output"],
];
/** @type {[string, string][]} */
const ROUTED = [
  ["gate", "gate"],
  ["activated", "gate"],
  ["up", "up"],
  ["weight", "accent"],
  ["product", "output"],
];

/**
 * @typedef {{
 *   activation: string;
 *   act: string;
 *   column: string;
 *   reads: "gate" | "up";
 *   form: string;
 *   strips: [string, string][];
 *   routed: boolean;
 * }} Kind
 *   `act`: the activation as it is written, `column`: as a saved table names what it gives; `reads`: what it is of;
 *   `form`: in which texts tell of it, "" for a SwiGLU; `strips`: name and role of each vector, from the top
 * @param {import("../../messages.d.ts").Ffn} ffn
 * @returns {Kind}
 */
export function kindOf({ activation, gated, experts }) {
  const act = WRITTEN[activation];
  const routed = experts > 0;
  return {
    activation,
    act,
    column: act.toLowerCase(),
    reads: gated ? "gate" : "up",
    routed,
    form: routed ? "experts" : !gated ? "plain" : activation === "silu" ? "" : "gated",
    strips: routed ? ROUTED : gated ? GATED : PLAIN,
  };
}

/**
 * In which form panels speak of a layer's feed-forward (frame.js).
 *
 * @returns {string[]}
 */
export function ffnForms({ parts: { ffn } }, layer) {
  const { form } = kindOf(ffn[layer]);
  return form ? [form] : [];
}

/**
 * A vector's name.
 *
 * @param {string} name of `strips`
 * @param {Kind} kind
 * @param {Function} text glass.text
 */
export const vectorName = (name, { act, reads }, text) =>
  name === "activated" ? `${act}(${reads})` : text(`swiglu.${name}`);
/** A vector's name in a saved table and in data-value. */
export const columnOf = (name, { column }) => (name === "activated" ? column : name);

/**
 * A token's neurons as they are drawn: all of them, or those of the experts that it goes to. Vectors are by place;
 * `index` is the neuron at each place, null where that is the place itself.
 *
 * @type {(neurons: import("../../decode.js").Neurons) => {
 *   index: Int32Array | null;
 *   gate: ArrayLike<number> | null;
 *   activated: ArrayLike<number>;
 *   up: ArrayLike<number>;
 *   weight: ArrayLike<number> | null;
 *   product: ArrayLike<number>;
 *   quadrants: { count: number; share: number }[];
 *   of: (place: number) => number;
 *   place: (neuron: number) => number;
 *   kind: Kind;
 * }}
 */
export const drawnOf = once((neurons) => {
  const full = inner(neurons);
  const index = full.weight && Int32Array.from(full.weight, (_, i) => i).filter((i) => !Number.isNaN(full.weight[i]));
  const pick = (values) => (values && index ? Float64Array.from(index, (i) => values[i]) : values);
  const found = {
    gate: pick(full.gate),
    up: pick(full.up),
    weight: pick(full.weight),
    activated: pick(full.activated),
    product: pick(full.product),
  };
  return {
    ...found,
    index,
    kind: kindOf(neurons.ffn),
    quadrants: quadrants(found),
    of: (place) => (index ? index[place] : place),
    place: (neuron) => (index ? index.indexOf(neuron) : neuron < full.up.length ? neuron : -1),
  };
});

/**
 * Signs of gate and up, in the order of reading: up above 0 on top, gate above 0 on the right.
 *
 * @type {[boolean, boolean][]}
 */
export const QUADRANTS = [
  [false, true],
  [true, true],
  [false, false],
  [true, false],
];
/**
 * Without a gate: up is not above 0, or it is.
 *
 * @type {[boolean, boolean][]}
 */
export const HALVES = [
  [false, true],
  [true, true],
];

/**
 * A neuron's quadrant, or half, as a saved table has it.
 *
 * @returns {string}
 */
export const signsOf = (gate, up) =>
  (gate === null ? "" : `gate ${gate > 0 ? ">" : "<="} 0, `) + `up ${up > 0 ? ">" : "<="} 0`;

/** Which quadrant a neuron is in; 0 counts as not above 0. */
const quadrantOf = (gate, up) =>
  gate === null ? Number(up > 0) : QUADRANTS.findIndex(([g, u]) => g === gate > 0 && u === up > 0);

/**
 * How many neurons each quadrant has, and its share of Σ|product|; of neurons without a gate each half.
 *
 * @param {{ gate: ArrayLike<number> | null; up: ArrayLike<number>; product: ArrayLike<number> }} neurons
 * @returns {{ count: number; share: number }[]}
 */
export function quadrants({ gate, up, product }) {
  const found = (gate ? QUADRANTS : HALVES).map(() => ({ count: 0, share: 0 }));
  let total = 0;
  for (let i = 0; i < up.length; i++) {
    if (Number.isNaN(product[i])) continue;
    const at = found[quadrantOf(gate && gate[i], up[i])];
    const size = Math.abs(product[i]);
    at.count += 1;
    at.share += size;
    total += size;
  }
  for (const at of found) at.share /= total || 1;
  return found;
}

/**
 * Mean over tokens of one layer's row.
 *
 * @param {{ shape: number[]; data: ArrayLike<number> }} values (L, T)
 */
export function meanOf({ shape: [, tokens], data }, layer) {
  let total = 0;
  for (let t = 0; t < tokens; t++) total += data[layer * tokens + t];
  return total / tokens;
}
