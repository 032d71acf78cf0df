// What readings share: how they name what is selected, what of it they depend on, and choices that the store does not
// hold.

import { channelsOf, pairOf } from "../rotation.js";

export { atCell } from "../readings/attend.js";
export const atToken = ({ layer, query }) => `layer ${layer} token ${query}`;

/** The selected cell, in a run; nothing else of the state is read. */
export const inRun = ({ head, query, key }, trace) => ({ head, query, key, trace });

/**
 * A place in the depth of the network and the selected token, in words.
 *
 * @param {(about: object) => string} part
 */
export const ofPlace = (part) => (about) => about.text("of_place", { part: part(about), ...about.named });
/** The selected pair's dimensions, in words; of_pair, or another text that has them. */
export function ofPair({ text, state: { pair, trace } }, name = "of_pair", more = {}) {
  const [first, second] = channelsOf(trace.model.parts.rotary, pair);
  return text(name, { pair: first, second, ...more });
}

/** For a strip over the dimensions of a head: they are shown by the pair that they belong to. */
export const byDimension = {
  chosen: ({ pair, trace }) => (trace.model.parts.rotary ? channelsOf(trace.model.parts.rotary, pair)[0] : null),
  pick(i, _state, { trace }) {
    const pair = pairOf(trace.model.parts.rotary, i);
    return pair === null ? {} : { pair };
  },
};
/** For a table over the pairs of a head. */
export const byPair = { chosen: ({ pair }) => pair, pick: (pair) => ({ pair }) };
