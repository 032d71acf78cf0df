// What readings share: how they name what is selected, what of it they depend on, and choices that the store does not hold.

export const atCell = ({ layer, head, query, key }) => `layer ${layer} head ${head} query ${query} key ${key}`;
export const onCell = ({ layer, head, query, key }) => [layer, head, query, key];
export const atToken = ({ layer, query }) => `layer ${layer} token ${query}`;
export const onToken = ({ layer, query }) => [layer, query];
/** @param {"attn"|"ffn"|"final"} norm the final one belongs to no layer */
export const atNorm = (norm, { layer, query }) => (norm === "final" ? `final token ${query}` : `layer ${layer} ${norm} token ${query}`);

/** For a strip or table over the pairs of a head, or over its dimensions, of which i and i + head_dim/2 are a pair. */
export const byPair = {
  chosen: ({ pair }) => pair,
  pick: (i, _state, { trace }) => ({ pair: i % (trace.model.head_dim / 2) }),
  on: onCell,
};

/** A choice of the panel's own, such as which sub-layer: a click keeps it, the pointer shows another while it is there. */
export function ownChoice(first) {
  let [kept, under] = [first, null];
  return {
    now: () => under ?? kept,
    keep: (value) => { kept = value; },
    hover: (value) => { under = value; },
  };
}
