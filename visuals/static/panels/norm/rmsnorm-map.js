// The map of the RMS values, layers × tokens: which value a cell holds, and which norm is looked at.

import { createDepthMap } from "../../marks/depth.js";
import { logScale } from "../../marks/scales.js";
import { ownChoice } from "../../pointed.js";
import { chosenNorm, setNorm } from "./norm-choice.js";

const NORMS = ["attn", "ffn"];
const LINE = 18; // height of a row's name

/** @typedef {{ layer: number|null, norm: "attn"|"ffn"|"final" }} Norm  the final norm belongs to no layer */

/** Rows of the map: two a layer, and the final norm. */
export const rowCount = (layers) => 2 * layers + 1;

/** Row from below, in the order of the computation: attn and ffn of layer 0, of layer 1, …, the final norm. @returns {Norm} */
export const normAt = (row, layers) => (row === 2 * layers ? { layer: null, norm: "final" } : { layer: Math.floor(row / 2), norm: NORMS[row % 2] });

/** The row that normAt reads back. @param {Norm} norm @returns {number} */
export const rowOf = ({ layer, norm }, layers) => (norm === "final" ? 2 * layers : 2 * layer + NORMS.indexOf(norm));

/** @param {Norm} place @returns {number} the RMS before that norm */
export function rmsAt({ rms, T }, { layer, norm }, token) {
  return norm === "final" ? rms.final.data[token] : rms[norm].data[layer * T + token];
}

const pointed = ownChoice(null); // under the pointer; what is kept is the panels' common setting
/** What is looked at. @returns {Norm & { token: number }} */
export const selectedNorm = ({ layer, query }, glass) => pointed.now() ?? { layer, norm: chosenNorm(glass), token: query };
export const normName = (glass, { layer, norm }) => (norm === "final" ? glass.text("rmsnorm.final") : glass.text(`minus.norm_${norm}`, { layer }));

/** One norm up or down the network. */
const step = (glass, by) => ({ layer, trace: { model: { n_layers } } }) => {
  const row = rowOf({ layer, norm: chosenNorm(glass) }, n_layers) + by;
  const next = normAt(Math.max(0, Math.min(2 * n_layers, row)), n_layers);
  pointed.hover(null);
  setNorm(glass, { which: next.norm });
  return next.layer === null ? {} : { layer: next.layer };
};

/** Each layer's name between its two rows, where there is room, and the final norm's above them. @returns {[string, number][]} */
function names(glass, rows, cell) {
  const every = Math.ceil(LINE / (2 * cell));
  const layers = Array.from({ length: Math.ceil((rows - 1) / 2 / every) }, (_, i) => i * every);
  return [...layers.map((layer) => [glass.text("rmsnorm.layer", { layer }), 2 * layer + 1]), [glass.text("rmsnorm.final"), rows - 0.5]];
}

/** @param {object} glass @param {string} label the key of its name */
export const createMap = (glass, label) =>
  createDepthMap(glass, {
    label,
    cell: (rows) => Math.max(6, Math.min(14, Math.floor(300 / rows))),
    values: ({ trace: { model, T }, trace }) =>
      Float64Array.from({ length: rowCount(model.n_layers) * T }, (_, i) => rmsAt(trace, normAt(Math.floor(i / T), model.n_layers), i % T)),
    scale: (values) => ({ ...logScale(values), name: glass.text("rmsnorm.scale") }),
    change: () => glass.text("minus.n_rms"),
    name: (row, { trace }) => normName(glass, normAt(row, trace.model.n_layers)),
    names: (rows, cell) => names(glass, rows, cell),
    at(state, { trace }) {
      const { token, ...norm } = selectedNorm(state, glass);
      return { row: rowOf(norm, trace.model.n_layers), token };
    },
    pick({ row, token }, _state, { trace }) {
      const { layer } = normAt(row, trace.model.n_layers);
      return trace.layers.has(layer) ? { layer, query: token } : { query: token }; // hovering never asks the server
    },
    hover: (place, run) => pointed.hover(place && { ...normAt(place.row, run.trace.model.n_layers), token: place.token }),
    keep({ row, token }, { trace }) {
      const { layer, norm } = normAt(row, trace.model.n_layers);
      pointed.hover(null);
      setNorm(glass, { which: norm });
      glass.select(layer === null ? { query: token } : { layer, query: token });
    },
    moves: { ArrowUp: step(glass, 1), ArrowDown: step(glass, -1) },
  });
