// A head's q and k at one cell, pair by pair, before and after RoPE turns them, and what each pair adds to q·k.

import { kvHead, rotatedPair, vectorOf } from "../compute.js";
import { exact } from "../dom.js";
import { angle, channelsOf, pairTerms, unrotatedTerm } from "../rotation.js";
import { atCell } from "./attend.js";
import { rotaryOf } from "./position-kinds.js";
import { beforeRope, turnsPart } from "./rope-place.js";

/**
 * @typedef {import("../decode.js").Layer} Layer
 *
 * @typedef {import("../decode.js").Model} Model
 *
 * @typedef {import("../rotation.js").Rotary} Rotary
 *
 * @typedef {import("./reading.js").Table} Table
 *
 * @typedef {ArrayLike<number>} Vector
 *
 * @typedef {{ layer: number; head: number; query: number; key: number; pair: number }} DialSelection
 *
 * @typedef {{ channels: number[]; q: Vector; k: Vector; products: Vector }} Unturned
 *
 * @typedef {object} Parts
 * @property {Vector} q before RoPE
 * @property {Vector | null} k null where a run has it after RoPE alone
 * @property {Vector} kBefore k before RoPE, there too
 * @property {Vector} qTurned
 * @property {Vector} kTurned
 * @property {Float64Array} terms what each pair adds to q·k
 * @property {number} sum of them
 * @property {number} rest what the channels add that are not turned
 * @property {Rotary} rotary
 * @property {number} kv the K/V head
 *
 * @typedef {import("./reading.js").Reading<DialSelection> &
 *   Parts & { frequency: number; still: number; unturned: Unturned | null }} DialReading
 *   `frequency`: of the pair; `still`: what the pairs would add unturned; `unturned`: the channels that are not
 *   turned, null where all are
 */

/**
 * The two values of a pair of a head's vector.
 *
 * @param {Vector} vector
 * @param {number} pair
 * @param {Rotary} rotary
 * @returns {[number, number]}
 */
export const pairIn = (vector, pair, rotary) =>
  /** @type {[number, number]} */ (channelsOf(rotary, pair).map((channel) => vector[channel]));

/** @param {Float64Array} terms */
const sumOf = (terms) => terms.reduce((a, b) => a + b, 0);

/**
 * @param {Layer} layer
 * @param {Model} model that turns its heads
 * @param {DialSelection} selection
 * @returns {Parts}
 */
function partsOf(layer, model, { head, query, key }) {
  const rotary = rotaryOf(model);
  const kv = kvHead(model, head);
  const [qTurned, kTurned] = rotatedPair(layer, model, { head, query, key });
  const terms = pairTerms(qTurned, kTurned, rotary);
  return {
    q: vectorOf(layer.q, head, query),
    k: layer.k && vectorOf(layer.k, kv, key),
    kBefore: beforeRope(layer, model, "k", kv, key),
    qTurned,
    kTurned,
    terms,
    sum: sumOf(terms),
    rest: unrotatedTerm(qTurned, kTurned, rotary),
    rotary,
    kv,
  };
}

/**
 * The vectors that the run has, by name.
 *
 * @param {Parts} parts
 * @returns {Record<string, Vector>}
 */
const vectorsOf = ({ q, qTurned, k, kTurned }) => ({ q, q_rot: qTurned, ...(k ? { k } : {}), k_rot: kTurned });

/**
 * The channels outside the pairs: q, k and their products.
 *
 * @param {Parts} parts
 * @param {Model} model
 * @returns {Unturned | null}
 */
function unturnedOf({ qTurned, kTurned, rotary }, model) {
  if (!turnsPart(model)) return null;
  const [from, to] = [rotary.first, rotary.first + 2 * rotary.inv_freq.data.length];
  const every = Array.from({ length: model.head_dim }, (_, channel) => channel);
  const channels = every.filter((channel) => channel < from || channel >= to);
  const [q, k] = [qTurned, kTurned].map((vector) => channels.map((channel) => vector[channel]));
  return { channels, q, k, products: q.map((x, i) => x * k[i]) };
}

/**
 * A row for each pair.
 *
 * @param {Parts} parts
 * @returns {Table}
 */
function pairTable(parts) {
  const { terms, rotary } = parts;
  const pairs = Array.from(terms, (_, pair) => pair);
  const of = (/** @type {Vector} */ vector, /** @type {0 | 1} */ end) =>
    pairs.map((pair) => pairIn(vector, pair, rotary)[end]);
  const vectors = Object.entries(vectorsOf(parts)).flatMap(([name, vector]) => [
    [`${name}_first`, of(vector, 0)],
    [`${name}_second`, of(vector, 1)],
  ]);
  const channels = pairs.map((pair) => channelsOf(rotary, pair));
  return {
    keys: { pair: pairs, first: channels.map(([first]) => first), second: channels.map(([, second]) => second) },
    columns: { inv_freq: rotary.inv_freq.data, ...Object.fromEntries(vectors), term: terms },
  };
}

/**
 * The pair's two values in each vector, as the value line begins.
 *
 * @param {Parts} parts
 * @param {number} pair
 */
function placeOf(parts, pair) {
  const two = (/** @type {Vector} */ vector) =>
    `(${pairIn(vector, pair, parts.rotary)
      .map((value) => exact(value))
      .join(", ")})`;
  const vectors = Object.entries(vectorsOf(parts)).map(([name, vector]) => `${name}=${two(vector)}`);
  return [`pair ${pair}`, ...vectors].join(" ");
}

/** @type {import("./reading.js").Reader<DialReading>} */
export const dialsReader = {
  layer: true,
  read({ trace: { model }, held }, selection) {
    const { query, key, pair } = selection;
    const parts = partsOf(held, model, selection);
    const { rotary, terms, sum, rest } = parts;
    const frequency = rotary.inv_freq.data[pair];
    return {
      selection,
      ...parts,
      frequency,
      still: sumOf(pairTerms(parts.q, parts.kBefore, rotary)) * rotary.attention_scaling ** 2,
      unturned: unturnedOf(parts, model),
      at: placeOf(parts, pair),
      values: {
        angle_q: angle(query, frequency),
        angle_k: angle(key, frequency),
        term: terms[pair],
        sum,
        ...(turnsPart(model) && { unrotated: rest, qk: sum + rest }),
      },
      rows: { pairs: () => pairTable(parts) },
    };
  },
};

/**
 * The same for two runs, with every vector whole: k before RoPE is turned back where a run has it after it alone.
 *
 * @type {import("./reading.js").Reader<import("./reading.js").Reading<DialSelection>>}
 */
export const turnedReader = {
  layer: true,
  read({ trace: { model }, held }, selection) {
    const { pair } = selection;
    const parts = partsOf(held, model, selection);
    const { q, kBefore, qTurned, kTurned, terms, sum, rotary } = parts;
    const vectors = { q, k: kBefore, q_rot: qTurned, k_rot: kTurned };
    const ends = Object.entries(vectors).flatMap(([name, vector]) => {
      const [first, second] = pairIn(vector, pair, rotary);
      return [
        [`${name}_first`, first],
        [`${name}_second`, second],
      ];
    });
    return {
      selection,
      at: `pair ${pair} ${atCell(selection)}`,
      values: { term: terms[pair], sum, ...Object.fromEntries(ends) },
      rows: {
        vectors: () => ({ keys: { channel: Array.from(q, (_, channel) => channel) }, columns: vectors }),
        pairs: () => pairTable(parts),
      },
    };
  },
};
