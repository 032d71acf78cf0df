// The places of the loaded model's diagram, from top to bottom, and the run's way through them.

import { once } from "../arrays.js";

/**
 * @typedef {import("../types.d.ts").Model} Model
 *
 * @typedef {{ key: string; chapter: string | null; inside: boolean; branch: boolean; inner: boolean }} Row
 *   `inside` the expanded layer; `branch`: beside the stream; `inner`: has tensors of its own to name
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
