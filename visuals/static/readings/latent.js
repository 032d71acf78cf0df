// What is read off MLA: the latent that is kept of a token, what a head rebuilds from it, and one score in both forms.

import { dot } from "../arrays.js";
import { rotatedPair } from "../compute.js";

/**
 * @typedef {import("../decoded.d.ts").NumArray} NumArray
 *
 * @typedef {import("../decoded.d.ts").Detail<"latent">} Latent a row a token each
 *
 * @typedef {import("../decode.js").Model} Model of a network with MLA
 */

/**
 * One token's row of an array.
 *
 * @param {NumArray} rows
 * @param {number} token
 */
const rowOf = ({ shape: [, width], data }, token) => data.subarray(token * width, (token + 1) * width);

/** @param {Model} model */
export const widthsOf = ({ parts: { latent } }) => /** @type {import("../messages.d.ts").LatentWidths} */ (latent);

/**
 * A head's score of a key, expanded and absorbed.
 *
 * @typedef {object} TwoForms
 * @property {Float64Array} q after RoPE
 * @property {Float64Array} k
 * @property {NumArray["data"]} c the key's latent
 * @property {NumArray["data"]} absorbed W_UKᵀ q, the query that reads the latent itself
 * @property {number} turned what the rotated channels add, the same in both
 * @property {number} expanded q·k of the others
 * @property {number} byLatent the same as (W_UKᵀ q)·c
 * @property {number} score
 * @property {number} absorbedScore
 */

/**
 * @param {Latent} found
 * @param {import("../decode.js").Layer} held
 * @param {Model} model
 * @param {LatentSelection} selection
 * @returns {TwoForms}
 */
function scoreOf(found, held, model, { head, query, key }) {
  const { nope } = widthsOf(model);
  const { scale } = model.parts;
  const [q, k] = rotatedPair(held, model, { head, query, key });
  const [c, absorbed] = [rowOf(found.latent, key), rowOf(found.absorbed, query)];
  const turned = dot(q.subarray(nope), k.subarray(nope));
  const [expanded, byLatent] = [dot(q.subarray(0, nope), k.subarray(0, nope)), dot(absorbed, c)];
  const [score, absorbedScore] = [(expanded + turned) * scale, (byLatent + turned) * scale];
  return { q, k, c, absorbed, turned, expanded, byLatent, score, absorbedScore };
}

/**
 * What a head hands to W_O at a query, of its weighted values and of its weighted latents.
 *
 * @typedef {object} TwoOutputs
 * @property {NumArray["data"]} mean Σ α c
 * @property {NumArray["data"]} expanded Σ α v
 * @property {NumArray["data"]} byLatent the same as W_UV (Σ α c)
 * @property {number} apart the largest difference of the two
 */

/**
 * @param {Latent} found
 * @param {LatentSelection} selection
 * @returns {TwoOutputs}
 */
function outputOf(found, { query }) {
  const [mean, expanded, byLatent] = [found.mean_latent, found.mixed, found.mixed_latent].map((rows) =>
    rowOf(rows, query),
  );
  return { mean, expanded, byLatent, apart: Math.max(...expanded.map((x, i) => Math.abs(x - byLatent[i]))) };
}

/**
 * Numbers that a layer keeps of a token, and what keys and values of all heads would take.
 *
 * @param {Model} model
 * @returns {{ kept: number; expanded: number }}
 */
function keptOf(model) {
  const { rank, nope, rope, value } = widthsOf(model);
  return { kept: rank + rope, expanded: model.n_heads * (nope + rope + value) };
}

/**
 * The vectors one after the other, as one table.
 *
 * @param {Pick<LatentReading, "score" | "output" | "value" | "selection">} reading
 */
function vectorsTable({ score, output, value, selection: { layer, head, query, key } }) {
  const vectors = Object.entries({
    latent: score.c,
    absorbed_query: score.absorbed,
    q: score.q,
    k: score.k,
    value,
    mean_latent: output.mean,
    output: output.expanded,
    absorbed_output: output.byLatent,
  }).map(([name, values]) => ({ name, values: Array.from(values) }));
  /**
   * @template Value
   * @param {(name: string, index: number, value: number) => Value} told
   */
  const each = (told) => vectors.flatMap(({ name, values }) => values.map((x, i) => told(name, i, x)));
  return {
    keys: {
      layer: each(() => layer),
      head: each(() => head),
      query: each(() => query),
      key: each(() => key),
      vector: each((name) => name),
      index: each((_, i) => i),
    },
    columns: { value: each((_name, _i, x) => x) },
  };
}

/**
 * A key's latent, what a head makes of it, and its score at a query.
 *
 * @typedef {{ layer: number; head: number; query: number; key: number }} LatentSelection
 *
 * @typedef {import("./reading.js").Reading<LatentSelection> & {
 *   score: TwoForms;
 *   output: TwoOutputs;
 *   value: NumArray["data"];
 * }} LatentReading
 *   `value`: the head's, rebuilt
 * @type {import("./reading.js").Reader<LatentReading>}
 */
export const latentReader = {
  layer: true,
  needs: (_trace, { layer, head }) => ({ found: ["latent", { layer, head }] }),
  read({ trace: { model }, held, details: { found } }, selection) {
    const { layer, head, query, key } = selection;
    const [score, value] = [scoreOf(found, held, model, selection), rowOf(found.value, key)];
    const output = outputOf(found, selection);
    const { kept, expanded } = keptOf(model);
    const read = { selection, score, output, value };
    return {
      ...read,
      at: `layer ${layer} head ${head} query ${query} key ${key}`,
      digits: 7, // both forms of the score are the same number
      values: {
        score: score.score,
        absorbed: score.absorbedScore,
        rope: score.turned,
        kept,
        expanded,
        apart: output.apart,
      },
      rows: { vectors: () => vectorsTable(read) },
    };
  },
};
