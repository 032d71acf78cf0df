// How sparsely layers fire.

/**
 * Mean over tokens of one layer's row.
 *
 * @param {{ shape: number[]; data: ArrayLike<number> }} values (L, T)
 * @param {number} layer
 */
export function meanOf({ shape: [, tokens], data }, layer) {
  let total = 0;
  for (let t = 0; t < tokens; t++) total += data[layer * tokens + t];
  return total / tokens;
}
