// What the panels of the first chapter read from a run.

import { channelsOf } from "../rotation.js";
import { partsOf } from "../panels/position/dials.js";
import { pairIn } from "../panels/position/rope-dials.js";
import { atCell, byDimension, byPair, inRun, ofPair, rotaryOf } from "./selection.js";
import { strips } from "./strips.js";
import { table } from "./table.js";

/**
 * @typedef {import("./face.js").Run} Run
 *
 * @typedef {import("./face.js").LayerRun} LayerRun
 *
 * @typedef {import("./face.js").State} State
 */
/**
 * @template {Run} [Of=Run]
 * @template [Chosen=number | null]
 * @typedef {import("./face.js").View<Of, Chosen>} View
 */

/** partsOf with the selection taken in this run. @param {LayerRun} run @param {State} state */
const dials = ({ held, trace }, state) => partsOf(held, inRun(state, trace));

/** @type {View<LayerRun>} */
const rope = {
  layer: true,
  lacks: (glass, { B }) => (B.model.parts.rotary ? null : glass.text("b_minus_a.same_bias")),
  without: "b_minus_a.without_dials",
  at: (state) => `pair ${state.pair} ${atCell(state)}`,
  of: (about) => ofPair(about),
  said: ["term", "sum"],
  numbers(run, state) {
    const found = dials(run, state);
    const { pair } = state;
    const named = Object.entries({ q: found.q, k: found.kBefore, q_rot: found.qTurned, k_rot: found.kTurned }).flatMap(
      ([name, vector]) => {
        const [first, second] = pairIn(vector, pair, found.rotary);
        return [
          [`${name}_first`, first],
          [`${name}_second`, second],
        ];
      },
    );
    return { term: found.terms[pair], sum: found.sum, ...Object.fromEntries(named) };
  },
  parts: (glass, text) => [
    strips({
      strips: [
        ["q", "q"],
        ["k", "k"],
        ["q_rot", "q"],
        ["k_rot", "k"],
      ],
      values: (/** @type {LayerRun} */ run, state) => {
        const { q, kBefore: k, qTurned, kTurned } = dials(run, state);
        return { q, k, q_rot: qTurned, k_rot: kTurned };
      },
      ...byDimension,
    })(glass, text),
    table({
      title: "terms",
      heading: "pair",
      values: (/** @type {LayerRun} */ run, state) => dials(run, state).terms,
      name: (pair, { trace }) => `(${channelsOf(rotaryOf(trace), pair).join(", ")})`,
      ...byPair,
    })(glass, text),
  ],
};

export default { rope };
