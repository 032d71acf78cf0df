// One row of a head's scores by each way to tell attention where tokens stand: without positions, with sinusoidal ones
// added before W_Q and W_K, with T5's learned bias, with ALiBi, with RoPE. And the same row when the other words change
// their places. All from the run's own q and k before RoPE. Pure: no DOM, no store.

import { dot, once, onceFor, softmax } from "../arrays.js";
import { biasAt, bucketAt, hasBias, kvHead, spanSeen } from "../compute.js";
import { pairsOf, rotate } from "../rotation.js";
import { pairsOf as pairsSeen } from "./masks.js";
import { beforeRope } from "./rope-place.js";

/**
 * @typedef {import("../decoded.d.ts").Detail<"position_kinds">} Found
 *
 * @typedef {import("../decode.js").Trace} Trace
 *
 * @typedef {import("../decode.js").Layer} Layer
 *
 * @typedef {import("../rotation.js").Rotary} Rotary
 *
 * @typedef {"none" | "sinusoidal" | "relative" | "alibi" | "rope"} Kind
 *
 * @typedef {{
 *   layer: number;
 *   head: number;
 *   query: number;
 *   key: number;
 *   heads: number | null;
 *   order: number;
 * }} KindsSelection
 *   `heads`: of how many ALiBi's slopes are, null: as many as the network has; `order`: the number of the order that
 *   the other words are put in
 *
 * @typedef {object} KindRow
 * @property {Kind} kind
 * @property {boolean} own whether the network itself has this kind
 * @property {Float64Array} scores a value for each key that the query sees
 * @property {Float64Array} weights
 * @property {Float64Array} shuffled weights, key by key, with the words in the other order
 * @property {number} change the largest change of a score
 * @property {number} moved the share of attention that goes to other words
 */

/** @type {Kind[]} */
export const KINDS = ["none", "sinusoidal", "relative", "alibi", "rope"];
/** Of sinusoidal positions, and of LLaMA's RoPE where a network has no frequencies of its own. */
const BASE = 10_000;
/** Of T5, where a network has no buckets itself. */
const BUCKETS = 32;

/**
 * PE(position), one channel: sin of position · 10000^(−2i/width) in channel 2i, cos of the same in 2i + 1.
 *
 * @param {number} position
 * @param {number} channel
 * @param {number} width
 */
export function sinusoid(position, channel, width) {
  const angle = position * waveOf(channel >> 1, width);
  return channel % 2 ? Math.cos(angle) : Math.sin(angle);
}

/**
 * 10000^(−2i/width), in radians a position.
 *
 * @param {number} pair
 * @param {number} width
 */
export const waveOf = (pair, width) => BASE ** ((-2 * pair) / width);

/**
 * ALiBi's slope of every head: from 2^(−8/n) on with that ratio for n a power of two; else those of the power of
 * two below, and then every other one of twice that power.
 *
 * @param {number} heads
 * @returns {number[]}
 */
export function alibiSlopes(heads) {
  const power = 2 ** Math.floor(Math.log2(heads));
  return Array.from({ length: heads }, (_, i) =>
    i < power ? 2 ** ((-8 * (i + 1)) / power) : 2 ** ((-8 * (2 * (i - power) + 1)) / (2 * power)),
  );
}

/**
 * The places of the first `count` tokens when all but one change theirs: the order with this number. Orders are
 * drawn by a counter (Numerical Recipes' generator), so that a link shows the same one; none leaves all as they
 * are.
 *
 * @param {number} count
 * @param {number} fixed the token that stays
 * @param {number} order from 1 on
 * @returns {number[]} by token
 */
export function placesOf(count, fixed, order) {
  const free = Array.from({ length: count }, (_, t) => t).filter((t) => t !== fixed);
  const places = [...free];
  let drawn = order;
  for (let i = places.length - 1; i > 0; i--) {
    drawn = (Math.imul(drawn, 1_664_525) + 1_013_904_223) >>> 0;
    const j = Math.floor((drawn / 2 ** 32) * (i + 1));
    [places[i], places[j]] = [places[j], places[i]];
  }
  if (places.length > 1 && places.every((place, i) => place === free[i]))
    places.push(/** @type {number} */ (places.shift()));
  const found = Array.from({ length: count }, (_, t) => t);
  free.forEach((token, i) => {
    found[token] = places[i];
  });
  return found;
}

/**
 * LLaMA's RoPE, for a network without one: every pair (i, i + half) of the head, base 10,000.
 *
 * @type {(model: { head_dim: number }) => Rotary}
 */
const llamaRotary = once(({ head_dim: width }) => {
  const half = Math.floor(width / 2);
  const data = Float32Array.from({ length: half }, (_, i) => waveOf(i, 2 * half));
  return { inv_freq: { shape: [half], data }, attention_scaling: 1, first: 0, interleaved: false };
});

/**
 * The network's own RoPE, or LLaMA's.
 *
 * @param {Trace["model"]} model
 * @returns {Rotary}
 */
export const rotaryOf = (model) => model.parts.rotary ?? llamaRotary(model);

/**
 * Which kind a network has.
 *
 * @param {Trace["model"]} model
 * @returns {Kind}
 */
export function ownKind(model) {
  const { rotary, buckets } = model.parts;
  if (rotary) return "rope";
  return buckets ? "relative" : hasBias(model) ? "alibi" : "none";
}

/**
 * A vector with a position's share added, and normalised where the network normalises q and k.
 *
 * @param {ArrayLike<number>} vector
 * @param {{ shape: number[]; data: ArrayLike<number> }} added
 * @param {number} position
 * @param {{ gamma: ArrayLike<number>; eps: number } | null} norm
 */
function withAdded(vector, added, position, norm) {
  const width = added.shape[1];
  const sum = Float64Array.from({ length: width }, (_, i) => vector[i] + added.data[position * width + i]);
  if (!norm) return sum;
  const by = Math.sqrt(dot(sum, sum) / width + norm.eps);
  return sum.map((value, i) => (value / by) * norm.gamma[i]);
}

/**
 * A row of a matrix.
 *
 * @param {{ shape: number[]; data: Float32Array }} rows
 * @param {number} at
 */
const rowAt = ({ shape: [, width], data }, at) => data.subarray(at * width, (at + 1) * width);

/**
 * q·k of the query at its place with each key at a place, by kind, before the scale; and what is added to the
 * score.
 *
 * @param {Layer} held
 * @param {Trace["model"]} model
 * @param {Found} found
 * @param {KindsSelection} selection
 */
function pairsBy(held, model, found, { head, query, heads }) {
  const kv = kvHead(model, head);
  const rotary = rotaryOf(model);
  const q = beforeRope(held, model, "q", head, query);
  /** @type {(key: number) => ArrayLike<number>} */
  const k = (key) => beforeRope(held, model, "k", kv, key);
  const { added, learned } = found;
  const norm = added?.norm ?? null;
  const count = heads ?? model.n_heads;
  const slope = alibiSlopes(count)[Math.min(head, count - 1)];
  /** @type {(name: "q" | "k", vector: ArrayLike<number>, token: number, place: number) => Float64Array} */
  const summed = (name, vector, token, place) =>
    withAdded(
      norm ? rowAt(/** @type {any} */ (norm[name]), token) : vector,
      /** @type {NonNullable<typeof added>} */ (added)[name],
      place,
      norm && { gamma: norm[`${name}_gamma`].data, eps: norm.eps },
    );
  const [plain, turned] = [Float64Array.from(q), rotate(q, query, rotary)];
  const moved = added && summed("q", q, query, query);
  const { buckets } = model.parts;
  /** @type {(distance: number) => number} */
  function learnedAt(distance) {
    if (buckets) return biasAt(model, head, distance);
    if (!learned) return NaN;
    const [rows, width] = learned.bias.shape;
    return learned.bias.data[(head % rows) * width + Math.max(0, distance)]; // T5 counts keys after the query as none
  }
  /** @type {(distance: number) => number} */
  const alibiAt = (distance) => -slope * Math.abs(distance) + 0;
  /** @type {Record<Kind, (key: number, place: number) => [product: number, bias: number]>} */
  const of = {
    none: (key) => [dot(plain, k(key)), 0],
    sinusoidal: (key, place) => [moved ? dot(moved, summed("k", k(key), key, place)) : NaN, 0],
    relative: (key, place) => [dot(plain, k(key)), learnedAt(query - place)],
    alibi: (key, place) => [dot(plain, k(key)), alibiAt(query - place)],
    rope: (key, place) => [dot(turned, rotate(k(key), place, rotary)), 0],
  };
  return { of, q, k, slope, heads: count };
}

/**
 * How a word-and-place sum comes out of its products: words with words, words with places, places with words,
 * places with places. null where q and k are normalised after it, or nothing is added.
 *
 * @param {Found} found
 * @param {ArrayLike<number>} q
 * @param {ArrayLike<number>} k
 * @param {number} query
 * @param {number} key
 */
function termsOf({ added }, q, k, query, key) {
  if (!added || added.norm) return null;
  const [p, r] = [rowAt(/** @type {any} */ (added.q), query), rowAt(/** @type {any} */ (added.k), key)];
  return [dot(q, k), dot(q, r), dot(p, k), dot(p, r)];
}

/**
 * Which bucket a distance falls in, of the network's own numbers or of those that another has learned.
 *
 * @param {Trace["model"]} model
 * @param {Found} found
 * @param {number} distance
 */
const bucketOf = (model, { learned }, distance) =>
  bucketAt(model, distance) ?? (learned ? learned.bucket.data[Math.max(0, distance)] : NaN);

/**
 * @param {Kind} kind
 * @param {(key: number, place: number) => [number, number]} pair
 * @param {number} scale
 * @param {{ places: number[]; first: number; own: boolean }} row where each key stands in the other order; the
 *   first that a window leaves; whether the network has this kind
 * @returns {KindRow}
 */
function rowOf(kind, pair, scale, { places, first, own }) {
  /** @type {(at: (key: number) => number) => Float64Array} */
  const scored = (at) =>
    Float64Array.from(places, (_, key) => {
      if (at(key) < first) return -Infinity;
      const [product, bias] = pair(key, at(key));
      return product * scale + bias;
    });
  const [scores, others] = [scored((key) => key), scored((key) => places[key])];
  const [weights, shuffled] = [softmax(scores), softmax(others)];
  const apart = scores.map((score, key) => (places[key] < first || key < first ? 0 : Math.abs(others[key] - score)));
  const moved = weights.reduce((sum, weight, key) => sum + Math.abs(shuffled[key] - weight), 0) / 2;
  return { kind, own, scores, weights, shuffled, change: apart.reduce((a, b) => Math.max(a, b), 0), moved };
}

/**
 * The kinds that have scores here.
 *
 * @type {(kinds: KindRow[]) => KindRow[]}
 */
export const thereOf = once((kinds) => kinds.filter(({ scores }) => !Number.isNaN(scores[scores.length - 1])));

/**
 * A line for each key, with what every kind makes of it.
 *
 * @param {Trace} trace
 * @param {KindRow[]} kinds
 * @param {number[]} places
 * @returns {import("./reading.js").Table}
 */
function keysTable(trace, kinds, places) {
  return {
    keys: {
      key: places.map((_, key) => key),
      piece: places.map((_, key) => trace.tokens.pieces[key]),
      place_in_other_order: places,
    },
    columns: Object.fromEntries(
      kinds.flatMap(({ kind, scores, weights, shuffled }) => [
        [`score_${kind}`, scores],
        [`weight_${kind}`, weights],
        [`other_order_${kind}`, shuffled],
      ]),
    ),
  };
}

/**
 * Numbers that positions of each kind take in this run: additions or turned pairs, and learned numbers.
 *
 * @param {Trace} trace
 */
function costsOf({ model, T }) {
  const { n_layers: layers, n_heads: heads, n_kv_heads: kv, d_model: width, parts } = model;
  const seen = pairsSeen((query) => spanSeen(model, query, T), T);
  const pairs = pairsOf(model) || Math.floor(model.head_dim / 2);
  return {
    added: T * width,
    scores: layers * heads * seen,
    turned: layers * T * (heads + (parts.latent ? 1 : kv)) * pairs,
    table: model.max_context * width,
    buckets: BUCKETS * heads,
  };
}

/**
 * All of a row but what one key has of it; made once for each row, so that hovering its keys costs nothing.
 *
 * @type {(
 *   found: Found,
 *   name: string,
 *   held: Layer,
 *   trace: Trace,
 *   selection: KindsSelection,
 * ) => ReturnType<typeof pairsBy> & { kinds: KindRow[]; places: number[] }}
 */
const wholeRow = onceFor((found, _name, held, trace, selection) => {
  const { model, T } = trace;
  const pairs = pairsBy(held, model, found, selection);
  const [first, end] = spanSeen(model, selection.query, T);
  const places = placesOf(end, selection.query, selection.order);
  const own = ownKind(model);
  const kinds = KINDS.map((kind) =>
    rowOf(kind, pairs.of[kind], model.parts.scale, { places, first, own: kind === own }),
  );
  return { ...pairs, kinds, places };
});

/**
 * One row of a head under every kind of position.
 *
 * @typedef {import("./reading.js").Reading<KindsSelection> & {
 *   kinds: KindRow[];
 *   places: number[];
 *   products: Record<Kind, [product: number, bias: number]>;
 *   terms: number[] | null;
 *   slope: number;
 *   heads: number;
 *   bucket: number;
 *   costs: ReturnType<typeof costsOf>;
 *   found: Found;
 * }} KindsReading
 *   `products`: of the selected key, q·k before the scale and what is added after it
 * @type {import("./reading.js").Reader<KindsReading>}
 */
export const positionKinds = {
  layer: true,
  needs: (_trace, { layer, head }) => ({ found: ["position_kinds", { layer, head }] }),
  read({ trace, held, details: { found } }, selection) {
    const { model } = trace;
    const { layer, head, query, key, order } = selection;
    const name = `${query} ${selection.heads} ${order}`;
    const { of, q, k, slope, heads, kinds, places } = wholeRow(found, name, held, trace, selection);
    const products = /** @type {KindsReading["products"]} */ (
      Object.fromEntries(KINDS.map((kind) => [kind, of[kind](key, key)]))
    );
    return {
      selection: { ...selection, heads },
      kinds,
      places,
      products,
      terms: termsOf(found, q, k(key), query, key),
      slope,
      heads,
      bucket: bucketOf(model, found, query - key),
      costs: costsOf(trace),
      found,
      at: `layer ${layer} head ${head} query ${query} key ${key} order ${order}`,
      digits: 6,
      values: Object.fromEntries(
        kinds.flatMap(({ kind, scores, weights, moved, change }) => [
          [`score_${kind}`, scores[key]],
          [`weight_${kind}`, weights[key]],
          [`moved_${kind}`, moved],
          [`change_${kind}`, change],
        ]),
      ),
      rows: {
        keys: () => keysTable(trace, thereOf(kinds), places),
        kinds: () => {
          const there = thereOf(kinds);
          return {
            keys: { kind: there.map(({ kind }) => kind) },
            columns: {
              score: there.map(({ scores }) => scores[key]),
              weight: there.map(({ weights }) => weights[key]),
              moved: there.map(({ moved }) => moved),
            },
          };
        },
      },
    };
  },
};
