// @ts-check
// The places of the diagram from top to bottom, and the run's real tensor at each: name, shape, size, values. Pure.

import { once, poolColumns } from "../../arrays.js";

/**
 * @typedef {import("../../decode.js").Trace} Trace
 *
 * @typedef {import("../../decoded.d.ts").Detail<"stream">} Stream
 *
 * @typedef {import("../../decoded.d.ts").Detail<"stage">} Stage
 *
 * @typedef {import("../../decoded.d.ts").Detail<"ends">} Ends
 *
 * @typedef {import("../../types.d.ts").Model} Model
 *
 * @typedef {import("../../decoded.d.ts").NumArray} NumArray
 *
 * @typedef {{ key: string; chapter: string | null; inside: boolean; branch: boolean; inner: boolean }} Row
 *   `inside` the expanded layer; `branch`: beside the stream; `inner`: has tensors of its own to name
 *
 * @typedef {{ trace: Trace; layer: number }} Layer a layer of a run
 *
 * @typedef {Layer & { token: number; stream: Stream | null; stage?: Stage | null; ends?: Ends | null }} Place
 *   where a run is looked at, and the answers about it, null until they came
 *
 * @typedef {{
 *   name: string;
 *   shape: number[];
 *   dims: string;
 *   norm: number | null;
 *   values: ArrayLike<number> | null;
 *   ids: ArrayLike<number> | null;
 * }} Tensor
 *   `norm` and `values` are those of one token, `values` of the locked one; `ids`: which index each value has, where
 *   not its place
 */

/**
 * @param {string} key
 * @param {string | null} chapter
 * @returns {Row}
 */
const row = (key, chapter = null, inside = false, branch = false) => ({
  key,
  chapter,
  inside,
  branch,
  inner: ["attn", "cross", "ffn"].includes(key),
});

/** @type {Row[]} Of a network that has them all. */
const ROWS = [
  row("ids", "token"),
  row("embed", "token"),
  row("before"),
  row("attn_norm", "norm", true, true),
  row("attn", "attend", true, true),
  row("attn_add", null, true),
  row("cross_norm", "norm", true, true),
  row("cross", "attend", true, true),
  row("cross_add", null, true),
  row("ffn_norm", "norm", true, true),
  row("ffn", "ffn", true, true),
  row("ffn_add", null, true),
  row("after"),
  row("final_norm", "norm"),
  row("head", "choice"),
  row("softmax", "choice"),
];

/** @param {number[]} shape */
export const shapeText = (shape) => shape.join(" × ");

/**
 * Whether attention and feed-forward read the stream side by side, before either has written to it.
 *
 * @param {Model} model
 */
export const sideBySide = ({ parts: { norms } }) => (norms.ffn_norm ?? norms.attn_norm) === "resid_in";

/**
 * Whether a layer looks at a source between its attention and its feed-forward.
 *
 * @param {Model} model
 */
export const crosses = ({ parts: { norms } }) => Boolean(norms.cross_norm);

/**
 * Whether a network has a row: side by side both parts are added at once, one norm may stand before both, an
 * encoder has no head.
 *
 * @param {Model} model
 * @param {string} key
 */
function has(model, key) {
  const { norms, stack } = model.parts;
  if (key.startsWith("cross")) return crosses(model);
  if (key === "head" || key === "softmax") return stack !== "encoder";
  return (key !== "attn_add" || !sideBySide(model)) && (key !== "ffn_norm" || Boolean(norms.ffn_norm));
}

/**
 * The rows that a network has.
 *
 * @type {(model: Model) => Row[]}
 */
export const rowsOf = once((model) => ROWS.filter(({ key }) => has(model, key)));

/**
 * Where a row stands in a network's diagram; −1 where it has none such.
 *
 * @param {Model} model
 * @param {string} key
 */
export const indexOf = (model, key) => rowsOf(model).findIndex((one) => one.key === key);

/**
 * The row that stands for another network's.
 *
 * @param {Model} model
 * @param {string} key
 * @returns {string}
 */
export function rowFor(model, key) {
  if (indexOf(model, key) >= 0) return key;
  if (key.startsWith("cross")) return rowFor(model, key.replace("cross", "attn"));
  return key === "attn_add" ? "ffn_add" : key === "ffn_norm" ? "attn_norm" : "final_norm";
}

/**
 * The run's way through the network: every stop by row, and by layer inside the layers.
 *
 * @param {Model} model
 * @returns {{ key: string; layer: number | null }[]}
 */
export function stops(model) {
  const layers = model.n_layers;
  const inside = rowsOf(model).filter((one) => one.inside);
  const through = Array.from({ length: layers }, (_, layer) => inside.map(({ key }) => ({ key, layer }))).flat();
  const outside = (/** @type {string[]} */ ...keys) =>
    keys.filter((key) => has(model, key)).map((key) => ({ key, layer: null }));
  return [...outside("ids", "embed"), ...through, ...outside("final_norm", "head", "softmax")];
}

/**
 * @typedef {"attn_normed"
 *   | "attn_out"
 *   | "resid_cross"
 *   | "cross_normed"
 *   | "cross_out"
 *   | "resid_mid"
 *   | "ffn_normed"
 *   | "ffn_out"} Inside
 *   what stands between a layer's ends, by its name in model/trace.py
 */

/** @type {Record<string, Inside>} By row. */
const INSIDE = {
  attn_norm: "attn_normed",
  attn: "attn_out",
  attn_add: "resid_mid",
  cross_norm: "cross_normed",
  cross: "cross_out",
  cross_add: "resid_mid",
  ffn_norm: "ffn_normed",
  ffn: "ffn_out",
};

/**
 * What stands after attention: where another follows that looks at a source, it reads this.
 *
 * @param {string} key
 * @param {Model} model
 */
const insideOf = (key, model) => (key === "attn_add" && crosses(model) ? "resid_cross" : INSIDE[key]);

/**
 * The vector of a row: its name in model/trace.py, one token's values, and ‖x‖ of any token, from the answer
 * "stream"; both undefined where they are not here.
 *
 * @param {string} key
 * @param {Place} run
 * @returns {[name: string, vector: NumArray | undefined, norm: number | undefined]}
 */
function vectorOf(key, { trace, layer, token, stream, stage, ends }) {
  const resid = (/** @type {number} */ depth) => stream?.resid.data[depth * trace.T + token];
  if (key === "embed") return ["resid_in[0]", ends?.embedding, resid(0)];
  if (key === "before") return ["resid_in", stage?.resid_in, resid(layer)];
  if (key === "ffn_add") return ["resid_out", stage?.resid_out, resid(layer + 1)];
  if (key === "after") return ["final_resid", ends?.final, resid(trace.model.n_layers)];
  if (key === "final_norm") return ["final_normed", ends?.final_normed, stream?.final_normed.data[token]];
  const name = insideOf(key, trace.model);
  return [name, stage?.[name], stream?.[name]?.data[layer * trace.T + token]];
}

/**
 * Shapes of what attention computes inside itself: where keys and values are rebuilt from a latent, that first.
 *
 * @param {Model} model
 * @param {number} T
 * @returns {[string, number[]][]}
 */
function attnShapes({ n_heads, n_kv_heads, head_dim, parts: { latent } }, T) {
  /** @type {[string, number[]][]} */
  const [q, scores] = [
    ["q", [n_heads, T, head_dim]],
    ["scores", [n_heads, T, T]],
  ];
  if (!latent) return [q, ["k, v", [n_kv_heads, T, head_dim]], scores];
  return [
    ["latent", [T, latent.rank]],
    ["k rope", [T, latent.rope]],
    ["q, k", [n_heads, T, head_dim]],
    ["v", [n_heads, T, latent.value]],
  ];
}

/**
 * Shapes of what a feed-forward computes inside itself: of experts, for each token those that it goes to.
 *
 * @param {Model["parts"]["ffn"][number]} ffn
 * @param {number} T
 * @returns {[string, number[]][]}
 */
function ffnShapes({ gated, neurons, width, experts, top_k, shared }, T) {
  const name = gated ? "gate, up" : "up";
  if (!experts) return [[name, [T, neurons]]];
  /** @type {[string, number[]]} */
  const beside = [`shared ${name}`, [T, shared]];
  return [["router", [T, experts]], [name, [T, top_k, width]], ...(shared ? [beside] : [])];
}

/**
 * Shapes of what a part computes inside itself.
 *
 * @param {string} key
 * @param {Trace} trace
 * @param {number} layer
 * @returns {[string, number[]][]}
 */
export function innerShapes(key, { model, T, encoder }, layer) {
  if (key === "cross" && encoder)
    return [
      ["q", [model.n_heads, T, model.head_dim]],
      ["k, v", [model.n_heads, encoder.T, model.head_dim]],
      ["scores", [model.n_heads, T, encoder.T]],
    ];
  return key === "attn" ? attnShapes(model, T) : key === "ffn" ? ffnShapes(model.parts.ffn[layer], T) : [];
}

/**
 * The last answer's logits, or their softmax; null where they are not here.
 *
 * @param {string} key
 * @param {Ends | null | undefined} ends
 */
function scoresOf(key, ends) {
  if (!ends?.logits) return null;
  const { logits, log_z: logZ = NaN } = ends;
  const { data } = logits.values;
  return key === "head" ? data : Float64Array.from(data, (x) => Math.exp(x - logZ));
}

/**
 * The tensor at a row.
 *
 * @param {string} key
 * @param {Place} run
 * @returns {Tensor}
 */
export function tensorOf(key, run) {
  const { T, model } = run.trace;
  // After the last layer a run goes on with its last token alone; what is shown is asked for the selected one.
  if (key === "ids") return { name: "ids", shape: [T], dims: "T", norm: null, values: null, ids: null };
  if (key === "head" || key === "softmax") {
    const name = key === "head" ? "logits" : "probabilities";
    return {
      name,
      shape: [model.vocab_size],
      dims: "V",
      norm: null,
      values: scoresOf(key, run.ends),
      ids: run.ends?.logits?.ids.data ?? null,
    };
  }
  const [name, vector, norm = null] = vectorOf(key, run);
  const values = vector?.data ?? null;
  if (key === "final_norm") return { name, shape: [model.d_model], dims: "d", norm, values, ids: null };
  return { name, shape: [T, model.d_model], dims: "T × d", norm, values, ids: null };
}

/**
 * For each pixel column of a strip the index of the value that it shows: the largest, by magnitude or as it is.
 *
 * @param {ArrayLike<number>} values
 * @param {number} columns
 * @param {string} key
 */
export function columnsOf(values, columns, key) {
  return poolColumns(key === "head" || key === "softmax" ? Float64Array.from(values, Math.exp) : values, columns);
}
