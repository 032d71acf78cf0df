// The map of what norms divide by, or subtract, layers × tokens: which value a cell holds, and which norm is looked at.

import { largest } from "../../arrays.js";
import { createDepthMap } from "../../marks/depth.js";
import { logScale, signedScale } from "../../marks/scales.js";
import { centres } from "../../parts.js";
import { ownChoice } from "../../pointed.js";
import { indexOf, normAt, normCount, perLayer } from "../../readings/norm-places.js";
import { normPlaces } from "../../readings/norm.js";
import { shownIn } from "../../run-for.js";
import { chosenNorm, setNorm } from "./norm-choice.js";

const LINE = 18; // height of a row's name

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Model} Model
 *
 * @typedef {import("../../readings/norm.js").FiguresSelection} FiguresSelection
 */

/** Under the pointer; what is kept is the panels' common setting. */
const pointed = ownChoice(/** @type {FiguresSelection | null} */ (null));
/**
 * What is looked at.
 *
 * @param {{ layer: number; query: number }} place
 * @param {Glass} glass
 * @returns {FiguresSelection}
 */
export const selectedNorm = ({ layer, query }, glass) =>
  pointed.now() ?? { layer, norm: chosenNorm(glass), token: query };
/**
 * @param {Glass} glass
 * @param {import("../../readings/norm-places.js").Norm} norm
 */
export const normName = (glass, { layer, norm }) =>
  norm === "final" ? glass.text("rmsnorm.final") : glass.text(`b_minus_a.norm_${norm}`, { layer });

/**
 * One norm up or down the network.
 *
 * @type {(glass: Glass, by: number) => import("../../pointing.js").Move}
 */
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
 * @param {Glass} glass
 * @param {number} rows
 * @param {number} cell height of a row
 * @param {number} per norms of a layer
 * @returns {[string, number][]}
 */
function names(glass, rows, cell, per) {
  const every = Math.ceil(LINE / (per * cell));
  const layers = Array.from({ length: Math.ceil((rows - 1) / per / every) }, (_, i) => i * every);
  /** @type {(layer: number) => [string, number]} */
  const nameAt = (layer) => [glass.text("rmsnorm.layer", { layer }), per * (layer + 0.5)];
  return [...layers.map(nameAt), [glass.text("rmsnorm.final"), rows - 0.5]];
}

/**
 * @param {Glass} glass
 * @param {string} label the key of its name
 * @param {() => "divisor" | "mean"} shown which of the two figures
 */
export function createMap(glass, label, shown = () => "divisor") {
  const what = () => (shown() === "mean" ? "mean" : centres(shownIn(glass).trace.model) ? "deviation" : "rms");
  return createDepthMap(glass, {
    label,
    cell: (rows) => Math.max(6, Math.min(14, Math.floor(300 / rows))),
    values: ({ trace }) => normPlaces(trace).columns[what()],
    scale: (values) => ({
      ...(shown() === "mean" ? signedScale(largest(values)) : logScale(values)),
      name: glass.text({ rms: "rmsnorm.scale", mean: "rmsnorm.scale_mean", deviation: "rmsnorm.scale_layer" }[what()]),
    }),
    // A scale of logarithms has room for a sink's spike; one from −limit to +limit has none for anything beside it.
    apart: ({ trace }, single) => (single && shown() === "divisor" ? [] : trace.sinks),
    change: () => glass.text(`b_minus_a.n_${what()}`),
    name: (row, { trace }) => normName(glass, normAt(row, trace.model)),
    names: (rows, cell, { trace }) => names(glass, rows, cell, perLayer(trace.model)),
    at(state, { trace }) {
      const { token, ...norm } = selectedNorm(state, glass);
      return { row: indexOf(norm, trace.model), token };
    },
    pick({ row, token }, _state, { trace }) {
      const { layer } = normAt(row, trace.model);
      const here = layer !== null && trace.layers.has(layer); // hovering never asks the server
      return here ? { layer, query: token } : { query: token };
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
