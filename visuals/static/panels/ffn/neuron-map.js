// The map of a layer's strongest neurons, neurons × tokens: signed products, or which gates are open.

import { largest, once, silu, strongestNeuron } from "../../compute.js";
import { createDepthMap } from "../../marks/depth.js";
import { signedScale } from "../../marks/scales.js";
import { neuronsOff } from "../../off.js";
import { opened } from "./views.js";

const CELL = 10;

/** @typedef {{ neurons: number[], gate: { data: Float32Array }, up: { data: Float32Array } }} Answer  (K, T) each */

/** SiLU(gate)·up of every cell; made once. @type {(answer: Answer) => Float64Array} */
export const productsOf = once(({ gate, up }) => Float64Array.from(gate.data, (g, i) => silu(g) * up.data[i]));

/** The map's rows that nothing uses, as [first, count]. @param {number[]} neurons by row @param {number[]|null} off null: all of the layer */
export const unusedRows = (neurons, off) =>
  off === null ? [[0, neurons.length]] : neurons.flatMap((neuron, row) => (off.includes(neuron) ? [[row, 1]] : []));

/** The selected neuron, else the one that the chapter's other panels speak of; null while its layer is not here. */
export const spokenOf = ({ query, neuron }, { held }) => neuron ?? (held ? strongestNeuron(held, query) : null);

/** Neurons from below: the answer names the uppermost first. */
const fromBelow = ({ details: { map } }) => [...map.neurons].reverse();

/** @param {object} glass @param {string} label the key of its name */
export function createMap(glass, label) {
  let run = null;
  const step = (by) => (at) => {
    const neurons = run ? fromBelow(run) : [];
    return neurons.length ? { neuron: neurons[Math.max(0, Math.min(neurons.length - 1, neurons.indexOf(spokenOf(at, run)) + by))] } : null;
  };
  const text = (name) => glass.text(`ffn-tokens.${name}`);
  const change = () => glass.text(opened(glass) ? "minus.n_gate_open" : "minus.n_product");
  return createDepthMap(glass, {
    label,
    left: 64,
    cell: () => CELL,
    values(one) {
      const { trace: { T }, details: { map } } = (run = one);
      const last = map.neurons.length - 1;
      const cells = opened(glass) ? Float64Array.from(map.gate.data, (gate) => Number(gate > 0)) : productsOf(map);
      return cells.map((_, i) => cells[(last - Math.floor(i / T)) * T + (i % T)]);
    },
    scale: (values) => ({
      ...(opened(glass) ? { table: "magnitude", place: (open) => open, ticks: [[0, text("closed")], [1, text("open")]] } : signedScale(largest(values))),
      name: change(),
    }),
    change,
    name: (row, one) => String(fromBelow(one)[row]),
    names: (rows, _cell, { details: { map } }) => map.neurons.map((neuron, i) => [String(neuron), rows - i - 0.5]).filter((_, i) => i % 2 === 0),
    at: (state, one) => ({ row: fromBelow(one).indexOf(spokenOf(state, one)) }),
    pick: ({ row, token }, _state, one) => ({ query: token, neuron: fromBelow(one)[row] }),
    off: ({ trace, layer, details: { map } }) => unusedRows(map.neurons, neuronsOff(trace, layer)).map(([row, count]) => [map.neurons.length - row - count, count]),
    moves: { ArrowUp: step(1), ArrowDown: step(-1) },
  });
}
