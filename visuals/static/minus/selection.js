// What readings share: how they name what is selected, what of it they depend on, and choices that the store does not hold.

export const atCell = ({ layer, head, query, key }) => `layer ${layer} head ${head} query ${query} key ${key}`;
export const atToken = ({ layer, query }) => `layer ${layer} token ${query}`;
/** @param {"attn"|"ffn"|"final"} norm the final one belongs to no layer */
export const atNorm = (norm, { layer, query }) => (norm === "final" ? `final token ${query}` : `layer ${layer} ${norm} token ${query}`);

/** The selected cell, in a run; nothing else of the state is read. */
export const inRun = ({ head, query, key }, trace) => ({ head, query, key, trace });

/** A place in the depth of the network and the selected token, in words. @param {(about: object) => string} part */
export const ofPlace = (part) => (about) => about.text("of_place", { part: part(about), ...about.named });
/** The selected pair's dimensions, in words; of_pair, or another text that has them. */
export const ofPair = ({ text, state: { pair, trace } }, name = "of_pair", more = {}) => text(name, { pair, second: pair + trace.model.head_dim / 2, ...more });
export const ofNeuron = ({ text, chosen }) => text("of_neuron", { neuron: chosen });

/** For a strip or table over the pairs of a head, or over its dimensions, of which i and i + head_dim/2 are a pair. */
export const byPair = { chosen: ({ pair }) => pair, pick: (i, _state, { trace }) => ({ pair: i % (trace.model.head_dim / 2) }) };
