// One score under MLA in both forms, and the numbers that are kept of a token. Pure: no DOM, no store.

import { rotatedPair } from "../../compute.js";
import { dot } from "./values.js";

/** @typedef {{ latent, key, nope, value, absorbed: { shape: number[], data: ArrayLike<number> } }} Latent  the answer to "latent" (visuals/latent.py), a row a token each */

/** One token's row of an array. */
export const rowOf = ({ shape: [, width], data }, token) => data.subarray(token * width, (token + 1) * width);

/**
 * A head's score of a key, expanded and absorbed.
 * @param {Latent} found @param {import("../../decode.js").Layer} held @param {object} model
 * @returns {{ q: ArrayLike<number>, k: ArrayLike<number>, c: ArrayLike<number>, absorbed: ArrayLike<number>, turned: number, expanded: number, byLatent: number,
 *             score: number, absorbedScore: number }} `turned`: what the rotated channels add, the same in both; `expanded` q·k of the others, and
 * `byLatent` the same as (W_UKᵀ q)·c
 */
export function scoreOf(found, held, model, head, query, key) {
  const { latent: { nope }, scale } = model.parts;
  const [q, k] = rotatedPair(held, model, { head, query, key });
  const [c, absorbed] = [rowOf(found.latent, key), rowOf(found.absorbed, query)];
  const turned = dot(q.subarray(nope), k.subarray(nope));
  const [expanded, byLatent] = [dot(q.subarray(0, nope), k.subarray(0, nope)), absorbed.reduce((sum, x, i) => sum + x * c[i], 0)];
  return { q, k, c, absorbed, turned, expanded, byLatent, score: (expanded + turned) * scale, absorbedScore: (byLatent + turned) * scale };
}

/** Numbers that a layer keeps of a token, and what keys and values of all heads would take. @param {object} model @returns {{ kept: number, expanded: number }} */
export const keptOf = ({ n_heads: heads, parts: { latent: { rank, nope, rope, value } } }) => ({ kept: rank + rope, expanded: heads * (nope + rope + value) });
