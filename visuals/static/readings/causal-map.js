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

const NEARLY = 0.9; // of the most that is lost at a depth: so much is about as much

/**
 * The tokens of a depth where about as much is lost as where most is, that one first.
 *
 * @param {NumArray} left
 * @param {number} depth
 * @returns {{ tokens: number[]; lost: number }} `lost`: the most
 */
function mostLost({ shape: [, tokens], data }, depth) {
  const lost = Array.from(data.subarray(depth * tokens, (depth + 1) * tokens), (part) => 1 - part);
  const most = Math.max(...lost);
  const ranked = lost.map((_, token) => token).sort((a, b) => lost[b] - lost[a]);
  return { tokens: most > 0 ? ranked.filter((token) => lost[token] >= NEARLY * most) : ranked.slice(0, 1), lost: most };
}

/**
 * Where most is lost at the bottom and at the top: the last depth at which it is where it was at the bottom, the
 * first from which on it is at the top's place alone, and the places in between.
 *
 * @param {NumArray} left
 * @returns {{ moves: number; settles: number; stays: boolean; from: Most; to: Most; between: number[] }} depths,
 *   what is lost there, and tokens
 *
 * @typedef {ReturnType<typeof mostLost>} Most
 */
export function moveOf(left) {
  const homes = homesOf(left);
  const top = homes.length - 1;
  const moves = homes.lastIndexOf(homes[0]);
  const most = homes.map((_, depth) => mostLost(left, depth));
  const isAlone = (/** @type {Most} */ { tokens }) => tokens.length === 1 && tokens[0] === homes[top];
  const settles = Math.min(top, most.findLastIndex((one) => !isAlone(one)) + 1);
  const between = [...new Set(most.slice(moves + 1, settles).flatMap(({ tokens }) => tokens))];
  return { moves, settles, stays: moves === top, from: most[moves], to: most[settles], between };
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
