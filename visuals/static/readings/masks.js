// Which keys each query sees under the masks that networks use, as a range from … to − 1, and how many pairs that is.
// Pure; model/replaced/token_masks.py has the same as matrices.

/**
 * @typedef {[from: number, to: number]} Span keys from … to − 1
 *
 * @typedef {(query: number) => Span} Mask
 */

/** @type {Mask} Those up to the query. */
export const causal = (query) => [0, query + 1];

/** All of so many tokens. @type {(tokens: number) => Mask} */
export const bidirectional = (tokens) => () => [0, tokens];

/** The causal mask, but that the first tokens all see each other. @type {(prefix: number) => Mask} */
export const prefixed = (prefix) => (query) => [0, Math.max(query + 1, prefix)];

/** Causal, and no further back than so many tokens, the query's own among them. @type {(window: number) => Mask} */
export const sliding = (window) => (query) => [Math.max(0, query + 1 - window), query + 1];

/**
 * The keys that are in both; both hold the query's own.
 *
 * @param {Span} one
 * @param {Span} other
 * @returns {Span}
 */
export const overlap = (one, other) => [Math.max(one[0], other[0]), Math.min(one[1], other[1])];

/**
 * Where groups of neighbours begin and the last ends: as many as asked for, as equal as they can be, larger ones
 * first.
 *
 * @param {number} tokens
 * @param {number} groups
 * @returns {number[]} one more than there are groups
 */
export function groupEdges(tokens, groups) {
  const [least, more] = [Math.floor(tokens / groups), tokens % groups];
  return Array.from({ length: groups + 1 }, (_, i) => i * least + Math.min(i, more));
}

/**
 * Tokens of the query's own group, up to itself where causal.
 *
 * @param {number[]} edges
 * @param {boolean} isCausal
 * @returns {Mask}
 */
export const grouped = (edges, isCausal) => (query) => {
  const at = edges.findIndex((edge) => edge > query);
  return [edges[at - 1], isCausal ? query + 1 : edges[at]];
};

/**
 * How many pairs of query and key see each other.
 *
 * @param {Mask} mask
 * @param {number} queries
 */
export function pairsOf(mask, queries) {
  let count = 0;
  for (let query = 0; query < queries; query++) {
    const [from, to] = mask(query);
    count += to - from;
  }
  return count;
}

/**
 * A row of weights once a narrower mask hides more: what is left, divided by its sum; NaN for what is hidden.
 *
 * @param {Float64Array} weights of the keys from 0 on
 * @param {Span} span
 * @returns {{ weights: Float64Array; lost: number }} `lost`: the weight that stood on what is hidden now
 */
export function within(weights, [from, to]) {
  const left = weights.map((weight, key) => (key >= from && key < to ? weight : NaN));
  const [kept, lost] = [sumOf(weights, from, to), sumOf(weights, 0, from) + sumOf(weights, to, weights.length)];
  return { weights: left.map((weight) => weight / kept), lost };
}

/** @param {ArrayLike<number>} values @param {number} from @param {number} to */
function sumOf(values, from, to) {
  let sum = 0;
  for (let i = from; i < Math.min(to, values.length); i++) sum += values[i];
  return sum;
}

/**
 * A token of GLM's input: `word` null for a sign; `blank`: which span it stands for or belongs to; `place`: in part
 * A, `inner`: in its span; `target`: what is to be predicted there, null for nothing.
 *
 * @typedef {{
 *   word: string | null;
 *   sign: "" | "mask" | "start";
 *   part: "A" | "B";
 *   place: number;
 *   inner: number;
 *   target: string | null;
 * }} Filled
 */

/**
 * GLM's input for a text of which some spans are blanked (arXiv 2103.10360, section 2.1): part A with a [MASK] for
 * each, then the spans themselves in an order of their own. Places count from 1, as in the paper.
 *
 * @param {(string | string[])[]} text a word, or the words of a span that is blanked
 * @param {boolean} reversed the spans in the order from the last to the first
 * @returns {Filled[]}
 */
export function blankInfilling(text, reversed) {
  /** @type {Filled[]} */
  const a = text.map((part, i) => ({
    word: Array.isArray(part) ? null : part,
    sign: Array.isArray(part) ? "mask" : "",
    part: "A",
    place: i + 1,
    inner: 0,
    target: null,
  }));
  const spans = text.flatMap((part, i) => (Array.isArray(part) ? [{ words: part, place: i + 1 }] : []));
  const ordered = reversed ? [...spans].reverse() : spans;
  const b = ordered.flatMap(({ words, place }) =>
    [null, ...words].map(
      (word, i) =>
        /** @type {Filled} */ ({
          word,
          sign: word === null ? "start" : "",
          part: "B",
          place,
          inner: i + 1,
          target: words[i] ?? "[END]",
        }),
    ),
  );
  return [...a, ...b];
}
