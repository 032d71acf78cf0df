// A layer's feed-forward in names and numbers: its activation, what that reads, a token's neurons as they are drawn,
// and what its gates add up to. Pure.

import { inner } from "../../activations.js";
import { once } from "../../arrays.js";

/**
 * @typedef {import("../../messages.d.ts").Ffn} Ffn
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {"gate" | "activated" | "up" | "weight" | "product"} VectorName
 *
 * @typedef {[name: VectorName, role: string]} StripOf a vector as it is drawn
 *
 * @typedef {Record<VectorName, ArrayLike<number> | null>} Vectors those that a layer has
 */

/** @type {Record<string, string>} */
const WRITTEN = { silu: "SiLU", relu: "ReLU", gelu: "GELU", gelu_new: "GELU" };
/** @type {StripOf[]} */
const PLAIN = [
  ["up", "up"],
  ["activated", "output"],
];
/** @type {StripOf[]} */
const GATED = [
  ["gate", "gate"],
  ["activated", "gate"],
  ["up", "up"],
  ["product", "output"],
];
/** @type {StripOf[]} */
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
 *   strips: StripOf[];
 *   routed: boolean;
 * }} Kind
 *   `act`: the activation as it is written, `column`: as a saved table names what it gives; `reads`: what it is of;
 *   `form`: in which texts tell of it, "" for a SwiGLU; `strips`: name and role of each vector, from the top
 * @param {Ffn} ffn
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
 * @param {import("../../types.d.ts").Model} model
 * @param {number} layer
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
 * @param {Say} text glass.text
 */
export const vectorName = (name, { act, reads }, text) =>
  name === "activated" ? `${act}(${reads})` : text(`swiglu.${name}`);
/**
 * A vector's name in a saved table and in data-value.
 *
 * @param {string} name
 * @param {Kind} kind
 */
export const columnOf = (name, { column }) => (name === "activated" ? column : name);

/**
 * A vector's number at a place; NaN where there is none.
 *
 * @param {Vectors} vectors
 * @param {VectorName} name
 * @param {number} place
 */
export const numberAt = (vectors, name, place) => vectors[name]?.[place] ?? NaN;

/**
 * A token's neurons as they are drawn: all of them, or those of the experts that it goes to. Vectors are by place.
 *
 * @typedef {object} Drawn
 * @property {Int32Array | null} index the neuron at each place, null where that is the place itself
 * @property {ArrayLike<number> | null} gate
 * @property {ArrayLike<number>} activated
 * @property {ArrayLike<number>} up
 * @property {ArrayLike<number> | null} weight
 * @property {ArrayLike<number>} product
 * @property {{ count: number; share: number }[]} quadrants
 * @property {(place: number) => number} of
 * @property {(neuron: number) => number} place
 * @property {Kind} kind
 */

/** @type {(neurons: import("../../decode.js").Neurons) => Drawn} */
export const drawnOf = once((neurons) => {
  const full = inner(neurons);
  const { weight } = full;
  const index = weight && Int32Array.from(weight, (_, i) => i).filter((i) => !Number.isNaN(weight[i]));
  /** @type {(values: ArrayLike<number>) => ArrayLike<number>} */
  const pick = (values) => (index ? Float64Array.from(index, (i) => values[i]) : values);
  const found = {
    gate: full.gate && pick(full.gate),
    up: pick(full.up),
    weight: weight && pick(weight),
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
 * @param {number | null} gate
 * @param {number} up
 * @returns {string}
 */
export const signsOf = (gate, up) =>
  (gate === null ? "" : `gate ${gate > 0 ? ">" : "<="} 0, `) + `up ${up > 0 ? ">" : "<="} 0`;

/**
 * Which quadrant a neuron is in; 0 counts as not above 0.
 *
 * @param {number | null} gate
 * @param {number} up
 */
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
 * @param {number} layer
 */
export function meanOf({ shape: [, tokens], data }, layer) {
  let total = 0;
  for (let t = 0; t < tokens; t++) total += data[layer * tokens + t];
  return total / tokens;
}
