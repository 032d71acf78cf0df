// What the story of the training reads off the log and the evaluation beside the weights.

/**
 * @typedef {{ number: number; name: string; tokens: number }} Stage `tokens`: that were read when it began
 *
 * @typedef {{ name: string; language: string; right: number; cases: number; bar: number }} Measured
 *
 * @typedef {{
 *   stages: Stage[];
 *   log: (string | number)[][];
 *   answers: { data: Record<string, any>[] } | null;
 *   measured: Measured[];
 * }} Training
 *   the detail "training": a line of `log` is the stage, the tokens that were read, the loss, and that of held-out
 *   texts
 *
 * @typedef {{ name: string; tokens: number[]; shares: number[] }} Line a skill: the share of right answers, each
 *   time that it was looked at
 *
 * @typedef {{ tokens: number; heldout: number }} Point
 */

const KNOWN = 0.9; // from this share of right answers on, for the first time, a skill counts as learned
export const MILLION = 1e6;

/**
 * The loss on texts that were held out, by tokens read.
 *
 * @param {Training} found
 * @returns {Point[]}
 */
export const pointsOf = ({ log }) =>
  log.map(([, tokens, , heldout]) => ({ tokens: Number(tokens), heldout: Number(heldout) }));

/**
 * The skills that were looked at twice or more.
 *
 * @param {Training} found
 * @returns {Line[]}
 */
const linesOf = ({ answers }) =>
  (answers?.data ?? [])
    .filter(({ x }) => x.length > 1)
    .map(({ name, x, y }) => ({
      name,
      tokens: x.map((/** @type {number} */ one) => Math.round(one * MILLION)),
      shares: y,
    }));

/** @param {Training} found */
export const inductionOf = (found) => linesOf(found).find(({ name }) => name.endsWith("skill_induction"));

/**
 * Whether a log holds what the story tells: a training whose answers were looked at more than once.
 *
 * @param {Training} found
 */
export const isTold = (found) => found.log.length > 0 && inductionOf(found) !== undefined;

/**
 * Every skill with the tokens after which it was learned, the earliest first; those that never were, Infinity,
 * last.
 *
 * @param {Training} found
 */
export function learnedOf(found) {
  const all = linesOf(found).map(({ name, tokens, shares }) => {
    const at = shares.findIndex((share) => share >= KNOWN);
    return { name, tokens: at < 0 ? Infinity : tokens[at], last: shares[shares.length - 1] };
  });
  return all.sort((a, b) => (a.tokens === b.tokens ? 0 : a.tokens - b.tokens));
}

/** @typedef {{ number: number; from: number; to: number }} Rise of the loss in a stage, to the highest there */

/**
 * The stage in which the loss rose most above what it was when the stage began; null where it never did.
 *
 * @param {Training} found
 * @returns {Rise | null}
 */
export function riseOf(found) {
  const points = pointsOf(found);
  const rises = found.stages.map((stage, i) => {
    const end = found.stages[i + 1]?.tokens ?? Infinity;
    const before = points.findLast(({ tokens }) => tokens <= stage.tokens)?.heldout ?? Infinity;
    const within = points.filter(({ tokens }) => tokens > stage.tokens && tokens <= end);
    return { number: stage.number, from: before, to: Math.max(...within.map(({ heldout }) => heldout)) };
  });
  const [most] = rises.sort((a, b) => b.to - b.from - (a.to - a.from));
  return most && most.to > most.from ? most : null;
}

/**
 * Between which two readings a skill grew most; `from` null where it was there at the first one.
 *
 * @param {Pick<Line, "tokens" | "shares">} line
 */
export function leapOf({ tokens, shares }) {
  let best = { at: 0, by: shares[0] };
  shares.forEach((share, i) => {
    if (i && share - shares[i - 1] > best.by) best = { at: i, by: share - shares[i - 1] };
  });
  const { at } = best;
  const reading = (/** @type {number} */ i) => ({ tokens: tokens[i], share: shares[i] });
  return { from: at ? reading(at - 1) : null, to: reading(at), end: reading(shares.length - 1) };
}

/**
 * How far a skill falls after it counted as learned for the first time, and in which stage; null where it never
 * did, and where it stays.
 *
 * @param {Pick<Line, "tokens" | "shares">} line
 * @param {Stage[]} stages
 */
export function fallOf({ tokens, shares }, stages) {
  const first = shares.findIndex((share) => share >= KNOWN);
  if (first < 0) return null;
  const low = shares.reduce((least, share, i) => (i > first && share < shares[least] ? i : least), first);
  if (shares[low] >= KNOWN) return null;
  const reading = (/** @type {number} */ i) => ({ tokens: tokens[i], share: shares[i] });
  const stage = stages.findLast((one) => one.tokens < tokens[low])?.number ?? 1;
  return { first: reading(first), low: reading(low), stage, end: reading(shares.length - 1) };
}

/**
 * The measured number that is lowest.
 *
 * @param {Measured[]} measured
 */
export const lowestOf = (measured) => [...measured].sort((a, b) => a.right / a.cases - b.right / b.cases)[0];

/**
 * How the loss on held-out texts fell, beside that of who knows nothing: who gives every token of the vocabulary
 * the same probability.
 *
 * @typedef {object} Loss tokens in millions
 * @property {{ x: number; y: number }[]} points the loss by tokens read
 * @property {{ number: number; tokens: number }[]} starts of the stages
 * @property {Rise | null} rise the stage in which it rose most
 * @property {number} read tokens in all
 * @property {number} blind the loss of who knows nothing
 * @property {number} first
 * @property {number} last
 * @property {number} p what the right token gets at the last loss, in the geometric mean
 * @param {Training} found whose log has a line or more
 * @param {number} vocabulary
 * @returns {Loss}
 */
export function lossOf(found, vocabulary) {
  const points = pointsOf(found).map(({ tokens, heldout }) => ({ x: tokens / MILLION, y: heldout }));
  const [first, last] = [points[0], points[points.length - 1]];
  return {
    points,
    starts: found.stages.map(({ number, tokens }) => ({ number, tokens: tokens / MILLION })),
    rise: riseOf(found),
    read: last.x,
    blind: Math.log(vocabulary),
    first: first.y,
    last: last.y,
    p: Math.exp(-last.y),
  };
}
