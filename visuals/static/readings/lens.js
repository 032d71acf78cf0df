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

/**
 * @typedef {object} LensSelection
 * @property {number} depth 0 is the embedding, d + 1 comes after layer d
 * @property {number} token
 * @property {boolean} follow whether the text's next token is followed, in the place of the model's final choice
 * @property {boolean} jacobian whether the stream is carried to the end
 * @property {string | null} [other] the run whose tokens are followed, where that is another
 *
 * @typedef {{ id: number; p: number; rank: number }} Followed `rank`: counted from 1
 *
 * @typedef {import("./reading.js").Reading<LensSelection> & {
 *   lens: Lens;
 *   answer: Answer | null;
 *   here: boolean;
 *   best: { id: number; probability: number }[];
 *   followed: Followed;
 *   way: Followed[];
 * }} LensReading
 *   `answer`: null while the selected token alone has been read; `here`: whether something is read at this depth;
 *   `way`: what is followed, at every depth
 *
 * @typedef {import("./reading.js").Reading<LensSelection> & { lens: Lens }} FollowedReading
 */

/**
 * @param {LensSelection} selection
 * @param {object} [more]
 * @returns {import("./reading.js").Question}
 */
const question = ({ follow, jacobian, other = null }, more = {}) => [
  "lens",
  { follow, ...(jacobian && { jacobian }), ...(other !== null && { other }), ...more },
];

/**
 * @param {Lens} lens
 * @param {number} depth
 * @param {number} token
 * @returns {Followed}
 */
const followedAt = (lens, depth, token) => ({
  id: lens.target(token),
  p: lens.own(depth, token),
  rank: lens.rank(depth, token) + 1,
});

/**
 * Where something is read, as the value line begins.
 *
 * @param {LensSelection} selection
 */
const placeOf = ({ depth, token }) => `${depth === 0 ? "embedding" : `layer ${depth - 1}`} token ${token}`;

/**
 * The token that is followed at every depth.
 *
 * @param {Lens} lens
 * @param {number} token
 */
const wayOf = (lens, token) => Array.from({ length: lens.depths }, (_, depth) => followedAt(lens, depth, token));

/**
 * The numbers of one lens at every depth and token.
 *
 * @param {Lens} lens
 * @param {string} before what their names begin with
 * @returns {import("./reading.js").Table}
 */
function columnsOf(lens, before) {
  /** @type {<Cell>(read: (depth: number, token: number) => Cell) => Cell[]} */
  const each = (read) =>
    Array.from({ length: lens.depths * lens.tokens }, (_, i) => read(Math.floor(i / lens.tokens), i % lens.tokens));
  /** @type {<Cell>(read: (depth: number, token: number) => Cell) => (Cell | "")[]} */
  const text = (read) => each((depth, t) => (lens.here(depth) ? read(depth, t) : ""));
  return {
    keys: {
      [`${before}rank_1_id`]: text((depth, t) => lens.best(depth, t)[0].id),
      [`${before}rank_1_piece`]: text((depth, t) => lens.piece(lens.best(depth, t)[0].id)),
      [`${before}followed_id`]: text((_, t) => lens.target(t)),
    },
    columns: {
      [`${before}rank_1_probability`]: each((depth, t) => lens.best(depth, t)[0]?.probability ?? NaN),
      [`${before}followed_rank`]: each((depth, t) => followedAt(lens, depth, t).rank),
      [`${before}followed_probability`]: each((depth, t) => followedAt(lens, depth, t).p),
    },
  };
}

/**
 * A row for each depth and token, with the numbers of one lens or of both; none before all tokens are read.
 *
 * @param {Lens | null} lens the logit lens
 * @param {Lens | null} jacobian
 * @param {string[]} pieces of the run
 * @returns {import("./reading.js").Table}
 */
function tableOf(lens, jacobian, pieces) {
  const tokens = lens?.tokens ?? 0;
  const places = Array.from({ length: (lens?.depths ?? 0) * tokens }, (_, i) => [Math.floor(i / tokens), i % tokens]);
  const [plain, carried] = [lens && columnsOf(lens, ""), jacobian && columnsOf(jacobian, "jacobian_")];
  return {
    keys: {
      depth: places.map(([depth]) => depth),
      token: places.map(([, t]) => t),
      piece: places.map(([, t]) => pieces[t]),
      ...plain?.keys,
      ...carried?.keys,
    },
    columns: { ...plain?.columns, ...carried?.columns },
  };
}

/**
 * What is read at one place: the best token, and the one that is followed. One token of many is read much sooner
 * than all.
 *
 * @type {import("./reading.js").Reader<LensReading>}
 */
export const lensReader = {
  needs(_trace, selection, answered) {
    /** @type {import("./reading.js").Questions} a file holds the logit lens beside the other */
    const whole = { lens: question(selection), plain: question({ ...selection, jacobian: false }) };
    const came = Object.values(whole).map((asked) => answered(...asked));
    return came.every(Boolean) ? whole : { early: question(selection, { token: selection.token }) };
  },
  read({ trace, details }, selection) {
    const { depth, token, jacobian } = selection;
    /** @type {Record<string, Answer>} */
    const { early, lens: answer, plain } = details;
    const lens = answer ? readLens(answer) : readOneToken(early);
    const here = lens.here(depth);
    const [best, followed] = [lens.best(depth, token), followedAt(lens, depth, token)];
    return {
      selection,
      lens,
      answer: answer ?? null,
      here,
      best,
      followed,
      way: wayOf(lens, token),
      at: here
        ? `${placeOf(selection)} top ${best[0].id} target ${followed.id} rank ${followed.rank}`
        : `${placeOf(selection)} unfitted`,
      values: { ...(here && { p: best[0].probability, p_target: followed.p }) },
      rows: {
        lens: () => tableOf(plain ? readLens(plain) : null, answer && jacobian ? lens : null, trace.tokens.pieces),
      },
    };
  },
};

/**
 * The token that is followed alone: the best one may be another in each of two runs.
 *
 * @type {import("./reading.js").Reader<FollowedReading>}
 */
export const followedReader = {
  needs: (_trace, selection) => ({ lens: question(selection) }),
  read({ details }, selection) {
    const lens = readLens(details.lens);
    const { p, rank } = followedAt(lens, selection.depth, selection.token);
    return {
      selection,
      lens,
      at: placeOf(selection),
      values: { p, rank },
      rows: { depths: () => depthsOf(wayOf(lens, selection.token)) },
    };
  },
};

/**
 * @param {Followed[]} way
 * @returns {import("./reading.js").Table}
 */
const depthsOf = (way) => ({ keys: { depth: way.map((_, depth) => depth) }, columns: { p: way.map(({ p }) => p) } });
