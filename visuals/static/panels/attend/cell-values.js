// What the selected cell is made of, from the run's q, k and v, and what its head carries. The value vectors come from
// the detail "values". No drawing.

import { dot, onceFor } from "../../arrays.js";
import { biasAt, kvHead, rotatedPair, row, vectorOf } from "../../compute.js";
import { share, shown } from "../../dom.js";

const SINK = 0.3; // from this weight on key 0 is explained as a sink

export const norm = (vector) => Math.sqrt(dot(vector, vector));

/** The angle between two vectors as its cosine; NaN where one of them is 0, since there is no angle then. */
export const cosine = (a, b) => dot(a, b) / (norm(a) * norm(b));

/**
 * The value vector that a query head reads at a key.
 *
 * @param {import("../../decoded.d.ts").Detail<"values">} held
 */
export const valueOf = (held, model, head, key) => vectorOf(held.v, kvHead(model, head), key);

/**
 * ‖v‖ of every token for a query head, worked out once.
 *
 * @returns {Float64Array}
 */
export const valueNorms = (held, model, head) => normsOf(held, kvHead(model, head));
const normsOf = onceFor(({ v }, kv) => Float64Array.from({ length: v.shape[1] }, (_, t) => norm(vectorOf(v, kv, t))));

/**
 * A head's output at one query: Σ α·v over the keys that it may see.
 *
 * @param {Float64Array} weights
 * @returns {Float64Array}
 */
export function mix(held, model, head, weights) {
  const out = new Float64Array(held.v.shape[2]); // values have a width of their own under MLA
  weights.forEach((weight, key) => {
    const v = valueOf(held, model, head, key);
    for (let i = 0; i < out.length; i++) out[i] += weight * v[i];
  });
  return out;
}

/** Everything about the selected cell that needs no request. */
export function cellOf({ trace, head, query, key }, held) {
  const { model } = trace;
  const [q, k] = rotatedPair(held, model, { head, query, key });
  const terms = q.map((x, i) => x * k[i]);
  const { scores, weights, top, total } = row(held, model, head, query);
  return {
    q,
    k,
    terms,
    dot: dot(q, k),
    bias: biasAt(model, head, query - key),
    score: scores[key],
    weight: weights[key],
    weights,
    top,
    total,
    width: model.head_dim,
    head,
    query,
    key,
    tokens: trace.T,
  };
}

/**
 * The selected row, all of it.
 *
 * @returns {(string | number)[][]}
 */
export function rowTable(glass) {
  const { trace, layer, head, query } = glass.state;
  const held = glass.layer();
  const values = glass.detail("values", { layer });
  const norms = values && valueNorms(values, trace.model, head);
  const lines = [
    ["layer", "head", "query", "key", "piece", "score", "weight", "value_norm", "weight_times_value_norm"],
  ];
  if (!held) return lines;
  const { scores, weights } = row(held, trace.model, head, query);
  weights.forEach((weight, key) => {
    const carried = norms ? [norms[key], weight * norms[key]] : ["", ""];
    lines.push([layer, head, query, key, trace.tokens.pieces[key], scores[key], weight, ...carried]);
  });
  return lines;
}

/**
 * Where the first token takes much of the row: that it does, and whether its value is small, as measured here.
 *
 * @param {object | null} values the detail "values"; null where nothing is said of them
 */
export function sinkText(weights, values, { trace, head, query }, text) {
  if (query < 2 || weights[0] < SINK) return "";
  const said = text("sink", { weight: share(weights[0]), head });
  if (!values) return said;
  const norms = valueNorms(values, trace.model, head);
  const others = norms.slice(1).reduce((sum, x) => sum + x, 0) / (norms.length - 1);
  const kind = norms[0] < others / 2 ? "sink_small" : "sink_constant";
  return `${said} ${text(kind, { norm: shown(norms[0], 3), others: shown(others, 3) })}`;
}
