// The map of a layer's strongest neurons, neurons × tokens: signed products, or which gates are open: one choice for
// every run, kept in the link.

import { largest } from "../../arrays.js";
import { segmented } from "../../controls.js";
import { createDepthMap } from "../../marks/depth.js";
import { signedScale } from "../../marks/scales.js";
import { neuronsOff } from "../../off.js";
import { expertOf } from "../../neuron-names.js";
import { cellsOf, openCells, spokenOf } from "../../readings/firing.js";
import { shownIn } from "../../run-for.js";
import { kindOf } from "../../readings/ffn-kinds.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../pointing.js").Move} Move
 */

const CELL = 10;
const KIND = "ffn-tokens";
const VIEWS = ["product", "gates"];

/**
 * Whether the map shows which gates are open.
 *
 * @param {Pick<Glass, "settings">} glass
 * @returns {boolean}
 */
export const opened = ({ settings }) => settings.get("ffn").view === VIEWS[1];

/**
 * @param {Glass} glass
 * @returns {{ element: HTMLElement; mark: () => void }}
 */
export function createViews(glass) {
  const { element, mark } = segmented(VIEWS, {
    label: `${KIND}.colours`,
    text: (name) => `${KIND}.${name}`,
    look: "gp-tab",
    group: "div.gp-tabs.ffn-tabs",
    choose: (name) => glass.settings.set("ffn", { view: name === VIEWS[0] ? "" : name }),
  });
  return { element, mark: () => mark(VIEWS[Number(opened(glass))]) };
}

/**
 * @typedef {import("../../readings/reading.js").Run & { layer: number }} MapRun with its layer held, or null before
 *   it has come, and the answer "ffn_map" as `map`
 */

/**
 * The map's rows that nothing uses, as [first, count].
 *
 * @param {number[]} neurons by row
 * @param {number[] | null} off null: all of the layer
 * @returns {[number, number][]}
 */
export const unusedRows = (neurons, off) =>
  off === null ? [[0, neurons.length]] : neurons.flatMap((neuron, row) => (off.includes(neuron) ? [[row, 1]] : []));

/**
 * A row's name: the neuron's number, and before it that of its expert.
 *
 * @param {number} neuron
 * @param {MapRun} run
 */
function short(neuron, { trace, layer }) {
  const ffn = trace.model.parts.ffn[layer];
  if (!ffn.experts) return String(neuron);
  const { expert, own } = expertOf(ffn, neuron);
  return `${expert ?? "+"}·${own}`;
}

/** A run's neurons, the uppermost first. @type {(run: MapRun) => number[]} */
const neuronsOf = ({ details }) => details.map.neurons;
/** The same from below. @param {MapRun} run */
const fromBelow = (run) => [...neuronsOf(run)].reverse();

/**
 * @param {Glass} glass
 * @param {string} label the key of its name
 */
export function createMap(glass, label) {
  /** @type {MapRun | null} */
  let run = null;
  /** @type {(by: number) => Move} */
  const step = (by) => (at) => {
    const neurons = run ? fromBelow(run) : [];
    const from = run ? neurons.indexOf(spokenOf(at, run) ?? -1) : 0;
    return neurons.length ? { neuron: neurons[Math.max(0, Math.min(neurons.length - 1, from + by))] } : null;
  };
  const kind = () => kindOf(shownIn(glass).trace.model.parts.ffn[run?.layer ?? 0]);
  const text = (/** @type {string} */ name) => glass.text(`ffn-tokens.${name}`, kind());
  const change = () => glass.text(opened(glass) ? "b_minus_a.n_gate_open" : "b_minus_a.n_product", kind());
  return createDepthMap(glass, {
    label,
    left: 64,
    cell: () => CELL,
    /** @param {MapRun} one */
    values(one) {
      const {
        trace: { T },
        details: { map },
      } = (run = one);
      const last = map.neurons.length - 1;
      const ffn = one.trace.model.parts.ffn[one.layer];
      const cells = opened(glass) ? openCells(map) : cellsOf(map, ffn).product;
      return cells.map((_, i) => cells[(last - Math.floor(i / T)) * T + (i % T)]);
    },
    scale: (values) => ({
      ...(opened(glass)
        ? {
            table: "magnitude",
            place: (open) => open,
            ticks: [
              [0, text("closed")],
              [1, text("open")],
            ],
          }
        : signedScale(largest(values))),
      name: change(),
    }),
    apart: ({ trace }) => (opened(glass) ? [] : trace.sinks),
    change,
    name: (row, one) => short(fromBelow(one)[row], one),
    names: (rows, _cell, one) =>
      neuronsOf(one)
        .map((neuron, i) => /** @type {[string, number]} */ ([short(neuron, one), rows - i - 0.5]))
        .filter((_, i) => i % 2 === 0),
    at: (state, one) => ({ row: fromBelow(one).indexOf(spokenOf(state, one) ?? -1) }),
    pick: ({ row, token }, _state, one) => ({ query: token, neuron: fromBelow(one)[row] }),
    off: ({ trace, layer, details: { map } }) =>
      unusedRows(map.neurons, neuronsOff(trace, layer)).map(([row, count]) => [
        map.neurons.length - row - count,
        count,
      ]),
    moves: { ArrowUp: step(1), ArrowDown: step(-1) },
  });
}
