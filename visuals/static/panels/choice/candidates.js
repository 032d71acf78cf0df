// B − A of what comes next: at which position two runs are compared, and the table of the tokens of either.

import { labelsOf } from "../../characters.js";
import { visible } from "../../draw.js";
import { momentOfBoth, nameInEither, namedInEither } from "../../readings/logits.js";
import { shownIn } from "../../run-for.js";

/** @typedef {import("../../types.d.ts").Glass} Glass */

/** The moment at which both are compared. @param {Glass} glass */
function momentNow(glass) {
  const { trace, locked } = shownIn(glass);
  const { A, B } = glass.sides() ?? { A: trace, B: trace }; // B − A is of two
  return momentOfBoth(A, B, locked.query);
}

/**
 * What tokenReader is asked for, but for the filters.
 *
 * @param {Glass} glass
 */
export function comparedAt(glass) {
  const { kind, at } = momentNow(glass);
  return { token: kind === "end" ? null : at, id: null };
}

/**
 * The token after which the two runs are compared, for a title.
 *
 * @param {Glass} glass
 */
export const lastName = (glass) => ({
  last: visible(labelsOf(shownIn(glass).trace.tokens.pieces)[momentNow(glass).at]),
});

/**
 * A table of tokenReader's: of the whole vocabulary, those are listed that either run was sent by name.
 *
 * @param {{ rows: string; column: string; title?: string }} which
 * @returns {import("../../difference/from-reading.js").PartView}
 */
export const candidatesPart = (which) => ({
  draw: "table",
  ...which,
  heading: "candidate",
  points: true,
  name: ({ index, a, b }) => nameInEither(index, a, b),
  order: namedInEither,
});
