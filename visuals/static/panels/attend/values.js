// What a head carries: value vectors, their norms, and the weighted sum. Pure; the vectors come from the detail "values".

import { kvHead, vectorOf } from "../../compute.js";

export const norm = (vector) => Math.sqrt(vector.reduce((sum, x) => sum + x * x, 0));

export const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);

/** The angle between two vectors as its cosine; NaN where one of them is 0, since there is no angle then. */
export const cosine = (a, b) => dot(a, b) / (norm(a) * norm(b));

/** The value vector that a query head reads at a key. @param {{ v: NumArray }} held */
export const valueOf = (held, model, head, key) => vectorOf(held.v, kvHead(model, head), key);

const known = new WeakMap();

/** ‖v‖ of every token for a query head, worked out once. @returns {Float64Array} */
export function valueNorms(held, model, head) {
  const kv = kvHead(model, head);
  if (!known.has(held)) known.set(held, []);
  const tokens = held.v.shape[1];
  known.get(held)[kv] ??= Float64Array.from({ length: tokens }, (_, t) => norm(vectorOf(held.v, kv, t)));
  return known.get(held)[kv];
}

/** A head's output at one query: Σ α·v over the keys that it may see. @param {Float64Array} weights @returns {Float64Array} */
export function mix(held, model, head, weights) {
  const out = new Float64Array(held.v.shape[2]); // values have a width of their own under MLA
  weights.forEach((weight, key) => {
    const v = valueOf(held, model, head, key);
    for (let i = 0; i < out.length; i++) out[i] += weight * v[i];
  });
  return out;
}
