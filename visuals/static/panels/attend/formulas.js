// The arithmetic of one cell, step by step, with the run's numbers filled in. Builds elements; computes nothing but
// sums. From q·k to the weight the lines are those of every cell.

import { strongest } from "../../arrays.js";
import { biasAt, bucketAt, firstKey, hasBias, scaledByRoot, slopeOf } from "../../compute.js";
import { addingUp } from "../../readings/adding-up.js";
import { fraction, h, line, phrase, root, strong, sub, sup, tinted } from "../../dom.js";
import { added, bracketed, decimalsIn, withSign, writtenOut } from "../../equation.js";

/**
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../compute.js").Model} Model
 *
 * @typedef {ReturnType<typeof import("../../readings/cell.js").cellOf>} Cell
 */

/**
 * The numbers of one cell from q·k to the weight, in digits that come out. `scaled`: the score without its bias.
 *
 * @param {Model} model
 * @param {Pick<Cell, "dot" | "score" | "head" | "query" | "key"> &
 *   Partial<Pick<Cell, "top" | "total" | "weight">>} cell
 */
export function cellWritten(model, { dot, score, head, query, key, top = NaN, total = NaN, weight = NaN }) {
  const { head_dim: width, parts } = model;
  const [slope, distance, factor] = [slopeOf(model, head) ?? NaN, query - key, parts.scale];
  const bias = hasBias(model) ? biasAt(model, head, distance) : 0;
  const scaledBy = scaledByRoot(model)
    ? (/** @type {number} */ product) => product / Math.sqrt(width)
    : (/** @type {number} */ product, /** @type {number} */ by) => product * by;
  return writtenOut(
    { dot, factor, scaled: score - bias, slope, bias, score, top, total, weight },
    [
      ["scaled", ["dot", "factor"], scaledBy],
      ["bias", ["slope"], (by) => -by * distance],
      ["score", ["scaled", "bias"], (a, b) => a + b],
      ["score", ["dot", "factor", "bias"], (a, by, b) => scaledBy(a, by) + b],
      ["weight", ["score", "top", "total"], (a, most, sum) => Math.exp(a - most) / sum],
    ],
    { of: { factor: { digits: 6 }, total: { digits: 6 } } },
  );
}

/** @typedef {ReturnType<typeof cellWritten>} Said the texts of a cell's numbers */

const TERMS = 5;
/** How many decimals give a number five digits. @param {number} x */
const decimalsForFive = (x) => Math.max(0, Math.min(8, 4 - Math.floor(Math.log10(x || 1))));

const [q, k, v, w, x] = [["q"], ["k"], ["v"], ["output", "w"], ["residual", "x"]].map(
  ([role, name = role]) =>
    () =>
      tinted(role, name),
);

/**
 * "a + b − c + d (27 more) = total": the strongest terms, and the others as their sum, with as many decimals each:
 * those of the sum where that is written already.
 *
 * @param {Float64Array} terms
 * @param {Say} text
 * @param {string} [sum]
 * @returns {(Node | string)[]}
 */
export function sumOf(terms, text, sum) {
  const order = strongest(terms, TERMS);
  const all = terms.reduce((total, term) => total + term, 0);
  const {
    terms: written,
    rest,
    whole,
  } = addingUp(
    order.map((i) => terms[i]),
    all,
    (most) => (sum && decimalsIn(sum)) || decimalsForFive(most),
  );
  /** @type {(Node | string)[]} */
  const parts = written.map((term, n) => (n === 0 ? term : ` ${added(term)}`));
  const others = terms.length - order.length;
  if (others > 0) parts.push(` ${added(rest)} `, h("span.at-others", null, text("others", { count: others })));
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
export function productLine(i, a, b) {
  const said = writtenOut({ a, b, product: a * b }, [["product", ["a", "b"], (x, y) => x * y]]);
  const numbers = `${bracketed(said.a)} · ${bracketed(said.b)}`;
  return line`${q()}${sub(i)} · ${k()}${sub(i)} = ${numbers} = ${strong(said.product)}`;
}

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
 * @param {Pick<Cell, "head" | "query" | "key">} cell
 * @param {Said} said
 * @param {Say} text
 */
export function scoreLine(model, { head, query, key }, said, text) {
  const {
    head_dim: width,
    parts: { scale },
  } = model;
  const byRoot = scaledByRoot(model);
  const name = scaled(model, phrase`${tinted("q", "q")}·${tinted("k", "k")}`, byRoot ? text("head_dim") : "s");
  const dot = byRoot || scale === 1 ? said.dot : bracketed(said.dot);
  const numbers = scaled(model, dot, byRoot ? String(width) : said.factor);
  if (!hasBias(model)) return line`${text("score")} = ${name} = ${numbers} = ${strong(said.score)}`;
  const [slope, distance] = [slopeOf(model, head), query - key];
  const bucket = bucketAt(model, distance);
  const named = bucket === null ? `b[${distance}]` : text("bucket_term", { bucket });
  const bias = bracketed(said.bias);
  const [term, value] =
    slope === null ? [named, bias] : [text("slope_distance"), phrase`(−${said.slope} · ${String(distance)})`];
  const sum = phrase`${said.scaled} + ${bias}`;
  const steps = scale === 1 && slope === null ? sum : phrase`${numbers} + ${value} = ${sum}`;
  return line`${text("score")} = ${name} + ${term} = ${steps} = ${strong(said.score)}`;
}

/**
 * The softmax of the row: one power over the sum of all.
 *
 * @param {Pick<Said, "score" | "top" | "total" | "weight">} said
 * @param {Say} text
 * @param {string} [sign] of the weight
 */
export function weightLine({ score, top, total, weight }, text, sign = " α") {
  const power = (/** @type {(Node | string)[]} */ ...from) => phrase`e${sup(...from)}`;
  const each = power(text("score"), sub("j"), " − max");
  const all = fraction(power(`${text("score")} − max`), phrase`Σ${sub("j")} ${each}`);
  const numbers = fraction(power(`${score} − ${bracketed(top)}`), total);
  return line`${text("weight")}${sign} = ${all} = ${numbers} = ${strong(weight)}`;
}

/**
 * q·k, its factor and its bias.
 *
 * @param {Model} model
 * @param {Cell} cell
 * @param {Said} said
 * @param {Say} text
 */
export const scoreLines = (model, cell, said, text) => [
  line`${q()}·${k()} = Σ${sub("i")} ${q()}${sub("i")}${k()}${sub("i")} = ${sumOf(cell.terms, text, said.dot)}`,
  scoreLine(model, cell, said, text),
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
  const said = writtenOut(
    { weight, size, carried: weight * size, along, square, share },
    [
      ["carried", ["weight", "size"], (a, b) => a * b],
      ["share", ["along", "square"], (a, b) => a / b],
    ],
    { of: { share: { digits: 4 } } },
  );
  const [part, numbers] = [fraction(phrase`α${v()} · o`, "o · o"), fraction(said.along, said.square)];
  return [
    line`‖α${v()}‖ = α·‖${v()}‖ = ${said.weight} · ${said.size} = ${strong(said.carried)}`,
    line`${text("part")} = ${part} = ${numbers} = ${strong(said.share)}`,
  ];
};

/**
 * What the head writes to the stream: norms and cosine, which is NaN where there is none.
 *
 * @param {import("../../readings/cell.js").Written["sizes"]} sizes
 * @param {Say} text
 */
export const writtenLines = ({ written, stream, product, cosine }, text) => {
  const said = writtenOut(
    { written, stream, ratio: written / stream, product, cosine },
    [
      ["ratio", ["written", "stream"], (a, b) => a / b],
      ["cosine", ["product", "written", "stream"], (both, a, b) => both / (a * b)],
    ],
    { of: { ratio: { digits: 4 }, cosine: { digits: 4 } } },
  );
  const lengths = [",  ‖", x(), "‖ = ", strong(said.stream)];
  const norms = ["W", sub("O"), "[head] · o,  ‖", w(), "‖ = ", strong(said.written), ...lengths];
  const share = fraction(phrase`‖${w()}‖`, phrase`‖${x()}‖`);
  const angle = fraction(phrase`${w()} · ${x()}`, phrase`‖${w()}‖ · ‖${x()}‖`);
  const numbers = fraction(said.product, `${said.written} · ${said.stream}`);
  const none = Number.isNaN(cosine) ? ` ${text("no_angle")}` : "";
  return [
    line`${w()} = ${norms},  ${share} = ${strong(said.ratio)}`,
    line`${text("cosine")} = ${angle} = ${numbers} = ${strong(withSign(said.cosine))}${none}`,
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
