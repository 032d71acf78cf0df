// What the diagram of the loaded model reads off a run: each row's tensor, its name, shape and size, and one token's
// values of it.

import { crosses, rowsOf } from "./diagram-rows.js";

/**
 * @typedef {import("../decode.js").Trace} Trace
 *
 * @typedef {import("../decoded.d.ts").Detail<"stream">} Stream
 *
 * @typedef {import("../decoded.d.ts").Detail<"stage">} Stage
 *
 * @typedef {import("../decoded.d.ts").Detail<"ends">} Ends
 *
 * @typedef {import("../types.d.ts").Model} Model
 *
 * @typedef {import("../decoded.d.ts").NumArray} NumArray
 *
 * @typedef {{ trace: Trace; layer: number; token: number }} Where
 *
 * @typedef {Where & { stream: Stream | null; stage: Stage | null; ends: Ends | null }} Place where a run is looked
 *   at, and the answers about it, null until they came
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
 *
 * @typedef {{ key: string; layer: number; token: number; index: number | null; other?: string }} DiagramSelection
 *   `key`: of the row; `index`: among the row's values, null where none is chosen, or none is here; `other`: a run
 *   whose highest logits are shown too
 *
 * @typedef {import("./reading.js").Reading<DiagramSelection> & { place: Place; tensor: Tensor }} DiagramReading
 */

/** @param {number[]} shape */
export const shapeText = (shape) => shape.join(" × ");

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
  if (isScores(key)) {
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
 * Whether a row's values are scores of the vocabulary: of them the largest is told, of all others the length.
 *
 * @param {string} key
 */
export const isScores = (key) => key === "head" || key === "softmax";

/**
 * How large a row's tensor is: a vector's length, the largest logit or probability; null of the ids, and before
 * that is here.
 *
 * @param {string} key
 * @param {Place} place
 * @returns {number | null}
 */
export function sizeOf(key, place) {
  const { stream, token } = place;
  if (key === "head") return stream?.best?.logit.data[token] ?? null;
  if (key === "softmax") return stream?.best?.probability.data[token] ?? null;
  return tensorOf(key, place).norm;
}

/**
 * The value that speaks for a row: of scores the highest, else that of the largest size.
 *
 * @param {ArrayLike<number>} values
 * @param {string} key
 */
function speaking(values, key) {
  const size = (/** @type {number} */ x) => (isScores(key) ? x : Math.abs(x));
  let best = 0;
  for (let i = 1; i < values.length; i++) if (size(values[i]) > size(values[best])) best = i;
  return best;
}

/**
 * Every value of every row.
 *
 * @param {Place} place
 * @returns {import("./reading.js").Table}
 */
function tensorsOf(place) {
  const all = rowsOf(place.trace.model).flatMap(({ key }) => {
    const { name, shape, values, ids } = tensorOf(key, place);
    return Array.from(values ?? [], (value, i) => ({
      key,
      name,
      shape: shapeText(shape),
      index: ids?.[i] ?? i,
      value,
    }));
  });
  return {
    keys: {
      row: all.map(({ key }) => key),
      tensor: all.map(({ name }) => name),
      shape: all.map(({ shape }) => shape),
      index: all.map(({ index }) => index),
    },
    columns: { value: all.map(({ value }) => value) },
  };
}

/**
 * One row of the diagram, and one of its values: the one that speaks for it unless one is chosen.
 *
 * @type {import("./reading.js").Reader<DiagramReading>}
 */
export const diagramReader = {
  later: (_trace, { layer, token, other }) => ({
    stream: ["stream", {}],
    stage: ["stage", { layer, token }],
    ends: ["ends", other === undefined ? { token } : { token, other }],
  }),
  read({ trace, details: { stream, stage, ends } }, selection) {
    const { key, layer, token } = selection;
    const place = { trace, layer, token, stream, stage, ends };
    const [tensor, size] = [tensorOf(key, place), sizeOf(key, place)];
    const { name, values, ids } = tensor;
    const chosen = selection.index !== null && values && selection.index < values.length ? selection.index : null;
    const index = chosen ?? (values ? speaking(values, key) : null);
    const at = `${key} layer ${layer} token ${token}`;
    return {
      selection: { ...selection, index },
      place,
      tensor,
      at: index === null ? `${at} ${name}` : `${at} channel ${ids?.[index] ?? index} of ${name}`,
      values: {
        ...(size === null ? {} : { [isScores(key) ? "largest" : "norm"]: size }),
        ...(index === null || !values ? {} : { value: values[index] }),
      },
      rows: {
        tensors: () => tensorsOf(place),
        values: () => ({
          keys: { index: Array.from(values ?? [], (_, i) => ids?.[i] ?? i) },
          columns: { value: values ?? [] },
        }),
      },
    };
  },
};
