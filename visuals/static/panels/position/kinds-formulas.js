// The score of one key under every kind of position, each with its numbers.

import { scaledByRoot } from "../../compute.js";
import { fraction, line, root, shown, strong, sub, tinted } from "../../dom.js";

/**
 * @typedef {import("../../readings/position-kinds.js").KindsReading} KindsReading
 *
 * @typedef {import("../../decode.js").Model} Model
 *
 * @typedef {(name: string, params?: Record<string, unknown>) => string} Say
 *
 * @typedef {(Node | string)[]} Content
 */

const q = () => tinted("q", "q");
const k = () => tinted("k", "k");

/**
 * A product over √head_dim, or times the network's own factor.
 *
 * @param {Model} model
 * @param {string} product in words or numbers
 * @returns {Content}
 */
function scaled(model, product) {
  if (model.parts.scale === 1) return [product];
  return scaledByRoot(model)
    ? [fraction(product, root(String(model.head_dim)))]
    : [`(${product}) · ${shown(model.parts.scale, 5)}`];
}

/**
 * The same after an arrow, where there is a factor to be seen.
 *
 * @param {Model} model
 * @param {number} product
 * @returns {Content}
 */
const toScaled = (model, product) => (model.parts.scale === 1 ? [] : [" → ", ...scaled(model, shown(product, 5))]);

/**
 * With its sign before it, as it stands in a sum.
 *
 * @param {number} value
 * @param {(size: number) => string} [write]
 */
const plus = (value, write = (size) => shown(size, 4)) => `${value < 0 ? "−" : "+"} ${write(Math.abs(value))}`;

/** The terms of one sum have as many decimals each. @param {number} term */
const written = (term) => term.toFixed(2).replace("-", "−");

/**
 * @param {KindsReading} reading
 * @param {Model} model
 * @param {Say} text
 * @param {string} colon
 * @returns {HTMLElement[]}
 */
export function formulasOf(reading, model, text, colon) {
  const { products, terms, slope, bucket, selection, values } = reading;
  const { query, key } = selection;
  const score = (/** @type {string} */ kind) => strong(values[`score_${kind}`], 4);
  const name = (/** @type {string} */ kind) => text(`kind_${kind}`) + colon;
  const [position, other] = [`PE(${query})`, `PE(${key})`];
  const distance = Math.abs(query - key);
  const lines = [line`${name("none")}${q()}·${k()}${toScaled(model, products.none[0])} = ${score("none")}`];
  if (terms) {
    const sum = terms.slice(1).reduce((words, value) => `${words} ${plus(value, written)}`, written(terms[0]));
    const parts = [q(), "·", k(), " + ", q(), "·W", sub("K"), other, " + W", sub("Q"), position, "·", k()];
    const all = [...parts, " + W", sub("Q"), position, "·W", sub("K"), other];
    lines.push(line`${name("sinusoidal")}${all} → ${scaled(model, sum)} = ${score("sinusoidal")}`);
  } else if (reading.found.added) {
    const product = toScaled(model, products.sinusoidal[0]);
    lines.push(line`${name("sinusoidal")}${text("normed_sum")}${product} = ${score("sinusoidal")}`);
  }
  if (!Number.isNaN(bucket)) {
    const product = scaled(model, shown(products.relative[0], 5));
    const bias = plus(products.relative[1]);
    lines.push(line`${name("relative")}${product} ${bias} ${text("bucket", { bucket })} = ${score("relative")}`);
  }
  const product = scaled(model, shown(products.alibi[0], 5));
  lines.push(line`${name("alibi")}${product} − ${shown(slope, 4)} · ${String(distance)} = ${score("alibi")}`);
  const turned = ["(R", sub(query), q(), ")·(R", sub(key), k(), ")"];
  lines.push(line`${name("rope")}${turned}${toScaled(model, products.rope[0])} = ${score("rope")}`);
  return lines;
}
