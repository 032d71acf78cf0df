// @ts-check
// What is left of a difference when the residual stream of one place is taken from another text's run: by depth and
// token, 1 where nothing is lost. Pure.

/**
 * @typedef {import("../../decoded.d.ts").NumArray} NumArray depths × tokens
 *
 * @typedef {{ row: number; token: number }} Place
 */

/**
 * Of each depth the token where most is lost.
 *
 * @param {NumArray} left
 * @returns {number[]}
 */
export function homesOf({ shape: [depths, tokens], data }) {
  return Array.from({ length: depths }, (_, depth) => {
    const row = data.subarray(depth * tokens, (depth + 1) * tokens);
    return row.indexOf(Math.min(...row));
  });
}

/**
 * The first depth at which half of the difference or more is lost somewhere: what the answer needs is there from
 * then on.
 *
 * @param {NumArray} left
 * @returns {{ depth: number; before: number; after: number } | null} the most that is lost at the depths `before`,
 *   and what is lost there; null where there is no such depth above the first
 */
export function arrivalOf({ shape: [depths, tokens], data }) {
  const lost = Array.from(
    { length: depths },
    (_, depth) => 1 - Math.min(...data.subarray(depth * tokens, (depth + 1) * tokens)),
  );
  const depth = lost.findIndex((most) => most >= 0.5);
  return depth > 0 ? { depth, before: Math.max(...lost.slice(0, depth)), after: lost[depth] } : null;
}

/**
 * The depth and the token that there are nearest to a place, and what is left there.
 *
 * @param {NumArray} left
 * @param {Place} place
 */
export function leftAt({ shape: [depths, tokens], data }, { row, token }) {
  const [depth, t] = [Math.min(row, depths - 1), Math.min(token, tokens - 1)];
  return { depth, token: t, left: data[depth * tokens + t] };
}

/**
 * Where most is lost at the bottom and at the top, and the last depth at which it is where it was at the bottom.
 *
 * @param {NumArray} left
 * @returns {{ first: number; last: number; moves: number; stays: boolean; lost: number; lostAfter: number }}
 *   tokens, depth, and what is lost at that depth and at the next
 */
export function moveOf(left) {
  const homes = homesOf(left);
  const top = homes.length - 1;
  const moves = homes.lastIndexOf(homes[0]);
  const lost = (/** @type {number} */ depth) => 1 - leftAt(left, { row: depth, token: homes[depth] }).left;
  return {
    first: homes[0],
    last: homes[top],
    moves,
    stays: moves === top,
    lost: lost(moves),
    lostAfter: lost(Math.min(top, moves + 1)),
  };
}

/**
 * A row for each depth and token, of two stacks with the stack's name.
 *
 * @param {import("../../decoded.d.ts").Detail<"causal_map">} found
 * @returns {(string | number)[][]}
 */
export function tableOf({ left, source_left: sourceLeft }) {
  const names = ["depth", "token", "share_left"];
  /**
   * @param {NumArray} map
   * @param {...string} stack
   */
  const rowsOf = ({ shape: [, tokens], data }, ...stack) =>
    Array.from(data, (x, i) => [...stack, Math.floor(i / tokens), i % tokens, x]);
  if (!sourceLeft) return [names, ...rowsOf(left)];
  return [["stack", ...names], ...rowsOf(left, "decoder"), ...rowsOf(sourceLeft, "encoder")];
}
