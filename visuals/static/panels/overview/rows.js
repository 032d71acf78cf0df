// The places of the diagram from top to bottom, and the run's real tensor at each: name, shape, size, values. Pure.

import { once, poolColumns } from "../../arrays.js";

/**
 * @typedef {{ key: string; chapter: string | null; inside: boolean; branch: boolean; inner: boolean }} Row
 *   `inside` the expanded layer; `branch`: beside the stream; `inner`: has tensors of its own to name
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

export const shapeText = (shape) => shape.join(" × ");

/** Whether attention and feed-forward read the stream side by side, before either has written to it. */
export const sideBySide = ({ parts: { norms } }) => (norms.ffn_norm ?? norms.attn_norm) === "resid_in";

/** Whether a layer looks at a source between its attention and its feed-forward. */
export const crosses = ({ parts: { norms } }) => Boolean(norms.cross_norm);

/**
 * Whether a network has a row: side by side both parts are added at once, one norm may stand before both, an
 * encoder has no head.
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
 * @type {(model: object) => Row[]}
 */
export const rowsOf = once((model) => ROWS.filter(({ key }) => has(model, key)));

export const indexOf = (model, key) => rowsOf(model).findIndex((one) => one.key === key);

/** The row that stands for another network's. */
export function rowFor(model, key) {
  if (indexOf(model, key) >= 0) return key;
  if (key.startsWith("cross")) return rowFor(model, key.replace("cross", "attn"));
  return key === "attn_add" ? "ffn_add" : key === "ffn_norm" ? "attn_norm" : "final_norm";
}

/**
 * The run's way through the network: every stop by row, and by layer inside the layers.
 *
 * @returns {{ key: string; layer: number | null }[]}
 */
export function stops(model) {
  const layers = model.n_layers;
  const inside = rowsOf(model).filter((one) => one.inside);
  const through = Array.from({ length: layers }, (_, layer) => inside.map(({ key }) => ({ key, layer }))).flat();
  const outside = (...keys) => keys.filter((key) => has(model, key)).map((key) => ({ key, layer: null }));
  return [...outside("ids", "embed"), ...through, ...outside("final_norm", "head", "softmax")];
}

// Which name of model/trace.py, and which of the answers' arrays, a row shows: [name, of the answer "stage" or "ends"].
const TENSORS = {
  embed: ["resid_in[0]", "ends", "embedding"],
  before: ["resid_in", "stage", "resid_in"],
  attn_norm: ["attn_normed", "stage", "attn_normed"],
  attn: ["attn_out", "stage", "attn_out"],
  attn_add: ["resid_mid", "stage", "resid_mid"],
  cross_norm: ["cross_normed", "stage", "cross_normed"],
  cross: ["cross_out", "stage", "cross_out"],
  cross_add: ["resid_mid", "stage", "resid_mid"],
  ffn_norm: ["ffn_normed", "stage", "ffn_normed"],
  ffn: ["ffn_out", "stage", "ffn_out"],
  ffn_add: ["resid_out", "stage", "resid_out"],
  after: ["final_resid", "ends", "final"],
  final_norm: ["final_normed", "ends", "final_normed"],
};

/** What stands after attention: where another follows that looks at a source, it reads this. */
const tensorsOf = (key, model) =>
  key === "attn_add" && crosses(model) ? ["resid_cross", "stage", "resid_cross"] : TENSORS[key];

/** ‖x‖ at a row for any token, from the answer "stream". */
function normOf(key, { stream, layer, token, trace }) {
  const { T } = trace;
  const at = (name, depth = layer) => stream[name].data[depth * T + token];
  if (key === "embed") return at("resid", 0);
  if (key === "before") return at("resid");
  if (key === "ffn_add") return at("resid", layer + 1);
  if (key === "after") return at("resid", trace.model.n_layers);
  if (key === "final_norm") return stream.final_normed.data[token];
  return at(tensorsOf(key, trace.model)[2]);
}

/**
 * Shapes of what attention computes inside itself: where keys and values are rebuilt from a latent, that first.
 *
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
 * @param {string} key
 * @param {{ trace; layer; token; stream; stage; ends }} run the answers are null until they came
 * @returns {{
 *   name: string;
 *   shape: number[];
 *   dims: string;
 *   norm: number | null;
 *   values: ArrayLike<number> | null;
 *   ids: ArrayLike<number> | null;
 * }}
 *   `values`: the selected token's vector, known for the locked token; `ids`: which index each value has, where not
 *   its place
 */
export function tensorOf(key, run) {
  const { trace, stream, ends } = run;
  const { T, model } = trace;
  // After the last layer a run goes on with its last token alone; what is shown is asked for the selected one.
  if (key === "ids") return { name: "ids", shape: [T], dims: "T", norm: null, values: null, ids: null };
  if (key === "head" || key === "softmax") {
    const logits = ends?.logits;
    const values =
      logits &&
      (key === "head" ? logits.values.data : Float64Array.from(logits.values.data, (x) => Math.exp(x - ends.log_z)));
    const name = key === "head" ? "logits" : "probabilities";
    return {
      name,
      shape: [model.vocab_size],
      dims: "V",
      norm: null,
      values: values ?? null,
      ids: logits?.ids.data ?? null,
    };
  }
  const [name, from, part] = tensorsOf(key, model);
  const values = run[from]?.[part].data ?? null;
  if (key === "final_norm")
    return { name, shape: [model.d_model], dims: "d", norm: stream && normOf(key, run), values, ids: null };
  return { name, shape: [T, model.d_model], dims: "T × d", norm: stream && normOf(key, run), values, ids: null };
}

/** For each pixel column of a strip the index of the value that it shows: the largest, by magnitude or as it is. */
export function columnsOf(values, columns, key) {
  return poolColumns(key === "head" || key === "softmax" ? Float64Array.from(values, Math.exp) : values, columns);
}
