// The arithmetic of one cell, step by step, with the run's numbers filled in. Builds elements; computes nothing but
// sums. From q·k to the weight the lines are those of every cell.

import { strongest } from "../../arrays.js";
import { biasAt, bucketAt, firstKey, hasBias, scaledByRoot, slopeOf } from "../../compute.js";
import { addingUp } from "../../readings/adding-up.js";
import { fraction, h, inBrackets, line, phrase, root, shown, signed, strong, sub, sup, tinted } from "../../dom.js";

/**
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../compute.js").Model} Model
 *
 * @typedef {ReturnType<typeof import("../../readings/cell.js").cellOf>} Cell
 */

const TERMS = 5;
/** How many decimals give a number five digits. @param {number} x */
const decimalsForFive = (x) => Math.max(0, Math.min(8, 4 - Math.floor(Math.log10(x || 1))));

const [q, k, v, w, x] = [["q"], ["k"], ["v"], ["output", "w"], ["residual", "x"]].map(
  ([role, name = role]) =>
    () =>
      tinted(role, name),
);

/**
 * "a + b − c + d (27 more) = total": the strongest terms, and the others as their sum, with as many decimals each.
 *
 * @param {Float64Array} terms
 * @param {Say} text
 * @returns {(Node | string)[]}
 */
export function sumOf(terms, text) {
  const order = strongest(terms, TERMS);
  const all = terms.reduce((sum, term) => sum + term, 0);
  const {
    terms: written,
    rest,
    whole,
  } = addingUp(
    order.map((i) => terms[i]),
    all,
    { decimalsFor: decimalsForFive },
  );
  const added = (/** @type {string} */ term) => (term.startsWith("−") ? ` − ${term.slice(1)}` : ` + ${term}`);
  /** @type {(Node | string)[]} */
  const parts = written.map((term, n) => (n === 0 ? term : added(term)));
  const others = terms.length - order.length;
  if (others > 0) parts.push(`${added(rest)} `, h("span.at-others", null, text("others", { count: others })));
  return [...parts, " = ", h("strong", null, whole)];
}

/**
 * One dimension's product.
 *
 * @param {number} i
 * @param {number} a
 * @param {number} b
 * @returns {HTMLElement}
 */
export const productLine = (i, a, b) =>
  line`${q()}${sub(i)} · ${k()}${sub(i)} = ${inBrackets(a)} · ${inBrackets(b)} = ${strong(a * b)}`;

/**
 * q·k and what it is multiplied by: over √head_dim, or times another factor where there is one.
 *
 * @param {Model} model
 * @param {Node | string} product
 * @param {string} factor
 */
function scaled(model, product, factor) {
  return model.parts.scale === 1
    ? product
    : scaledByRoot(model)
      ? fraction(product, root(factor))
      : phrase`${product} · ${factor}`;
}

/**
 * The score from q·k: scaled and, where the network has one, with its bias by distance: ALiBi's as −slope ·
 * distance, a learned one by its bucket.
 *
 * @param {Model} model
 * @param {Pick<Cell, "dot" | "score" | "head" | "query" | "key">} cell
 * @param {Say} text
 */
export function scoreLine(model, { dot, score, head, query, key }, text) {
  const {
    head_dim: width,
    parts: { scale },
  } = model;
  const byRoot = scaledByRoot(model);
  const name = scaled(model, phrase`${tinted("q", "q")}·${tinted("k", "k")}`, byRoot ? text("head_dim") : "s");
  const numbers = scaled(
    model,
    byRoot || scale === 1 ? shown(dot, 5) : inBrackets(dot),
    byRoot ? String(width) : shown(scale, 6),
  );
  if (!hasBias(model)) return line`${text("score")} = ${name} = ${numbers} = ${strong(score)}`;
  const [slope, distance] = [slopeOf(model, head), query - key];
  const added = biasAt(model, head, distance);
  const bucket = bucketAt(model, distance);
  const named = bucket === null ? `b[${distance}]` : text("bucket_term", { bucket });
  const [term, value] =
    slope === null
      ? [named, inBrackets(added)]
      : [text("slope_distance"), phrase`(−${shown(slope, 5)} · ${String(distance)})`];
  const sum = phrase`${shown(score - added, 5)} + ${inBrackets(added)}`;
  const steps = scale === 1 && slope === null ? sum : phrase`${numbers} + ${value} = ${sum}`;
  return line`${text("score")} = ${name} + ${term} = ${steps} = ${strong(score)}`;
}

/**
 * The softmax of the row: one power over the sum of all.
 *
 * @param {{ score: number; top: number; total: number; weight: number }} cell
 * @param {Say} text
 * @param {string} [sign] of the weight
 */
export function weightLine({ score, top, total, weight }, text, sign = " α") {
  const power = (/** @type {(Node | string)[]} */ ...from) => phrase`e${sup(...from)}`;
  const each = power(text("score"), sub("j"), " − max");
  const all = fraction(power(`${text("score")} − max`), phrase`Σ${sub("j")} ${each}`);
  const numbers = fraction(power(`${shown(score, 5)} − ${inBrackets(top)}`), shown(total, 6));
  return line`${text("weight")}${sign} = ${all} = ${numbers} = ${strong(weight)}`;
}

/**
 * q·k, its factor and its bias.
 *
 * @param {Model} model
 * @param {Cell} cell
 * @param {Say} text
 */
export const scoreLines = (model, cell, text) => [
  line`${q()}·${k()} = Σ${sub("i")} ${q()}${sub("i")}${k()}${sub("i")} = ${sumOf(cell.terms, text)}`,
  scoreLine(model, cell, text),
];

/**
 * What the network's mask does to this score, and how many of the row it hides; that it has none where all tokens
 * see each other.
 *
 * @param {Model} model
 * @param {Pick<Cell, "query" | "key" | "tokens" | "weights">} cell
 * @param {Say} text
 */
export const maskLine = (model, { query, key, tokens, weights }, text) => {
  const { causal, prefix, window } = model.parts;
  const inPrefix = query < (prefix ?? 0);
  const isLast = weights.length === tokens;
  const mask =
    causal === false ? "mask_none" : inPrefix ? "mask_prefix" : window ? "mask_window" : isLast ? "mask_last" : "mask";
  const far = { window, far: firstKey(model, query) };
  return h("p.at-words", null, text(mask, { query, key, hidden: tokens - weights.length, tokens, ...far }));
};

/**
 * What the key hands over: the size of α·v, and its share of the head's output (shares sum to 1 over the keys).
 *
 * @param {Pick<import("../../readings/cell.js").Carried, "size" | "along" | "square" | "share"> & {
 *   weight: number;
 * }} of
 * @param {Say} text
 */
export const carriedLines = ({ weight, size, along, square, share }, text) => {
  const [part, numbers] = [fraction(phrase`α${v()} · o`, "o · o"), fraction(shown(along, 5), shown(square, 5))];
  return [
    line`‖α${v()}‖ = α·‖${v()}‖ = ${shown(weight, 5)} · ${shown(size, 5)} = ${strong(weight * size)}`,
    line`${text("part")} = ${part} = ${numbers} = ${strong(share, 4)}`,
  ];
};

/**
 * What the head writes to the stream: norms and cosine, which is NaN where there is none.
 *
 * @param {import("../../readings/cell.js").Written["sizes"]} sizes
 * @param {Say} text
 */
export const writtenLines = ({ written, stream, product, cosine }, text) => {
  const norms = ["W", sub("O"), "[head] · o,  ‖", w(), "‖ = ", strong(written), ",  ‖", x(), "‖ = ", strong(stream)];
  const share = fraction(phrase`‖${w()}‖`, phrase`‖${x()}‖`);
  const angle = fraction(phrase`${w()} · ${x()}`, phrase`‖${w()}‖ · ‖${x()}‖`);
  const numbers = fraction(shown(product, 5), `${shown(written, 5)} · ${shown(stream, 5)}`);
  const none = Number.isNaN(cosine) ? ` ${text("no_angle")}` : "";
  return [
    line`${w()} = ${norms},  ${share} = ${strong(written / stream, 4)}`,
    line`${text("cosine")} = ${angle} = ${numbers} = ${h("strong", null, signed(cosine, 4))}${none}`,
  ];
};

/**
 * One channel of the written vector as its sum over the head's dimensions.
 *
 * @param {number} channel
 * @param {Float64Array} terms
 * @param {Say} text
 */
export const channelLine = (channel, terms, text) =>
  line`${w()}${sub(channel)} = Σ${sub("i")} W${sub("O")}[${String(channel)}, i] · o${sub("i")} = ${sumOf(terms, text)}`;
