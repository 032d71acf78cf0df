// The runs that a mark draws: one, or A and B.

/**
 * @typedef {{ trace: object; layer?: number; held?: object; neurons?: object; details?: Object<string, any> }} Run
 *   one run, its selected layer, the selected token's neurons there, and what the server was asked about it
 */

const partsOf = (runs) =>
  runs.flatMap(({ trace, held, neurons, details = {} }) => [trace, held, neurons, ...Object.values(details)]);

/**
 * The runs of the last call where they are the same, part by part.
 *
 * @returns {(runs: Run[]) => Run[]}
 */
export function createMemory() {
  let last = [];
  return (runs) => {
    const [old, now] = [last, runs].map(partsOf);
    if (old.length !== now.length || now.some((value, i) => !Object.is(value, old[i]))) last = runs;
    return last;
  };
}

/**
 * Why two runs cannot be subtracted position by position; null where they can.
 *
 * @returns {"models" | "masks" | "lengths" | null}
 */
export function hindrance({ A, B }) {
  if (A.model.name !== B.model.name) return "models";
  if (A.model.parts.prefix !== B.model.parts.prefix) return "masks"; // a query sees other keys in each
  return A.T === B.T ? null : "lengths";
}
