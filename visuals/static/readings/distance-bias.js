// A bias by distance in the place of a rotation: of one head, query and key, with the score without and with it.

import { biasAt, bucketAt, kvHead, slopeOf } from "../compute.js";
import { cellOf } from "./cell.js";

/**
 * @typedef {import("../decode.js").Model} Model
 *
 * @typedef {{ layer: number; head: number; query: number; key: number }} BiasSelection
 *
 * @typedef {import("./reading.js").Reading<BiasSelection> & {
 *   kv: number;
 *   distance: number;
 *   slope: number | null;
 *   bucket: number | null;
 * }} BiasReading
 *   `slope`: of the head, under ALiBi; `bucket`: of the distance, under T5's bias
 */

/**
 * The distances that scores can have, the least first: negative ones are of keys after the query.
 *
 * @param {Model} model that has biases
 * @returns {number[]}
 */
export function distancesOf({ parts: { bias, bias_after: after } }) {
  const tokens = /** @type {import("../decoded.d.ts").NumArray} */ (bias).shape[1];
  const first = after ? 1 - tokens : 0;
  return Array.from({ length: tokens - first }, (_, i) => first + i);
}

/**
 * Every head's bias by distance, with the bucket where there are any.
 *
 * @param {Model} model
 * @returns {import("./reading.js").Table}
 */
function tableOf(model) {
  const distance = distancesOf(model);
  const heads = Array.from({ length: model.n_heads }, (_, head) => head);
  return {
    keys: {
      distance,
      ...(model.parts.buckets && { bucket: distance.map((one) => bucketAt(model, one) ?? "") }),
    },
    columns: Object.fromEntries(heads.map((head) => [`head_${head}`, distance.map((one) => biasAt(model, head, one))])),
  };
}

/** @type {import("./reading.js").Reader<BiasReading>} */
export const biasReader = {
  layer: true,
  read({ trace, held }, selection) {
    const { model } = trace;
    const { layer, head, query, key } = selection;
    const { dot: product, bias, score } = cellOf({ trace, head, query, key }, held);
    const distance = query - key;
    const [slope, bucket] = [slopeOf(model, head), bucketAt(model, distance)];
    return {
      selection,
      kv: kvHead(model, head),
      distance,
      slope,
      bucket,
      at: `layer ${layer} head ${head} query ${query} key ${key} distance ${distance}`,
      values: {
        ...(slope !== null && { slope }),
        ...(bucket !== null && { bucket }),
        bias,
        qk: product,
        score,
      },
      whole: ["bucket"],
      rows: { biases: () => tableOf(model) },
    };
  },
};
