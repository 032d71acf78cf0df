// The places of the diagram from top to bottom, and the run's real tensor at each: name, shape, size, values. Pure.

import { once, poolColumns } from "../../compute.js";

/**
 * @typedef {{ key: string, chapter: string|null, inside: boolean, branch: boolean, inner: boolean }} Row
 * `inside` the expanded layer; `branch`: beside the stream; `inner`: has tensors of its own to name
 */

const row = (key, chapter = null, inside = false, branch = false) => ({ key, chapter, inside, branch, inner: key === "attn" || key === "ffn" });

/** @type {Row[]} Of a network that has them all. */
const ROWS = [
  row("ids", "token"),
  row("embed", "token"),
  row("before"),
  row("attn_norm", "norm", true, true),
  row("attn", "attend", true, true),
  row("attn_add", null, true),
  row("ffn_norm", "norm", true, true),
  row("ffn", "ffn", true, true),
  row("ffn_add", null, true),
  row("after"),
  row("final_norm", "norm"),
  row("head", "choice"),
  row("softmax", "choice"),
];

export const shapeText = (shape) => shape.join(" × ");

/** Whether attention and feed-forward read the stream side by side, before either has written to it. */
export const sideBySide = ({ parts: { norms } }) => (norms.ffn_norm ?? norms.attn_norm) === "resid_in";

/** The rows that a network has: side by side both parts are added at once, and one norm may stand before both. @type {(model: object) => Row[]} */
export const rowsOf = once((model) => ROWS.filter(({ key }) => (key !== "attn_add" || !sideBySide(model)) && (key !== "ffn_norm" || model.parts.norms.ffn_norm)));

export const indexOf = (model, key) => rowsOf(model).findIndex((one) => one.key === key);

/** The row that stands for another network's. */
export const rowFor = (model, key) => (indexOf(model, key) >= 0 ? key : key === "attn_add" ? "ffn_add" : "attn_norm");

/** The run's way through the network: every stop by row, and by layer inside the layers. @returns {{ key: string, layer: number|null }[]} */
export function stops(model) {
  const layers = model.n_layers;
  const inside = rowsOf(model).filter((one) => one.inside);
  const through = Array.from({ length: layers }, (_, layer) => inside.map(({ key }) => ({ key, layer }))).flat();
  const outside = (...keys) => keys.map((key) => ({ key, layer: null }));
  return [...outside("ids", "embed"), ...through, ...outside("final_norm", "head", "softmax")];
}

// Which name of model/trace.py, and which of the answers' arrays, a row shows: [name, of the answer "stage" or "ends"].
const TENSORS = {
  embed: ["resid_in[0]", "ends", "embedding"],
  before: ["resid_in", "stage", "resid_in"],
  attn_norm: ["attn_normed", "stage", "attn_normed"],
  attn: ["attn_out", "stage", "attn_out"],
  attn_add: ["resid_mid", "stage", "resid_mid"],
  ffn_norm: ["ffn_normed", "stage", "ffn_normed"],
  ffn: ["ffn_out", "stage", "ffn_out"],
  ffn_add: ["resid_out", "stage", "resid_out"],
  after: ["final_resid", "ends", "final"],
  final_norm: ["final_normed", "ends", "final_normed"],
};

/** ‖x‖ at a row for any token, from the answer "stream". */
function normOf(key, { stream, layer, token, trace }) {
  const { T } = trace;
  const at = (name, depth = layer) => stream[name].data[depth * T + token];
  const names = { attn_norm: "attn_normed", attn: "attn_out", attn_add: "resid_mid", ffn_norm: "ffn_normed", ffn: "ffn_out" };
  if (key === "embed") return at("resid", 0);
  if (key === "before") return at("resid");
  if (key === "ffn_add") return at("resid", layer + 1);
  if (key === "after") return at("resid", trace.model.n_layers);
  if (key === "final_norm") return stream.final_normed.data[token];
  return at(names[key]);
}

/** Shapes of what attention computes inside itself: where keys and values are rebuilt from a latent, that first. */
function attnShapes({ n_heads, n_kv_heads, head_dim, parts: { latent } }, T) {
  const [q, scores] = [["q", [n_heads, T, head_dim]], ["scores", [n_heads, T, T]]];
  if (!latent) return [q, ["k, v", [n_kv_heads, T, head_dim]], scores];
  return [["latent", [T, latent.rank]], ["k rope", [T, latent.rope]], ["q, k", [n_heads, T, head_dim]], ["v", [n_heads, T, latent.value]]];
}

/** Shapes of what a feed-forward computes inside itself: of experts, for each token those that it goes to. */
function ffnShapes({ gated, neurons, width, experts, top_k, shared }, T) {
  const name = gated ? "gate, up" : "up";
  if (!experts) return [[name, [T, neurons]]];
  return [["router", [T, experts]], [name, [T, top_k, width]], ...(shared ? [[`shared ${name}`, [T, shared]]] : [])];
}

/** Shapes of what a part computes inside itself. @returns {[string, number[]][]} */
export function innerShapes(key, { model, T }, layer) {
  return key === "attn" ? attnShapes(model, T) : key === "ffn" ? ffnShapes(model.parts.ffn[layer], T) : [];
}

/**
 * @param {string} key @param {{ trace, layer, token, stream, stage, ends }} run  the answers are null until they came
 * @returns {{ name: string, shape: number[], dims: string, norm: number|null, values: ArrayLike<number>|null, ids: ArrayLike<number>|null }}
 * `values`: the selected token's vector, known for the locked token; `ids`: which index each value has, where not its place
 */
export function tensorOf(key, run) {
  const { trace, stream, ends } = run;
  const { T, model } = trace;
  // After the last layer a run goes on with its last token alone; what is shown is asked for the selected one.
  if (key === "ids") return { name: "ids", shape: [T], dims: "T", norm: null, values: null, ids: null };
  if (key === "head" || key === "softmax") {
    const logits = ends?.logits;
    const values = logits && (key === "head" ? logits.values.data : Float64Array.from(logits.values.data, (x) => Math.exp(x - ends.log_z)));
    const name = key === "head" ? "logits" : "probabilities";
    return { name, shape: [model.vocab_size], dims: "V", norm: null, values: values ?? null, ids: logits?.ids.data ?? null };
  }
  const [name, from, part] = TENSORS[key];
  const values = run[from]?.[part].data ?? null;
  if (key === "final_norm") return { name, shape: [model.d_model], dims: "d", norm: stream && normOf(key, run), values, ids: null };
  return { name, shape: [T, model.d_model], dims: "T × d", norm: stream && normOf(key, run), values, ids: null };
}

/** For each pixel column of a strip the index of the value that it shows: the largest, by magnitude or as it is. */
export function columnsOf(values, columns, key) {
  return poolColumns(key === "head" || key === "softmax" ? Float64Array.from(values, Math.exp) : values, columns);
}
