// What is left of a difference when the residual stream of one place is taken from another text's run: by depth and
// token, 1 where nothing is lost. Pure.

/**
 * @typedef {import("../decoded.d.ts").NumArray} NumArray depths × tokens
 *
 * @typedef {{ row: number; token: number }} Place
 *
 * @typedef {"stream" | "attention" | "ffn"} Part whose write is taken from the other text's run
 *
 * @typedef {object} CausalSelection
 * @property {number} token the position that is asked about
 * @property {string} text the other text
 * @property {Part} part
 * @property {number} layer where the map is read
 * @property {number} query
 * @property {Place | null} source where the encoder's map is read; null: where the word was changed
 *
 * @typedef {import("../decoded.d.ts").Detail<"causal_map">} CausalMap
 *
 * @typedef {{ depth: number; token: number; left: number }} LeftAt
 *
 * @typedef {import("./reading.js").Reading<CausalSelection> & {
 *   found: CausalMap;
 *   own: LeftAt;
 *   source: LeftAt | null;
 * }} CausalReading
 *   what is left where the map is read, and where that of an encoder is
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
 * @returns {LeftAt}
 */
function leftAt({ shape: [depths, tokens], data }, { row, token }) {
  const [depth, t] = [Math.max(0, Math.min(row, depths - 1)), Math.max(0, Math.min(token, tokens - 1))];
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
 * @param {CausalMap} found
 * @returns {import("./reading.js").Table}
 */
function tableOf({ left, source_left: sourceLeft }) {
  const maps = sourceLeft ? [left, sourceLeft] : [left];
  const counts = maps.map(({ data }) => data.length);
  /** @type {(of: (map: NumArray, i: number) => number) => number[]} */
  const each = (of) => maps.flatMap((map) => Array.from(map.data, (_, i) => of(map, i)));
  return {
    keys: {
      ...(sourceLeft && { stack: ["decoder", "encoder"].flatMap((stack, i) => Array(counts[i]).fill(stack)) }),
      depth: each(({ shape: [, tokens] }, i) => Math.floor(i / tokens)),
      token: each(({ shape: [, tokens] }, i) => i % tokens),
    },
    columns: { share_left: each(({ data }, i) => data[i]) },
  };
}

/** @type {import("./reading.js").Reader<CausalReading>} */
export const causalMapReader = {
  needs: (_trace, { token, text, part }) => ({
    found: ["causal_map", { token, text, ...(part !== "stream" && { patched: part }) }],
  }),
  read({ details }, selection) {
    /** @type {CausalMap} */
    const found = details.found;
    const { left, source_left: sourceLeft } = found;
    const own = leftAt(left, { row: selection.layer, token: selection.query });
    const source = sourceLeft && leftAt(sourceLeft, selection.source ?? { row: 0, token: homesOf(sourceLeft)[0] });
    return {
      selection,
      at: `depth ${own.depth} token ${own.token}${source ? ` source depth ${source.depth} token ${source.token}` : ""}`,
      values: { left: own.left, ...(source && { source_left: source.left }) },
      found,
      own,
      source,
      rows: { left: () => tableOf(found) },
    };
  },
};
