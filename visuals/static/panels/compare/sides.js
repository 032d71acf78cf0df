// The two runs that this chapter lays beside each other.

/**
 * Both runs, of a network with two stacks as what writes them: a run without a choice has nothing to compare. Null
 * where there are not two.
 *
 * @param {import("../../types.d.ts").Glass} glass
 * @returns {import("../../readings/reading.js").Sides | null}
 */
export function sidesNow(glass) {
  const two = glass.sides();
  return two && { A: two.A.whole ?? two.A, B: two.B.whole ?? two.B };
}
