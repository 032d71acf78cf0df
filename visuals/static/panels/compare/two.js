// One text in two networks: the same place in both, which head is looked at in each, and what one reads. Pure.

import { strongest } from "../../arrays.js";
import { bytesOf } from "../../characters.js";
import { crossRow, row } from "../../compute.js";

/**
 * What is shown of one of the two runs.
 *
 * @typedef {object} ReadRun
 * @property {"A" | "B"} side
 * @property {import("../../decode.js").Trace} trace
 * @property {string} label the network's name
 * @property {number} layer
 * @property {number} head
 * @property {number} query the token that is looked at
 * @property {{ weights: ArrayLike<number>; most: number } | null} found what the head reads; null until it has come
 * @property {import("../../decoded.d.ts").Detail<"cost"> | null} cost what the network costs (costs.js); null until
 *   it has come
 */

/**
 * The token of another run that holds the end of a token of this one: two tokenizers part a text in their own ways.
 *
 * @param {{ tokens: { pieces: string[] } }} from
 * @param {{ tokens: { pieces: string[] } }} to
 * @param {number} token
 * @returns {number}
 */
export function samePlace({ tokens: { pieces } }, { tokens: { pieces: others } }, token) {
  const shared = pieces.slice(0, token + 1);
  if (shared.every((piece, i) => piece === others[i])) return token;
  const end = shared.reduce((sum, piece) => sum + bytesOf(piece), 0);
  let reached = 0;
  const found = others.findIndex((piece) => (reached += bytesOf(piece)) >= end);
  return found < 0 ? others.length - 1 : found;
}

/** A setting "layer.head". */
const PLACE = /^(\d{1,4})\.(\d{1,4})$/;

/**
 * The layer and head that are looked at in a run: its own where one is set, else the page's, as far as the network
 * has them.
 *
 * @param {string | undefined} own
 * @param {{ layer: number; head: number }} selected
 * @param {{ n_layers: number; n_heads: number }} model
 */
export function headOf(own, selected, { n_layers: layers, n_heads: heads }) {
  const [, layer, head] = PLACE.exec(own ?? "")?.map(Number) ?? [0, selected.layer, selected.head];
  return { layer: Math.min(layer, layers - 1), head: Math.min(head, heads - 1) };
}

/**
 * The run's text as a network reads it: what an encoder reads, where there is one.
 *
 * @param {import("../../decode.js").Trace} trace
 */
export const textRead = (trace) => trace.encoder ?? trace;

/**
 * The weights of a query in a head over that text, and the token it reads most: a decoder's by its look at the
 * source.
 *
 * @param {import("../../decode.js").Layer} held
 * @param {import("../../types.d.ts").Model} model
 * @param {number} head
 * @param {number} query
 * @returns {{ weights: ArrayLike<number>; most: number }}
 */
export function reading(held, model, head, query) {
  const { cross } = held;
  const { weights } = cross ? crossRow({ cross }, model, head, query) : row(held, model, head, query);
  return { weights, most: strongest(weights, 1)[0] };
}
