// The numbers of one neuron, from what its activation reads to what it writes, in digits that come out.

import { ACTIVATIONS } from "../../activations.js";
import { writtenOut } from "../../equation.js";

/**
 * @typedef {object} NeuronNumbers
 * @property {number} read the gate or, where there is none, up
 * @property {number} activated
 * @property {number} up NaN where there is no gate
 * @property {number} weight of its expert, 1 where there is none
 * @property {number} product
 * @property {number} [column] the length of its column of W_down
 * @property {number} [norm] of what it writes
 *
 * @typedef {ReturnType<typeof neuronWritten>} NeuronWritten
 */

/**
 * @param {string} activation its name
 * @param {NeuronNumbers} numbers
 */
export const neuronWritten = (activation, { read, activated, up, weight, product, column = NaN, norm = NaN }) =>
  writtenOut({ read, activated, up, weight, product, column, norm }, [
    ["activated", ["read"], ACTIVATIONS[activation]],
    ["product", ["activated", "up", "weight"], (a, b, c) => a * b * c],
    ["product", ["read", "up", "weight"], (a, b, c) => ACTIVATIONS[activation](a) * b * c],
    ["norm", ["product", "column"], (a, b) => Math.abs(a) * b],
  ]);
