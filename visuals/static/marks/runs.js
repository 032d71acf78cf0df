// The runs that a mark draws: one, or A and B.

/**
 * @typedef {import("../decode.js").Trace} Trace
 *
 * @typedef {{
 *   trace: Trace;
 *   layer?: number;
 *   held?: import("../decode.js").Layer | null;
 *   neurons?: import("../decode.js").Neurons | null;
 *   details?: Record<string, unknown>;
 * }} Run
 *   one run, its selected layer, the selected token's neurons there, and what the server was asked about it
 */
/**
 * A run with the answers that are drawn, by name.
 *
 * @template {Record<string, unknown>} Answers
 * @typedef {Run & { details: Answers }} RunWith
 */

/**
 * The run that a mark names places by: of A and B, B.
 *
 * @template Of
 * @param {Of[]} runs one, or A and B
 * @returns {Of}
 */
export const newest = (runs) => runs[runs.length - 1];

/** @param {Run[]} runs */
const partsOf = (runs) =>
  runs.flatMap(({ trace, held, neurons, details = {} }) => [trace, held, neurons, ...Object.values(details)]);

/**
 * The runs of the last call where they are the same, part by part.
 *
 * @template {Run} Of
 * @returns {(runs: Of[]) => Of[]}
 */
export function createMemory() {
  /** @type {Of[]} */
  let last = [];
  return (runs) => {
    const [old, now] = [last, runs].map(partsOf);
    if (old.length !== now.length || now.some((value, i) => !Object.is(value, old[i]))) last = runs;
    return last;
  };
}
