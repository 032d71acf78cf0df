// What the gates of a token add up to. Pure: no DOM, no store.

/** Signs of gate and up, in the order of reading: up above 0 on top, gate above 0 on the right. */
export const QUADRANTS = [[false, true], [true, true], [false, false], [true, false]];
/** Without a gate: up is not above 0, or it is. */
export const HALVES = [[false, true], [true, true]];

/** A neuron's quadrant, or half, as a saved table has it. @returns {string} */
export const signsOf = (gate, up) => (gate === null ? "" : `gate ${gate > 0 ? ">" : "<="} 0, `) + `up ${up > 0 ? ">" : "<="} 0`;

/** Which quadrant a neuron is in; 0 counts as not above 0. */
const quadrantOf = (gate, up) => (gate === null ? Number(up > 0) : QUADRANTS.findIndex(([g, u]) => g === gate > 0 && u === up > 0));

/**
 * How many neurons each quadrant has, and its share of Σ|product|; of neurons without a gate each half.
 * @param {{ gate: ArrayLike<number>|null, up: ArrayLike<number>, product: ArrayLike<number> }} neurons @returns {{ count: number, share: number }[]}
 */
export function quadrants({ gate, up, product }) {
  const found = (gate ? QUADRANTS : HALVES).map(() => ({ count: 0, share: 0 }));
  let total = 0;
  for (let i = 0; i < up.length; i++) {
    if (Number.isNaN(product[i])) continue;
    const at = found[quadrantOf(gate && gate[i], up[i])];
    const size = Math.abs(product[i]);
    at.count += 1;
    at.share += size;
    total += size;
  }
  for (const at of found) at.share /= total || 1;
  return found;
}

/** Mean over tokens of one layer's row. @param {{ shape: number[], data: ArrayLike<number> }} values (L, T) */
export function meanOf({ shape: [, tokens], data }, layer) {
  let total = 0;
  for (let t = 0; t < tokens; t++) total += data[layer * tokens + t];
  return total / tokens;
}
