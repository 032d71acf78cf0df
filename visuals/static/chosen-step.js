// The moment that the panels stand at: the selected position, and the token that was chosen there. A run remembers of
// every written token how it was drawn (its step), and the server reads what it was chosen from off the recorded
// stream.

import { labelsOf } from "./characters.js";
import { topCandidates } from "./compute.js";
import { visible } from "./draw.js";
import { isChanged } from "./off.js";

/**
 * @typedef {import("./decode.js").Trace} Trace
 *
 * @typedef {import("./types.d.ts").Glass} Glass
 *
 * @typedef {{
 *   at: number;
 *   kind: "end" | "chosen" | "given" | "prompt";
 *   token: { position: number; id: number; piece: string } | null;
 *   step: import("./decode.js").Step | null;
 * }} Moment
 *   `at`: the position after which a token was chosen, `token`: that token; none yet at the "end". It was "chosen" by
 *   this run, "given" to it where a run with other changes chose it, or stood in the "prompt". `step`: how it was
 *   drawn, where that is known: of a text that a link brought back it is not, and in a changed run such a text
 *   counts as given.
 */

/**
 * @typedef {{ id: number; piece: string; probability: number }} Candidate
 *
 * @typedef {import("./decode.js").Next & {
 *   written?: import("./messages.d.ts").WrittenToken | null;
 * }} Offered
 *   `written`: the token that the text goes on with, where there is one
 */

/**
 * @param {Trace} trace
 * @param {number} at a position of it
 * @returns {Moment}
 */
export function momentAt(trace, at) {
  const position = at + 1;
  if (position >= trace.T) return { at: trace.T - 1, kind: "end", token: null, step: null };
  const { ids, pieces } = trace.tokens;
  const token = { position, id: ids[position], piece: pieces[position] };
  if (position < trace.nPrompt) return { at, kind: "prompt", token, step: null };
  const step = trace.steps[position - trace.nPrompt];
  const known = step?.id === token.id && step.sampling ? step : null;
  if (known ? !known.own : isChanged(trace)) return { at, kind: "given", token, step: null };
  return { at, kind: "chosen", token, step: known };
}

/**
 * Whether the model has ended the text: the last token it wrote says so.
 *
 * @param {Pick<Trace, "model" | "tokens" | "nPrompt" | "T">} trace
 */
export const hasEnded = ({ model, tokens, nPrompt, T }) => T > nPrompt && model.eos_ids.includes(tokens.ids[T - 1]);

/**
 * The moment whose choice is shown while a position is selected: that of the written token after it; a prompt was
 * chosen by nobody, so there it is the end. Where the text has ended, nothing comes next: the last choice is that
 * of its end.
 *
 * @param {Trace} trace
 * @param {number} at a position of it
 * @returns {Moment}
 */
export function choiceAt(trace, at) {
  const moment = momentAt(trace, at);
  if (moment.kind !== "prompt" && moment.kind !== "end") return moment;
  return momentAt(trace, trace.T - (hasEnded(trace) ? 2 : 1));
}

/**
 * Of what is kept, not what the pointer previews: panels that ask the server show this one.
 *
 * @param {{ trace: Trace; locked: { query: number } }} state
 * @returns {Moment}
 */
export const momentOf = ({ trace, locked }) => choiceAt(trace, locked.query);

/**
 * Where a click on a token leads: to itself, or of a written one to the position that it was chosen at.
 *
 * @param {Pick<Trace, "nPrompt">} trace
 * @param {number} position
 */
export const placeOfToken = ({ nPrompt }, position) => (position >= nPrompt ? Math.max(0, position - 1) : position);

/**
 * What a question to the server says of a moment.
 *
 * @param {Moment} moment
 */
export const askedOf = ({ at, kind }) => (kind === "end" ? {} : { token: at });

/** @typedef {import("./decoded.d.ts").Detail<"next">} Answer */
/** @type {WeakMap<Answer, Offered>} */
const known = new WeakMap();
/**
 * The answer "next" as a run holds its own.
 *
 * @param {Answer} answer
 * @returns {Offered}
 */
function asNext(answer) {
  const before = known.get(answer);
  if (before) return before;
  const next = { ...answer, logZ: answer.log_z, vocabSize: answer.vocab_size };
  known.set(answer, next);
  return next;
}

/**
 * The candidates of a moment: at the end those of the run, else what the server answered, null until that has come.
 *
 * @param {Trace} trace
 * @param {Moment} moment
 * @param {Answer | null} answer
 * @returns {Offered | null}
 */
export const offeredIn = (trace, { kind }, answer) => (kind === "end" ? trace.next : answer && asNext(answer));

/**
 * The same, of what is here.
 *
 * @param {Pick<Glass, "state" | "detail">} glass
 * @param {Moment} moment
 * @param {Trace} trace the one that is shown unless told
 */
export const offeredOf = (glass, moment, trace = /** @type {Trace} */ (glass.state.trace)) =>
  offeredIn(trace, moment, moment.kind === "end" ? null : glass.detail("next", askedOf(moment), trace));

/**
 * The token whose choice a moment is about, or would be, and what else was offered.
 *
 * @param {Offered} next
 * @param {Moment} moment
 * @param {number} others how many
 * @returns {{ own: Candidate; others: Candidate[] }}
 */
export function choiceIn(next, moment, others) {
  const { rows } = topCandidates(next, others + 1);
  const { id, piece } = moment.token ?? rows[0];
  const own = rows.find((row) => row.id === id) ?? {
    id,
    piece,
    probability: next.written ? Math.exp(next.written.logit - next.logZ) : NaN,
  };
  return { own, others: rows.filter((row) => row.id !== id).slice(0, others) };
}

/**
 * The same of a run; null until that has come.
 *
 * @param {Pick<Glass, "state" | "detail">} glass
 * @param {Trace} trace
 * @param {Moment} moment
 * @param {number} others
 */
export function choiceOf(glass, trace, moment, others) {
  const next = offeredOf(glass, moment, trace);
  return next && choiceIn(next, moment, others);
}

/**
 * A moment in words, of the section "moment" of the texts.
 *
 * @param {{ state: { trace: Trace }; text: Glass["text"] }} glass with the run that the moment is of
 * @param {Moment} moment
 * @param {"long" | "short"} [length]
 */
export function wordsOf({ state: { trace }, text }, moment, length = "long") {
  const { at, kind, token } = moment;
  const labels = labelsOf(trace.tokens.pieces);
  const params = {
    at,
    after: visible(labels[at]),
    position: token?.position,
    piece: token && visible(labels[token.position]),
  };
  if (trace.whole) return text(`moment.${length}_source`, params);
  const written = kind !== "end" || trace.T === trace.nPrompt ? "" : hasEnded(trace) ? "_ended" : "_written";
  return text(`moment.${length}_${kind}${written}`, params);
}
