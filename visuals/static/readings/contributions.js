// Who wrote a logit: what the embedding and every sub-layer add to it at every token, and that they sum to it.

import { once } from "../arrays.js";
import { visible } from "../draw.js";
import { sublayers } from "../parts.js";

/**
 * @typedef {import("../types.d.ts").Model} Model
 *
 * @typedef {import("../decoded.d.ts").Detail<"contributions">} Answer
 *
 * @typedef {"embedding" | "attention" | "cross" | "ffn"} Kind what writes
 *
 * @typedef {Exclude<Kind, "embedding">} Sublayer
 *
 * @typedef {{ kind: Kind; layer: number | null }} Writer `layer`: null of the embedding
 *
 * @typedef {Writer & { value: number }} Part what it adds to the logit
 *
 * @typedef {{ id: number; piece: string }} Token
 *
 * @typedef {ReturnType<typeof sharesOf>} Shares
 *
 * @typedef {object} ContributionSelection
 * @property {Kind} kind which part
 * @property {number} layer of no meaning for the embedding
 * @property {number} token
 * @property {boolean} versus whether the runner-up's logit is subtracted
 * @property {string | null} [other] the run whose choices' logits are taken apart, where that is another
 *
 * @typedef {import("./reading.js").Reading<ContributionSelection> & {
 *   answer: Answer;
 *   shares: Shares;
 *   row: number;
 *   parts: Part[];
 *   target: Token;
 *   against: Token | null;
 * }} ContributionReading
 *   `row`: the selected part's, `parts`: those of the token, `target`: whose logit it is, less that of `against`
 */

/**
 * What writes in each layer, by its name in the answer.
 *
 * @param {Model} model
 * @returns {Sublayer[]}
 */
export const kindsOf = (model) => sublayers(model).map((part) => (part === "attn" ? "attention" : part));

/**
 * The parts in the order of the network: row 0 is the embedding, then what writes in each layer.
 *
 * @param {number} row
 * @param {Sublayer[]} kinds
 * @returns {{ kind: "embedding"; layer: null } | { kind: Sublayer; layer: number }}
 */
export const partAt = (row, kinds) =>
  row === 0
    ? { kind: "embedding", layer: null }
    : { kind: kinds[(row - 1) % kinds.length], layer: Math.floor((row - 1) / kinds.length) };

/**
 * Where a part stands in that order.
 *
 * @param {{ kind: Kind; layer: number }} part
 * @param {Sublayer[]} kinds
 */
export const rowOf = ({ kind, layer }, kinds) =>
  kind === "embedding" ? 0 : kinds.length * layer + 1 + Math.max(0, kinds.indexOf(kind));

/** Looks into the answer. */
export const sharesOf = once((/** @type {Answer} */ answer) => {
  const [layers, tokens] = answer.attention.shape;
  const pieces = new Map(answer.names.ids.map((id, i) => [id, visible(answer.names.pieces[i])]));
  /** @type {Sublayer[]} */
  const kinds = ["attention", ...(answer.cross ? /** @type {const} */ (["cross"]) : []), "ffn"];
  const rows = kinds.length * layers + 1;
  /** @type {(id: number) => Token} */
  const named = (id) => ({ id, piece: pieces.get(id) ?? "" });
  /** @type {(row: number, token: number) => number} */
  const value = (row, token) => {
    const { kind, layer } = partAt(row, kinds);
    if (kind === "embedding") return answer.embedding.data[token];
    return answer[kind]?.data[layer * tokens + token] ?? 0;
  };
  const patched = (/** @type {number} */ token) => answer.patched.data[token];
  /** What the final norm's β adds, where it has one. */
  const constant = (/** @type {number} */ token) => answer.constant?.data[token] ?? 0;
  /** @type {(token: number) => Part[]} */
  const parts = (token) =>
    Array.from({ length: rows }, (_, row) => ({ ...partAt(row, kinds), value: value(row, token) }));
  return {
    rows,
    tokens,
    crosses: Boolean(answer.cross),
    value,
    parts,
    patched,
    constant,
    sum: (/** @type {number} */ token) =>
      parts(token).reduce((sum, part) => sum + part.value, patched(token) + constant(token)),
    logit: (/** @type {number} */ token) => answer.logit.data[token],
    /** The final RMS, or σ, that every part is divided by. */
    scale: (/** @type {number} */ token) => answer.scale.data[token],
    target: (/** @type {number} */ token) => named(answer.targets.data[token]),
    against: (/** @type {number} */ token) => answer.against && named(answer.against.data[token]),
  };
});

/**
 * What each part adds at each token.
 *
 * @param {Shares} shares
 * @param {string[]} pieces
 * @returns {import("./reading.js").Table}
 */
function tableOf(shares, pieces) {
  const all = Array.from({ length: shares.tokens }, (_, token) =>
    shares.parts(token).map((part) => ({ ...part, token, target: shares.target(token) })),
  ).flat();
  return {
    keys: {
      token: all.map(({ token }) => token),
      piece: all.map(({ token }) => pieces[token]),
      part: all.map(({ kind }) => kind),
      layer: all.map(({ layer }) => layer ?? ""),
      target_id: all.map(({ target }) => target.id),
      target_piece: all.map(({ target }) => target.piece),
    },
    columns: { contribution: all.map(({ value }) => value) },
  };
}

/**
 * What each part adds at one token, and last what was taken over from another run.
 *
 * @param {Part[]} parts
 * @param {number} patched
 * @returns {import("./reading.js").Table}
 */
const writersOf = (parts, patched) => ({
  keys: {
    part: [...parts.map(({ kind }) => kind), "patched"],
    layer: [...parts.map(({ layer }) => layer ?? ""), ""],
  },
  columns: { contribution: [...parts.map(({ value }) => value), patched] },
});

/** One part of one token's logit. @type {import("./reading.js").Reader<ContributionReading>} */
export const contributionReader = {
  needs: (_trace, { versus, other = null }) => ({
    shares: ["contributions", { target: null, versus, ...(other !== null && { other }) }],
  }),
  read({ trace, details }, selection) {
    const { kind, layer, token } = selection;
    /** @type {Answer} */
    const answer = details.shares;
    const shares = sharesOf(answer);
    const row = rowOf({ kind, layer }, kindsOf(trace.model));
    const [parts, target] = [shares.parts(token), shares.target(token)];
    return {
      selection,
      answer,
      shares,
      row,
      parts,
      target,
      against: shares.against(token),
      at: `${kind === "embedding" ? kind : `layer ${layer} ${kind}`} token ${token} target ${target.id}`,
      values: {
        adds: parts[row].value,
        sum: shares.sum(token),
        logit: shares.logit(token),
        final_rms: shares.scale(token),
      },
      digits: 7,
      rows: {
        contributions: () => tableOf(shares, trace.tokens.pieces),
        writers: () => writersOf(parts, shares.patched(token)),
      },
    };
  },
};
