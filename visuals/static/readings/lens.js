// What a lens reads off the stream at every depth and token: the most probable tokens, and the one that is followed.

import { once } from "../arrays.js";
import { visible } from "../draw.js";

/**
 * @typedef {import("../decoded.d.ts").Detail<"lens">} Answer
 *
 * @typedef {object} Lens
 * @property {number} first the depth of the first row; 0 is the embedding. Nothing is read before it
 * @property {number} depths how many depths there are, with those that nothing is read at
 * @property {number} tokens
 * @property {(id: number) => string} piece
 * @property {(token: number) => number} target the id of the token that is followed
 * @property {(depth: number) => boolean} here whether something is read at a depth
 * @property {(depth: number, token: number) => number} rank of the followed token, counted from 0; NaN where
 *   nothing is read
 * @property {(depth: number, token: number) => number} own its probability, NaN where nothing is read
 * @property {(depth: number, token: number) => { id: number; probability: number }[]} best the most probable
 *   tokens, none where nothing is read
 */

/**
 * Looks into the answer "lens".
 *
 * @type {(answer: Answer) => Lens}
 */
export const readLens = once((/** @type {Answer} */ answer) => {
  const [rows, tokens, kept] = answer.ids.shape;
  const first = answer.first ?? 0;
  const pieces = new Map(answer.names.ids.map((id, i) => [id, answer.names.pieces[i]]));
  /** @type {(depth: number, token: number) => number} */
  const at = (depth, token) => (depth - first) * tokens + token;
  /** @type {(depth: number) => boolean} */
  const here = (depth) => depth >= first;
  return {
    first,
    depths: first + rows,
    tokens,
    here,
    piece: (id) => visible(pieces.get(id) ?? ""),
    target: (token) => answer.targets.data[token],
    rank: (depth, token) => (here(depth) ? answer.rank.data[at(depth, token)] : NaN),
    own: (depth, token) => (here(depth) ? answer.probability.data[at(depth, token)] : NaN),
    best: (depth, token) =>
      Array.from({ length: here(depth) ? kept : 0 }, (_, k) => {
        const i = at(depth, token) * kept + k;
        return { id: answer.ids.data[i], probability: answer.probabilities.data[i] };
      }),
  };
});

/**
 * The same of an answer about one token alone: whichever is asked for, it is that one.
 *
 * @type {(answer: Answer) => Lens}
 */
export const readOneToken = once((/** @type {Answer} */ answer) => {
  const lens = readLens(answer);
  return {
    ...lens,
    target: () => lens.target(0),
    rank: (depth) => lens.rank(depth, 0),
    own: (depth) => lens.own(depth, 0),
    best: (depth) => lens.best(depth, 0),
  };
});

const NAMES = ["rank_1_id", "rank_1_piece", "rank_1_probability", "followed_id", "followed_rank"].concat(
  "followed_probability",
);

/**
 * A row for each depth and token, with the numbers of one lens or of both; the heads alone before an answer has
 * come.
 *
 * @param {Lens | null} lens the logit lens
 * @param {Lens | null} jacobian
 * @param {string[]} pieces of the run
 * @returns {(string | number)[][]}
 */
export function lensTable(lens, jacobian, pieces) {
  const heads = ["depth", "token", "piece", ...NAMES, ...(jacobian ? NAMES.map((name) => `jacobian_${name}`) : [])];
  const rows = Array.from({ length: lens ? lens.depths * lens.tokens : 0 }, (_, i) => {
    const { tokens } = /** @type {Lens} */ (lens);
    const [depth, t] = [Math.floor(i / tokens), i % tokens];
    return [depth, t, pieces[t], ...[lens, jacobian].flatMap((one) => (one ? numbersAt(one, depth, t) : []))];
  });
  return [heads, ...rows];
}

/**
 * @param {Lens} lens
 * @param {number} depth
 * @param {number} token
 * @returns {(string | number)[]}
 */
function numbersAt(lens, depth, token) {
  if (!lens.here(depth)) return NAMES.map(() => "");
  const [{ id, probability }] = lens.best(depth, token);
  const followed = [lens.target(token), lens.rank(depth, token) + 1, lens.own(depth, token)];
  return [id, lens.piece(id), probability, ...followed];
}
