// How a head tells the token that it reads from a rival: the term of the score that makes most of the difference, in
// words.

import { percent, shown } from "../../dom.js";
import { writtenOut } from "../../equation.js";
import { named, word } from "./words.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {{ layer: number; head: number; at: number; key: number; weight: number }} Step a head that looked at a
 *   token
 *
 * @typedef {{
 *   rival: number;
 *   score: number;
 *   rival_score: number;
 *   asked: Step[];
 *   told: Step[];
 *   rival_told: Step[] | null;
 *   term: number;
 *   rival_term: number;
 *   from_asked: number;
 *   rival_from_asked: number;
 *   n_terms: number;
 *   other: { position: number; piece: string; score: number; rival_score: number } | null;
 * }} Matching
 */

/**
 * The answer "matching" about a head; null where it has not come, and where there is nothing to tell.
 *
 * @param {Glass} glass
 * @param {{ layer: number; head: number; query: number; key: number }} cell
 * @returns {{ come: boolean; found: Matching | null }}
 */
export function matchingOf(glass, { layer, head, query, key }) {
  const answer = glass.detail("matching", { layer, head, query, key });
  return { come: Boolean(answer), found: answer && "rival" in answer ? answer : null };
}

/**
 * What brought something to a token, in words.
 *
 * @param {Step[]} steps the last one first; none: the token's own embedding
 * @param {Say} text
 * @param {string[]} pieces
 */
function wayOf(steps, text, pieces) {
  if (!steps.length) return text("why.way_own");
  const [last, before] = steps.map(({ layer, head, key, weight }) => ({
    layer,
    head,
    key: named(text, pieces, key),
    weight: shown(weight, 2),
  }));
  const first = text("why.way_head", last);
  return before ? `${first}${text("why.way_before", { ...before, at: last.key })}` : first;
}

/**
 * The same word by word: the token that it began at, and each head with the token that it wrote it to.
 *
 * @param {Step[]} steps the last one first
 * @param {Say} text
 * @param {string[]} pieces
 */
export function chainOf(steps, text, pieces) {
  const onward = steps.toReversed();
  const links = onward.flatMap(({ layer, head, at }) => [
    text("why.head_of", { layer, head }),
    named(text, pieces, at),
  ]);
  return [...onward.slice(0, 1).map(({ key }) => named(text, pieces, key)), ...links].join(" → ");
}

/** Of the difference between two scores: from this share on a match tells them apart (model/analysis/matching.py). */
const TELLING = 0.2;
const WHOLE = 0.97;

/**
 * Whether what was brought to the query makes a telling share of the difference.
 *
 * @param {Matching} found
 */
export const isMatch = (found) => broughtApart(found) >= TELLING * (found.score - found.rival_score);
/**
 * Whether it makes all but a little of the difference, or more: then its share tells nothing.
 *
 * @param {Matching} found
 */
export const isWhole = (found) => broughtApart(found) >= WHOLE * (found.score - found.rival_score);
/**
 * Whether with the other word in the text the head still prefers the token that it reads here, while the answer is
 * another.
 *
 * @param {Matching} found
 */
export const isRefuted = ({ other }) => other !== null && other.score >= other.rival_score;
/**
 * What was brought to the query makes of the difference between the two scores.
 *
 * @param {Matching} found
 */
export const broughtApart = ({ from_asked: from, rival_from_asked: less }) => from - less;

/**
 * Both scores, how far they are apart, what was brought to the query of that (`from_asked`), and about as a share
 * (`from_share`) or with the `rest` beside it, where that share tells nothing; in few digits that come out.
 *
 * @param {Matching} found
 */
export function gapWritten(found) {
  const { score, rival_score } = found;
  const [gap, from_asked] = [score - rival_score, broughtApart(found)];
  const values = { score, rival_score, gap, from_asked, rest: gap - from_asked };
  /** @type {import("../../equation.js").Step<keyof typeof values>[]} */
  const steps = [["gap", ["score", "rival_score"], (a, b) => a - b]];
  const whole = isWhole(found);
  if (whole) steps.push(["gap", ["from_asked", "rest"], (a, b) => a + b]);
  const about = whole ? {} : { from_asked: { digits: 2 } };
  const said = writtenOut(values, steps, { digits: 3, most: 3, of: about });
  return { ...said, from_share: percent(from_asked / gap, 2) };
}

/**
 * Both scores as sums: a text that names the row, and what it makes of either.
 *
 * @param {Matching} found
 * @returns {[string, number, number][]}
 */
export const rowsOf = ({ asked, score, rival_score: against, from_asked: from, rival_from_asked: less }) => [
  [asked.length ? "sum_fetched" : "sum_own", from, less],
  ["sum_rest", score - from, against - less],
  ["sum_score", score, against],
];

/**
 * The token that a way leads back to.
 *
 * @param {Step[]} steps
 * @param {number} at where it ends
 */
const originOf = (steps, at) => steps.at(-1)?.key ?? at;

/**
 * In plain words what lower heads brought to the three tokens; null where one of them is told by no other token,
 * and where the match makes too little of the difference to tell them apart.
 *
 * @param {Matching} found
 * @param {{ query: number; key: number }} place
 * @param {string[]} pieces
 * @returns {{ key_from: string; rival_from: string; asked_from: string; asks: string } | null} the words from which
 *   something was brought, and the text that says what stands at the query
 */
export function marksOf(found, { query, key }, pieces) {
  const { asked, told, rival, rival_told: beside } = found;
  if (!told.length || !beside?.length || !isMatch(found)) return null;
  const [keyFrom, rivalFrom, askedFrom] = [originOf(told, key), originOf(beside, rival), originOf(asked, query)].map(
    (t) => word(pieces[t]),
  );
  const same = askedFrom === keyFrom;
  if (keyFrom === rivalFrom || !(same || asked.length)) return null;
  return {
    key_from: keyFrom,
    rival_from: rivalFrom,
    asked_from: askedFrom,
    asks: !asked.length ? "asks_itself" : same ? "asks_same" : "asks_other",
  };
}

/**
 * Everything that the sentences about it name, as texts.
 *
 * @param {Matching} found
 * @param {{ query: number; key: number }} place
 * @param {Say} text
 * @param {string[]} pieces
 */
export function namesOf(found, { query, key }, text, pieces) {
  const { asked, told, rival, term, rival_term: less, n_terms: count, other } = found;
  const [of, on] = [originOf(asked, query), originOf(told, key)].map((t) => word(pieces[t]));
  const near = asked.length ? asked[0].key : query;
  const [asking, telling, beside, fetched] = [query, key, rival, near].map((t) => named(text, pieces, t));
  return {
    query: asking,
    key: telling,
    rival: beside,
    ...gapWritten(found),
    term: shown(term, 3),
    rival_term: shown(less, 3),
    n_terms: String(count),
    asked: wayOf(asked, text, pieces),
    told: wayOf(told, text, pieces),
    near: fetched,
    near_there: text("why.token_at", { piece: word(pieces[near]), position: near }),
    origin: of,
    same: of === on,
    ...(other && {
      other: word(other.piece),
      other_score: shown(other.score, 4),
      other_rival: shown(other.rival_score, 4),
    }),
  };
}
