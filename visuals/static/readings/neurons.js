// What a layer's feed-forward makes of one token: gate, its activation, up and their product for all neurons, or what
// it has in their place, and one neuron in numbers.

import { inner, innerOf, strongestNeuron } from "../activations.js";
import { once, onceFor } from "../arrays.js";
import { neuronPlace, ownerHeads, ownerOf } from "../neuron-names.js";
import { isChanged, neuronOff } from "../off.js";
import { columnOf, kindOf } from "./ffn-kinds.js";

/**
 * @typedef {import("../messages.d.ts").Ffn} Ffn
 *
 * @typedef {import("../decode.js").Layer} Layer
 *
 * @typedef {import("./ffn-kinds.js").Kind} Kind
 *
 * @typedef {import("./ffn-kinds.js").VectorName} VectorName
 *
 * @typedef {import("./ffn-kinds.js").Vectors} Vectors
 *
 * @typedef {import("./reading.js").Table} Table
 *
 * @typedef {Record<VectorName, number> & { neuron: number }} Neuron NaN of what the layer has not
 *
 * @typedef {object} NeuronSelection
 * @property {number} layer
 * @property {number} query
 * @property {number | null} neuron null: the strongest
 *
 * @typedef {import("./reading.js").Reading<NeuronSelection & { neuron: number }> & {
 *   ffn: Ffn;
 *   kind: Kind;
 * }} EveryReading
 *
 *
 * @typedef {EveryReading & { full: Drawn | null; strongest: Neuron[]; chosen: Neuron }} NeuronReading `full`: the
 *   token's whole vectors, null until they have come; `strongest`: the neurons that every layer brings along
 */

/** @type {VectorName[]} of any kind of feed-forward */
export const VECTORS = ["gate", "activated", "up", "weight", "product"];

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

/** @type {(neurons: import("../decode.js").Neurons) => Drawn} */
export const drawnOf = once((neurons) => {
  const full = innerOf(neurons);
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
 * One neuron of vectors.
 *
 * @param {Vectors} vectors
 * @param {number} place
 * @param {number} neuron
 * @returns {Neuron}
 */
export function neuronAt(vectors, place, neuron) {
  const [gate, activated, up, weight, product] = VECTORS.map((name) => numberAt(vectors, name, place));
  return { neuron, gate, activated, up, weight, product };
}

/**
 * The strongest neurons of a token, which every layer brings along.
 *
 * @type {(layer: Layer, token: number) => Neuron[]}
 */
const strongestOf = onceFor(({ top, ffn }, token) => {
  const count = top.neuron.shape[1];
  /** @type {(all: import("../decoded.d.ts").NumArray) => { data: ArrayLike<number> }} */
  const row = ({ data }) => ({ data: data.subarray(token * count, (token + 1) * count) });
  const vectors = inner({
    gate: top.gate && row(top.gate),
    up: row(top.up),
    weight: top.weight && row(top.weight),
    ffn,
  });
  return Array.from({ length: count }, (_, i) => neuronAt(vectors, i, top.neuron.data[token * count + i])).filter(
    ({ product }) => !Number.isNaN(product),
  );
});

/**
 * A neuron where it is here, else the strongest.
 *
 * @param {Drawn | null} full
 * @param {Neuron[]} strongest
 * @param {number | null} neuron
 */
function chosenIn(full, strongest, neuron) {
  const place = full && neuron !== null ? full.place(neuron) : -1;
  const held =
    full && neuron !== null
      ? place >= 0 && neuronAt(full, place, neuron)
      : strongest.find((one) => one.neuron === neuron);
  return held || strongest[0];
}

/**
 * The numbers of one neuron by the names of a saved table, the product last.
 *
 * @param {Kind} kind
 * @param {(name: VectorName) => number} number
 */
export function numbersOf(kind, number) {
  const factors = kind.strips.map(([name]) => name).filter((name) => name !== "product");
  const named = factors.map((name) => [columnOf(name, kind), number(name)]);
  return { ...Object.fromEntries(named), product: number("product") };
}

/**
 * A row for each neuron: whose it is, and its numbers; where a run has changes, whether it is off.
 *
 * @param {import("./reading.js").Run} run
 * @param {number} layer
 * @param {Kind} kind
 * @param {Neuron[]} neurons
 * @returns {Table}
 */
export function tableOf({ trace, held: { ffn } }, layer, kind, neurons) {
  const owners = neurons.map(({ neuron }) => ownerOf(ffn, neuron));
  const off = () => neurons.map(({ neuron }) => Number(neuronOff(trace, layer, neuron)));
  return {
    keys: {
      neuron: neurons.map(({ neuron }) => neuron),
      ...Object.fromEntries(ownerHeads(ffn).map((name, i) => [name, owners.map((owner) => owner[i])])),
    },
    columns: {
      ...Object.fromEntries(kind.strips.map(([name]) => [columnOf(name, kind), neurons.map((one) => one[name])])),
      ...(isChanged(trace) && { off: off() }),
    },
  };
}

/**
 * A token's neurons as far as they are here, and one of them: until all have come, and in the place of one that
 * computes nothing for the token, the strongest.
 *
 * @type {import("./reading.js").Reader<NeuronReading, NeuronSelection>}
 */
export const neuronsReader = {
  layer: true,
  read(run, selection) {
    const { layer, query, neuron } = selection;
    /** @type {Layer} */
    const held = run.held;
    const { ffn } = held;
    const kind = kindOf(ffn);
    const neurons = held.neurons.get(query);
    const full = neurons ? drawnOf(neurons) : null;
    const strongest = strongestOf(held, query);
    const chosen = chosenIn(full, strongest, neuron);
    const every = () => (full ? Array.from(full.up, (_, i) => neuronAt(full, i, full.of(i))) : strongest);
    return {
      selection: { ...selection, neuron: chosen.neuron },
      ffn,
      kind,
      full,
      strongest,
      chosen,
      at: neuronPlace(ffn, chosen.neuron),
      values: numbersOf(kind, (name) => chosen[name]),
      rows: { neurons: () => tableOf(run, layer, kind, every()) },
    };
  },
};

/**
 * The vectors that a layer has, a row for each of its neurons. They are named alike whatever the activation is: two
 * runs may have two.
 *
 * @param {Vectors} vectors
 * @returns {Table}
 */
function columnsOf(vectors) {
  const columns = VECTORS.flatMap((name) => (vectors[name] ? [[name, vectors[name]]] : []));
  return { keys: { neuron: Array.from(vectors.product ?? [], (_, i) => i) }, columns: Object.fromEntries(columns) };
}

/**
 * All neurons of the layer, with those that compute nothing for the token: so those of two runs stand side by side.
 *
 * @type {import("./reading.js").Reader<EveryReading, NeuronSelection>}
 */
export const everyNeuron = {
  layer: true,
  neurons: true,
  read({ held }, selection) {
    const { layer, query } = selection;
    const { ffn } = held;
    const kind = kindOf(ffn);
    /** @type {Vectors} */
    const vectors = innerOf(held.neurons.get(query));
    const neuron = selection.neuron ?? strongestNeuron(held, query);
    return {
      selection: { ...selection, neuron },
      ffn,
      kind,
      at: `layer ${layer} token ${query} ${neuronPlace(ffn, neuron)}`,
      values: numbersOf(kind, (name) => numberAt(vectors, name, neuron)),
      rows: { neurons: () => columnsOf(vectors) },
    };
  },
};
