// Where a tour goes in a run: the layer, head and key that its answer misses most, as measured by switching off.

import { momentOf } from "../moment.js";
import { isChanged } from "../off.js";

/**
 * @typedef {{ at: number, target: number, piece: string, probability: number, head: { layer: number, head: number, key: number,
 *   without: number|null }, heads: [number, number][], without: number|null,
 *   found: object }} Places
 * `head` with null in `without` where every head is off; `heads` are those that read the
 * answer, or the one that it misses most, and `without` is its probability with all of these off
 */

/** The question whose answer says what matters; the first screen asks the same. */
const questionOf = ({ at, token }) => ({ token: at, ...(token && { target: token.id }) });

/** @param {object} found the detail "why" @param {object} state whose selection stands in for what was not found @returns {Places} */
export function placesOf(found, { locked }) {
  const { position: at, target, piece, probability, first, look, parts } = found;
  const own = first && parts.find(({ kind, layer, index }) => kind === "head" && layer === first.layer && index === first.head);
  const head = first
    ? { layer: first.layer, head: first.head, key: first.key, without: own.without }
    : { layer: locked.layer, head: locked.head, key: Math.min(locked.key, at), without: null };
  const reading = look.heads.map(({ layer, head: index }) => [layer, index]);
  const heads = reading.length ? reading : first ? [[first.layer, first.head]] : [];
  return { at, target, piece, probability, head, heads, without: reading.length ? look.without : head.without, found };
}

/** Whether one run is another of the same tokens. */
const sameText = (a, b) => a.model.name === b.model.name && a.T === b.T && a.tokens.ids.every((id, i) => id === b.tokens.ids[i]);

/**
 * @param {object} glass
 * @returns {() => Places|null} those of the shown run, null until they are measured. Of a run with something switched off
 * they are those of the run that it was before, where the tour has seen that one: so the tour can say what changed.
 */
export function createPlaces(glass) {
  const { state } = glass;
  let basis = null;
  let last = null;

  return function places() {
    const { trace, status } = state;
    if (status === "generating" && last) return last;
    const asked = questionOf(momentOf(state));
    const before = basis && isChanged(trace) && !isChanged(basis) && sameText(basis, trace) && basis.details.get(`why ${JSON.stringify(asked)}`);
    if (!before) basis = trace;
    const found = before || glass.detail("why", asked);
    if (!found) return null;
    if (last?.found !== found) last = placesOf(found, state);
    return last;
  };
}
