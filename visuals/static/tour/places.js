// Where a tour goes in a run: the layer, head and key that matter for its answer, as measured by switching off.

import { momentOf } from "../chosen-step.js";
import { isChanged } from "../off.js";
import { readersOff } from "../panels/glance/words.js";

/**
 * @typedef {{
 *   at: number;
 *   target: number;
 *   piece: string;
 *   probability: number;
 *   head: Place;
 *   cross: Place | null;
 *   heads: [number, number][];
 *   off: object;
 *   without: number | null;
 *   sinks: number[];
 *   found: object;
 * }} Places
 *
 *
 * @typedef {{ layer: number; head: number; key: number; without: number | null }} Place `head` with null in
 *   `without` where every head is off; `cross`: the head that looks at the source, and its token of that, if any is
 *   on; `heads` are those that are switched off together at the end (those that are missed most, or those that look
 *   at one token, or the one that it misses most), `off` the changes of a run without them, and `without` is its
 *   probability then; `sinks` are tokens where heads park, where heads were measured one by one
 */

/** The question whose answer says what matters: heads that write nothing, as the tour switches them off. */
const questionOf = ({ at, token }) => ({ token: at, ...(token && { target: token.id }), ablation: "zero" });

/**
 * @param {object} found the detail "why"
 * @param {object} state whose selection stands in for what was not found
 * @param {number[]} [sinks]
 * @returns {Places}
 */
export function placesOf(found, { locked }, sinks = []) {
  const { position: at, target, piece, probability, first, look, parts } = found;
  const isFirst = ({ kind, layer, index }) =>
    first && kind === first.kind && layer === first.layer && index === first.head;
  const placeOf = ({ layer, index, key, without }) => ({ layer, head: index, key, without });
  /** Of a kind of heads the one that is named first, else the one that is missed most. */
  const best = (wanted) => {
    const all = parts.filter(({ kind }) => kind === wanted);
    return all.length ? placeOf(all.find(isFirst) ?? all[0]) : null;
  };
  const head = best("head") ?? { layer: locked.layer, head: locked.head, key: Math.min(locked.key, at), without: null };
  const reading = look.heads.length ? look : { kind: first?.kind, heads: first ? [first] : [] };
  const heads = reading.heads.map(({ layer, head: index }) => [layer, index]);
  const without = look.heads.length ? look.without : (parts.find(isFirst)?.without ?? null);
  return {
    at,
    target,
    piece,
    probability,
    head,
    cross: best("cross"),
    heads,
    off: readersOff(reading),
    without,
    sinks,
    found,
  };
}

/**
 * Where heads park in a run whose heads were measured one by one; null until that has come.
 *
 * @param {import("../types.d.ts").Glass} glass
 * @returns {number[] | null}
 */
function sinksOf(glass, { grid }, { token, target }, trace) {
  if (!grid) return [];
  const rests = glass.detail("rests", { token, ...(target !== undefined && { target }) }, trace);
  return rests && ("sinks" in rests ? rests.sinks : []);
}

/** Whether one run is another of the same tokens. */
const sameText = (a, b) =>
  a.model.name === b.model.name && a.T === b.T && a.tokens.ids.every((id, i) => id === b.tokens.ids[i]);

/**
 * @param {import("../types.d.ts").Glass} glass
 * @returns {() => Places | null} those of the shown run, null until they are measured. Of a run with something
 *   switched off they are those of the run that it was before, where the tour has seen that one: so the tour can
 *   say what changed.
 */
export function createPlaces(glass) {
  const { state } = glass;
  let basis = null;
  let last = null;

  return function places() {
    const { trace, status } = state;
    if (status === "generating" && last) return last;
    const asked = questionOf(momentOf(state));
    const before =
      basis &&
      isChanged(trace) &&
      !isChanged(basis) &&
      sameText(basis, trace) &&
      basis.details.get(`why ${JSON.stringify(asked)}`);
    if (!before) basis = trace;
    const found = before || glass.detail("why", asked);
    if (!found) return null;
    if (last?.found === found) return last;
    const sinks = sinksOf(glass, found, asked, basis);
    if (!sinks) return null;
    last = placesOf(found, state, sinks);
    return last;
  };
}
