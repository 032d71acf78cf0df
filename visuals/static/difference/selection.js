// What readings share: how they name what is selected, what of it they depend on, and choices that the store does not
// hold.

import { channelsOf, pairOf } from "../rotation.js";

/**
 * @typedef {import("./face.js").Run} Run
 *
 * @typedef {import("./face.js").State} State
 *
 * @typedef {import("../rotation.js").Rotary} Rotary
 */

export { atCell } from "../readings/attend.js";

/**
 * The selected cell, in a run; nothing else of the state is read.
 *
 * @param {State} state
 * @param {import("../decode.js").Trace} trace
 */
export const inRun = ({ head, query, key }, trace) => ({ head, query, key, trace });

/**
 * A place in the depth of the network and the selected token, in words.
 *
 * @param {(about: { glass: import("../types.d.ts").Glass; state: State }) => string} part
 * @returns {(about: Pick<import("./face.js").About, "text" | "named" | "glass" | "state">) => string}
 */
export const ofPlace = (part) => (about) => about.text("of_place", { part: part(about), ...about.named });
/**
 * The pairs of a network that turns its heads.
 *
 * @param {import("../decode.js").Trace} trace
 */
export const rotaryOf = ({ model }) => /** @type {Rotary} */ (model.parts.rotary);

/**
 * For a strip over the dimensions of a head: they are shown by the pair that they belong to.
 *
 * @type {Pick<import("./strips.js").StripsView<Run>, "chosen" | "pick">}
 */
export const byDimension = {
  chosen: ({ pair, trace }) => (trace.model.parts.rotary ? channelsOf(trace.model.parts.rotary, pair)[0] : null),
  pick(i, _state, { trace }) {
    const pair = pairOf(trace.model.parts.rotary, i);
    return pair === null ? {} : { pair };
  },
};
