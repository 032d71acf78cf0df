// What a feed-forward's neurons make of what they read, in double precision. Pure: no DOM, no store.

import { once } from "./arrays.js";

/** @typedef {{ data: ArrayLike<number> }} Values of one token, so that their shape says nothing */

/**
 * SiLU(x) = x·sigmoid(x).
 *
 * @param {number} x
 * @returns {number}
 */
export const silu = (x) => x / (1 + Math.exp(-x));

/**
 * The error function, by the series of Abramowitz and Stegun 7.1.6, all of whose terms are positive.
 *
 * @param {number} x
 */
export function erf(x) {
  if (Math.abs(x) > 6) return Math.sign(x);
  let [term, sum] = [x, x];
  for (let n = 1; Math.abs(term) > Math.abs(sum) * 1e-17; n++) sum += term *= (2 * x * x) / (2 * n + 1);
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

/**
 * What the network's activations are called, and what they give.
 *
 * @type {Record<string, (x: number) => number>}
 */
export const ACTIVATIONS = {
  silu,
  relu: (x) => Math.max(0, x),
  gelu: (x) => (x / 2) * (1 + erf(x / Math.SQRT2)),
  gelu_new: (x) => (x / 2) * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
};

/** @param {number} x */
const sigmoid = (x) => 1 / (1 + Math.exp(-x));
/** @param {number} x */
const siluSlope = (x) => sigmoid(x) * (1 + x * (1 - sigmoid(x)));
const SHORT = 1.702; // of the short form of GELU
const ROOT = Math.sqrt(2 / Math.PI);

/** @param {number} x */
function geluTanhSlope(x) {
  const bend = Math.tanh(ROOT * (x + 0.044715 * x ** 3));
  return (1 + bend) / 2 + (x / 2) * (1 - bend * bend) * ROOT * (1 + 3 * 0.044715 * x * x);
}

/**
 * All functions of model/replaced/activations.py, and what each is written as.
 *
 * @type {Record<string, { name: string; f: (x: number) => number; slope: (x: number) => number }>}
 */
export const BENDS = {
  relu: { name: "ReLU", f: ACTIVATIONS.relu, slope: (x) => (x > 0 ? 1 : 0) },
  silu: { name: "SiLU", f: silu, slope: siluSlope },
  gelu: {
    name: "GELU",
    f: ACTIVATIONS.gelu,
    slope: (x) => (1 + erf(x / Math.SQRT2)) / 2 + (x * ROOT * Math.exp((-x * x) / 2)) / 2,
  },
  gelu_new: { name: "GELU_tanh", f: ACTIVATIONS.gelu_new, slope: geluTanhSlope },
  gelu_sigmoid: { name: "x·σ(1.702x)", f: (x) => x * sigmoid(SHORT * x), slope: (x) => siluSlope(SHORT * x) },
  sigmoid: { name: "σ", f: sigmoid, slope: (x) => sigmoid(x) * (1 - sigmoid(x)) },
};

/**
 * The neuron with the largest activation at a token: what panels speak of where none is selected.
 *
 * @param {{ top: { neuron: import("./decoded.d.ts").NumArray } }} layer whose strongest neurons are (T, K)
 * @param {number} token
 * @returns {number}
 */
export const strongestNeuron = ({ top: { neuron } }, token) => neuron.data[token * neuron.shape[1]];

/**
 * What neurons make of what they read: `activated`, the activation of the gate or, where there is none, of up;
 * `product`, what scales their columns of W_down. NaN marks a neuron of an expert that the token does not go to.
 *
 * @param {{ gate: Values | null; up: Values; weight: Values | null; ffn: { activation: string } }} neurons
 * @returns {{
 *   gate: ArrayLike<number> | null;
 *   up: ArrayLike<number>;
 *   weight: ArrayLike<number> | null;
 *   activated: Float64Array;
 *   product: Float64Array;
 * }}
 */
export function inner({ gate, up, weight, ffn: { activation } }) {
  const activated = Float64Array.from((gate ?? up).data, ACTIVATIONS[activation]);
  const product = gate ? activated.map((x, i) => x * up.data[i]) : Float64Array.from(activated);
  if (weight) for (let i = 0; i < product.length; i++) product[i] *= weight.data[i];
  return { gate: gate && gate.data, up: up.data, weight: weight && weight.data, activated, product };
}

/** `inner`, worked out once for each. */
export const innerOf = once(inner);
