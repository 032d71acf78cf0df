// The score of one key under every kind of position, each with its numbers.

import { scaledByRoot } from "../../compute.js";
import { fraction, line, root, shown, strong, sub, tinted } from "../../dom.js";
import { added, printedNumber, writtenOut } from "../../equation.js";

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
 * @param {string} product
 * @returns {Content}
 */
const toScaled = (model, product) => (model.parts.scale === 1 ? [] : [" → ", ...scaled(model, product)]);

/**
 * The score of one kind from its product and, where it has one, a bias, in digits that come out.
 *
 * @param {Model} model
 * @param {{ product: number; slope?: number; bias?: number; score: number }} numbers
 * @param {number} distance
 */
function scoreWritten(model, { product, slope = 0, bias = 0, score }, distance) {
  const factor = scaledByRoot(model) ? 1 / Math.sqrt(model.head_dim) : printedNumber(shown(model.parts.scale, 5));
  return writtenOut(
    { product, slope, bias, score },
    [["score", ["product", "slope", "bias"], (x, by, more) => x * factor - by * distance + more]],
    { of: { slope: { digits: 4 }, bias: { digits: 4 }, score: { digits: 4 } } },
  );
}

/** Decimals of the terms of one sum. @param {number} x @param {number} decimals */
const written = (x, decimals) => x.toFixed(decimals).replace("-", "−");

/**
 * Terms that are added, with as many decimals each, and the score of their sum, in digits that come out.
 *
 * @param {Model} model
 * @param {number[]} terms
 * @param {number} score
 */
const termsWritten = ({ parts: { scale } }, [a, b, c, d], score) =>
  writtenOut(
    { a, b, c, d, score },
    [["score", ["a", "b", "c", "d"], (...all) => scale * all.reduce((sum, x) => sum + x)]],
    { digits: 2, write: written, of: { score: { digits: 4, write: shown } } },
  );

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
  const distance = Math.abs(query - key);
  /**
   * @type {(
   *   kind: string,
   *   numbers: { product: number; slope?: number; bias?: number },
   * ) => Record<string, string>}
   */
  const saidOf = (kind, numbers) => scoreWritten(model, { ...numbers, score: values[`score_${kind}`] }, distance);
  const name = (/** @type {string} */ kind) => text(`kind_${kind}`) + colon;
  const [position, other] = [`PE(${query})`, `PE(${key})`];
  const none = saidOf("none", { product: products.none[0] });
  const lines = [line`${name("none")}${q()}·${k()}${toScaled(model, none.product)} = ${strong(none.score)}`];
  if (terms) {
    const { score, ...said } = termsWritten(model, terms, values.score_sinusoidal);
    const sum = [said.a, ...[said.b, said.c, said.d].map(added)].join(" ");
    const parts = [q(), "·", k(), " + ", q(), "·W", sub("K"), other, " + W", sub("Q"), position, "·", k()];
    const all = [...parts, " + W", sub("Q"), position, "·W", sub("K"), other];
    lines.push(line`${name("sinusoidal")}${all} → ${scaled(model, sum)} = ${strong(score)}`);
  } else if (reading.found.added) {
    const { product, score } = saidOf("sinusoidal", { product: products.sinusoidal[0] });
    lines.push(line`${name("sinusoidal")}${text("normed_sum")}${toScaled(model, product)} = ${strong(score)}`);
  }
  if (!Number.isNaN(bucket)) {
    const { product, bias, score } = saidOf("relative", { product: products.relative[0], bias: products.relative[1] });
    const sum = [...scaled(model, product), ` ${added(bias)} ${text("bucket", { bucket })}`];
    lines.push(line`${name("relative")}${sum} = ${strong(score)}`);
  }
  const alibi = saidOf("alibi", { product: products.alibi[0], slope });
  const sum = [...scaled(model, alibi.product), ` − ${alibi.slope} · ${String(distance)}`];
  lines.push(line`${name("alibi")}${sum} = ${strong(alibi.score)}`);
  const turned = ["(R", sub(query), q(), ")·(R", sub(key), k(), ")"];
  const rope = saidOf("rope", { product: products.rope[0] });
  lines.push(line`${name("rope")}${turned}${toScaled(model, rope.product)} = ${strong(rope.score)}`);
  return lines;
}
