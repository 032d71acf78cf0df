// What the detail "merges" says about a token, ready to show. Pure.

/**
 * @typedef {import("../../decoded.d.ts").Detail<"merges">} Merges
 *
 * @typedef {{ at: number; rank: number; left: string; right: string; into: string }} Step pieces as they are read
 *
 * @typedef {{ base: string[]; steps: Step[]; states: string[][]; whole: boolean }} Made `states`: the symbols
 *   before the first merge and after each; `whole`: the merges end in this very token
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
