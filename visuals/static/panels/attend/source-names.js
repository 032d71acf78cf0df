// What the writers to a stream are called in texts' section "score-terms".

/**
 * A source's text. Biases in the score's own layer are those of its norm, of q and of k; in a layer below, W_O's.
 *
 * @param {{ kind: string; layer?: number | null }} source
 * @param {number} ofLayer
 */
export const sourceKey = ({ kind, layer }, ofLayer) =>
  `source_${kind === "bias" && (layer ?? 0) < ofLayer ? "bias_below" : kind}`;
