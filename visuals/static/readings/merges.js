// How a run's tokens were made: their bytes, and the merges of byte-pair encoding.

import { onceFor } from "../arrays.js";

/**
 * @typedef {import("../decoded.d.ts").Detail<"merges">} Merges
 *
 * @typedef {{ at: number; rank: number; left: string; right: string; into: string }} Step pieces as they are read
 *
 * @typedef {{ base: string[]; steps: Step[]; states: string[][]; whole: boolean }} Made `states`: the symbols
 *   before the first merge and after each; `whole`: the merges end in this very token
 *
 * @typedef {{ query: number }} MergesSelection
 *
 * @typedef {import("./reading.js").Reading<MergesSelection> & {
 *   info: Merges;
 *   id: number;
 *   made: Made;
 *   kind: ReturnType<typeof kindOf>;
 *   across: Merges["split"];
 * }} MergesReading
 *   `across`: the characters that the token is a part of
 */

/** @type {Made} */
const NOTHING = { base: [], steps: [], states: [], whole: true };

/**
 * @param {Merges} info
 * @param {number} id
 * @returns {Made}
 */
export function madeOf(info, id) {
  const made = info.made[id];
  if (!made) return NOTHING;
  const piece = (/** @type {number} */ token) => info.pieces[token];
  let held = made.base.map(piece);
  const states = [held];
  const steps = made.merges.map(([at, rank, left, right, into]) => {
    held = [...held.slice(0, at), piece(into), ...held.slice(at + 2)];
    states.push(held);
    return { at, rank, left: piece(left), right: piece(right), into: piece(into) };
  });
  return { base: states[0], steps, states, whole: made.tokens.length === 1 && made.tokens[0] === id };
}

/**
 * How a token came about.
 *
 * @param {Merges} info
 * @param {number} id
 * @returns {"none" | "special" | "merged" | "base" | "byte" | "listed"} none: the tokenizer has no merges; base: a
 *   single symbol; byte: one byte of a character that the vocabulary lacks; listed: in the vocabulary, but no chain
 *   of merges leads to it
 */
export function kindOf(info, id) {
  const bytes = info.bytes[id];
  if (!bytes) return "special";
  if (!info.merges) return "none";
  const made = madeOf(info, id);
  if (!made.whole) return "listed";
  if (made.steps.length) return "merged";
  return bytes.length === 1 && bytes[0] > 127 ? "byte" : "base";
}

/**
 * Bytes as E7 8C AB.
 *
 * @param {number[] | null} bytes
 */
export const hex = (bytes) =>
  (bytes ?? []).map((byte) => byte.toString(16).toUpperCase().padStart(2, "0")).join(" ") || "-";

/**
 * Bytes of a text, and characters: all bytes that do not continue one in UTF-8.
 *
 * @param {number[]} ids
 * @param {Merges} info
 */
export function countsOf(ids, info) {
  const all = ids.flatMap((id) => info.bytes[id] ?? []);
  return { bytes: all.length, characters: all.filter((byte) => (byte & 0xc0) !== 0x80).length };
}

/**
 * A row for each token of the run.
 *
 * @type {(info: Merges, tokens: import("../decode.js").Trace["tokens"]) => import("./reading.js").Table}
 */
export const mergesTable = onceFor((info, { ids, pieces }) => {
  const all = ids.map((id) => madeOf(info, id).steps);
  return {
    keys: {
      position: ids.map((_, position) => position),
      piece: pieces,
      id: ids,
      utf8_bytes: ids.map((id) => hex(info.bytes[id])),
      merges_in_order_with_ranks: all.map((steps) =>
        steps.map(({ left, right, rank }) => `${left}+${right} (${rank})`).join(" "),
      ),
    },
    columns: { merges: all.map((steps) => steps.length), last_rank: all.map((steps) => steps.at(-1)?.rank ?? NaN) },
  };
});

/** @type {import("./reading.js").Reader<MergesReading>} */
export const mergesReader = {
  needs: () => ({ info: ["merges", {}] }),
  read({ trace: { tokens }, details }, selection) {
    const { query } = selection;
    /** @type {Merges} */
    const info = details.info;
    const id = tokens.ids[query];
    const made = madeOf(info, id);
    return {
      selection,
      info,
      id,
      made,
      kind: kindOf(info, id),
      across: info.split.filter(({ first, last }) => first <= query && query <= last),
      at: `token ${query} id=${id} bytes=${hex(info.bytes[id])}`,
      values: { merges: made.steps.length },
      whole: ["merges"],
      rows: { tokens: () => mergesTable(info, tokens) },
    };
  },
};
