// What the story of the cache reads of a run: its factors, and the bytes that they make.

import { byteUnit } from "../counts.js";
import { scaled } from "../panels/kv/format.js";
import { h } from "../dom.js";
import { bytesOf, elementBytes, factorsOf, keptNumbers, latentOf, momentOf, sourceFactors } from "../readings/kv.js";
import { kept } from "./kept.js";

/** @typedef {import("../decode.js").Trace} Trace */

/**
 * Bytes that one more token takes, over all layers.
 *
 * @param {Trace} trace
 * @returns {number}
 */
export const bytesEach = (trace) => bytesOf(factorsOf(trace, 1));

/**
 * Bytes that one layer keeps of one token.
 *
 * @param {Trace} trace
 * @returns {number}
 */
export const bytesOfCell = (trace) => keptNumbers(trace) * elementBytes(trace);

/**
 * Bytes that are kept of a source; 0 without one.
 *
 * @param {Trace} trace
 * @returns {number}
 */
export function bytesOfSource(trace) {
  const factors = trace.encoder && sourceFactors(trace);
  return factors ? bytesOf(factors) : 0;
}

/**
 * The ending of texts that speak of a latent, or of a source besides.
 *
 * @param {Trace} trace
 */
export const formOf = (trace) => (latentOf(trace) ? "_latent" : trace.encoder ? "_source" : "");

/**
 * Bytes in a sentence, three digits and their unit, with all of them on pointing.
 *
 * @param {number} bytes
 */
export const bytesTold = (bytes) => h("b", { title: `${bytes} ${byteUnit()}` }, inBytes(bytes));

/**
 * The same as text.
 *
 * @param {number} bytes
 */
export const inBytes = (bytes) => scaled(bytes, "binary", 3).replace(" ", "\u00a0");

/**
 * What one cell holds in words: as many pairs as there are K/V heads.
 *
 * @param {import("../types.d.ts").Say} text
 * @param {Trace} trace
 */
export const pairsSaid = (text, { model: { n_kv_heads: count } }) =>
  text(`story-cache.pairs${count === 1 ? "_one" : ""}`, { count });

/**
 * What a grid draws of a run: the same object as long as nothing of it changes.
 *
 * @type {(trace: Trace, until: number, source: string[]) => import("./grid.js").Held}
 */
export const gridOf = kept((trace, until, source) => ({
  pieces: trace.tokens.pieces.slice(0, until),
  from: momentOf(trace, until - 1).from,
  layers: trace.model.n_layers,
  source,
}));
