// What a run offers as its next token: the first candidates, the token that was written, and all others.

import { labelsOf } from "../characters.js";
import { momentAt, offeredIn } from "../chosen-step.js";
import { topCandidates } from "../compute.js";
import { probabilityAfter } from "./filters.js";
import { PLAIN, resultOf } from "./logits.js";

/**
 * @typedef {import("../decode.js").Trace} Trace
 *
 * @typedef {import("../chosen-step.js").Offered} Offered
 *
 * @typedef {{ id: number; piece: string; position?: number }} Token
 *
 * @typedef {{
 *   id: number;
 *   piece: string;
 *   logit: number;
 *   probability: number;
 *   rank?: number;
 * }} Candidate
 *   `rank`: of one that is not among the first
 *
 * @typedef {{ count: number; probability: number }} Others
 *
 * @typedef {{ rows: Candidate[]; extra: Candidate | null; others: Others; logZ: number }} Candidates
 *
 * @typedef {object} NextSelection
 * @property {number | null} token the position after which a token is chosen; null: the run's end
 * @property {boolean} generating whether a token is just being written: at the end the last step's choice is read
 * @property {number} count how many candidates are read one by one
 * @property {number} row of the candidates; `count`: the token that was written elsewhere; else all others
 *
 * @typedef {import("./reading.js").Reading<NextSelection> & {
 *   kind: import("../chosen-step.js").Moment["kind"];
 *   after: string;
 *   token: Token | null;
 *   candidates: Candidates;
 *   candidate: Candidate | null;
 * }} NextReading
 *   `after`: the piece before it, `token`: the one that was chosen, `candidate`: the one that is read; null: all
 *   others
 */

/**
 * Which choice is read: that of a position; while a token is being written, that of the last one written.
 *
 * @param {import("./reading.js").Run} run
 * @param {NextSelection} selection
 * @returns {{ next: Offered; after: string; token: Token | null; kind: NextReading["kind"] }}
 */
function choiceIn({ trace, details }, { token: position, generating }) {
  const { steps, tokens, nPrompt } = trace;
  const step = steps.at(-1);
  if (position === null && generating && step?.next) {
    const after = steps.at(-2)?.piece ?? tokens.pieces[nPrompt - 1];
    return { next: step.next, kind: "end", after, token: step };
  }
  const moment = momentAt(trace, position ?? trace.T - 1);
  const next = /** @type {Offered} */ (offeredIn(trace, moment, details.offered ?? null)); // a run that chooses has one
  return { next, kind: moment.kind, after: labelsOf(tokens.pieces)[moment.at], token: moment.token };
}

/**
 * The first candidates, the token that was written where it is not among them, and all others.
 *
 * @param {Offered} next
 * @param {Token | null} token that was written, where one was
 * @param {number} count
 * @returns {Candidates}
 */
export function candidatesOf(next, token, count) {
  const { rows, others } = topCandidates(next, count);
  const { written, logZ } = next;
  if (!written || !token || rows.some(({ id }) => id === written.id)) return { rows, extra: null, others, logZ };
  const extra = {
    id: written.id,
    piece: token.piece,
    logit: written.logit,
    probability: Math.exp(written.logit - logZ),
    rank: written.rank,
  };
  const left = { count: others.count - 1, probability: Math.max(0, others.probability - extra.probability) };
  return { rows, extra, others: left, logZ };
}

/**
 * The first candidates of a run's end, and how probable a temperature makes each among the whole vocabulary.
 *
 * @typedef {Pick<Candidate, "id" | "piece" | "probability">} Heated
 * @param {import("../decode.js").Next} next
 * @param {ArrayLike<number>} logits of the whole vocabulary, by id
 * @param {number} temperature
 * @param {number} count
 * @returns {Heated[]}
 */
export function heatedIn(next, logits, temperature, count) {
  const { after } = resultOf(logits, { ...PLAIN, temperature });
  return next.ids
    .slice(0, count)
    .map((id, rank) => ({ id, piece: next.pieces[rank], probability: probabilityAfter(after, "all", rank) }));
}

/**
 * Every candidate that there is, and all others together.
 *
 * @param {Offered} next
 * @param {Token | null} token
 * @returns {import("./reading.js").Table}
 */
function tableOf(next, token) {
  const { rows, extra, others } = candidatesOf(next, token, next.ids.length);
  const all = extra ? [...rows, extra] : rows;
  return {
    keys: {
      id: [...all.map(({ id }) => id), ""],
      piece: [...all.map(({ piece }) => piece), `${others.count} others`],
    },
    columns: {
      logit: [...all.map(({ logit }) => logit), NaN],
      probability: [...all.map(({ probability }) => probability), others.probability],
    },
  };
}

/** @type {import("./reading.js").Reader<NextReading>} */
export const nextReader = {
  needs: (_trace, { token }) => ({ ...(token !== null && { offered: /** @type {const} */ (["next", { token }]) }) }),
  read(run, selection) {
    const { count, row } = selection;
    const { next, kind, after, token } = choiceIn(run, selection);
    const candidates = candidatesOf(next, token, count);
    const { rows, extra, others } = candidates;
    const candidate = (row === count ? extra : rows[row]) ?? null;
    return {
      selection,
      kind,
      after,
      token,
      candidates,
      candidate,
      at: candidate ? `'${candidate.piece}' rank ${(candidate.rank ?? row) + 1}` : `others ${others.count}`,
      values: { p: (candidate ?? others).probability, ...(candidate && { logit: candidate.logit }) },
      rows: { candidates: () => tableOf(next, token) },
    };
  },
};
