// The map of what norms divide by, or subtract, layers × tokens: which value a cell holds, and which norm is looked at.

import { largest } from "../../arrays.js";
import { createDepthMap } from "../../marks/depth.js";
import { logScale, signedScale } from "../../marks/scales.js";
import { centres } from "../../parts.js";
import { ownChoice } from "../../pointed.js";
import { indexOf, normAt, normCount, perLayer } from "../../readings/norm-places.js";
import { normPlaces } from "../../readings/norm.js";
import { chosenNorm, setNorm } from "./norm-choice.js";

const LINE = 18; // height of a row's name

const pointed = ownChoice(null); // under the pointer; what is kept is the panels' common setting
/**
 * What is looked at.
 *
 * @returns {import("../../readings/norm.js").FiguresSelection}
 */
export const selectedNorm = ({ layer, query }, glass) =>
  pointed.now() ?? { layer, norm: chosenNorm(glass), token: query };
export const normName = (glass, { layer, norm }) =>
  norm === "final" ? glass.text("rmsnorm.final") : glass.text(`b_minus_a.norm_${norm}`, { layer });

/** One norm up or down the network. */
const step =
  (glass, by) =>
  ({ layer, trace: { model } }) => {
    const row = indexOf({ layer, norm: chosenNorm(glass) }, model) + by;
    const next = normAt(Math.max(0, Math.min(normCount(model) - 1, row)), model);
    pointed.hover(null);
    setNorm(glass, { which: next.norm });
    return next.layer === null ? {} : { layer: next.layer };
  };

/**
 * Each layer's name between its rows, where there is room, and the final norm's above them.
 *
 * @returns {[string, number][]}
 */
function names(glass, rows, cell, per) {
  const every = Math.ceil(LINE / (per * cell));
  const layers = Array.from({ length: Math.ceil((rows - 1) / per / every) }, (_, i) => i * every);
  const nameAt = (layer) =>
    /** @type {[string, number]} */ ([glass.text("rmsnorm.layer", { layer }), per * (layer + 0.5)]);
  return [...layers.map(nameAt), [glass.text("rmsnorm.final"), rows - 0.5]];
}

/**
 * @param {import("../../types.d.ts").Glass} glass
 * @param {string} label the key of its name
 * @param {() => "divisor" | "mean"} shown which of the two figures
 */
export function createMap(glass, label, shown = () => "divisor") {
  const what = () => (shown() === "mean" ? "mean" : centres(glass.state.trace.model) ? "deviation" : "rms");
  return createDepthMap(glass, {
    label,
    cell: (rows) => Math.max(6, Math.min(14, Math.floor(300 / rows))),
    values: (/** @type {import("../../readings/reading.js").Run} */ { trace }) => normPlaces(trace).columns[what()],
    scale: (values) => ({
      ...(shown() === "mean" ? signedScale(largest(values)) : logScale(values)),
      name: glass.text({ rms: "rmsnorm.scale", mean: "rmsnorm.scale_mean", deviation: "rmsnorm.scale_layer" }[what()]),
    }),
    change: () => glass.text(`b_minus_a.n_${what()}`),
    name: (row, { trace }) => normName(glass, normAt(row, trace.model)),
    names: (rows, cell, { trace }) => names(glass, rows, cell, perLayer(trace.model)),
    at(state, { trace }) {
      const { token, ...norm } = selectedNorm(state, glass);
      return { row: indexOf(norm, trace.model), token };
    },
    pick({ row, token }, _state, { trace }) {
      const { layer } = normAt(row, trace.model);
      return trace.layers.has(layer) ? { layer, query: token } : { query: token }; // hovering never asks the server
    },
    hover: (place, run) => pointed.hover(place && { ...normAt(place.row, run.trace.model), token: place.token }),
    keep({ row, token }, { trace }) {
      const { layer, norm } = normAt(row, trace.model);
      pointed.hover(null);
      setNorm(glass, { which: norm });
      glass.select(layer === null ? { query: token } : { layer, query: token });
    },
    moves: { ArrowUp: step(glass, 1), ArrowDown: step(glass, -1) },
  });
}
