// The arithmetic of one row of the diagram: its length, and how one of its values came about.

import { dot } from "../../arrays.js";
import { fraction, line, percent, phrase, root, strong, sub, tinted } from "../../dom.js";
import { added, bracketed, writtenOut } from "../../equation.js";
import { centres } from "../../parts.js";
import { isScores } from "../../readings/diagram.js";
import { sideBySide } from "../../readings/diagram-rows.js";

/**
 * @typedef {import("../../readings/diagram.js").Place & {
 *   stage: import("../../readings/diagram.js").Stage;
 *   ends: import("../../readings/diagram.js").Ends;
 * }} Known
 *   a place whose vectors are here
 *
 * @typedef {"attn" | "cross" | "ffn"} Part
 *
 * @typedef {{ data: ArrayLike<number> } | null | undefined} Vector undefined or null where the network has none
 */

/** @type {Record<Part, string>} Of what a part writes. */
const HUES = { attn: "v", cross: "k", ffn: "gate" };
const at = (/** @type {Node | string} */ name, /** @type {string | number} */ index) => phrase`${name}${sub(index)}`;

/**
 * What a row's vector is called in its sums: as its values are.
 *
 * @param {string} key of the row
 */
function vectorName(key) {
  if (key.endsWith("_norm")) return tinted("norm", "y");
  const part = /** @type {Part} */ (key);
  return part in HUES ? tinted(HUES[part], part) : tinted("residual", "x");
}

/**
 * ‖x‖ = √Σx², with the sum, by the name of what it is of.
 *
 * @param {string} key of the row
 * @param {ArrayLike<number>} values
 */
function lengthOf(key, values) {
  const squares = dot(values, values);
  const [name, sum] = [vectorName(key), vectorName(key)];
  const said = writtenOut({ squares, length: Math.sqrt(squares) }, [["length", ["squares"], Math.sqrt]], {
    of: { squares: { digits: 6 }, length: { digits: 3 } },
  });
  return line`‖${name}‖ = ${root("Σ ", sum, "²")} = ${root(said.squares)} = ${strong(said.length)}`;
}

/**
 * The values of vectors; null where one of them is missing.
 *
 * @param {...Vector} vectors
 */
function valuesOf(...vectors) {
  const found = vectors.flatMap((vector) => (vector ? [vector.data] : []));
  return found.length === vectors.length ? found : null;
}

/**
 * LayerNorm of one channel: (x − μ) / σ · γ + β = y.
 *
 * @param {{ x: number; mean: number; deviation: number; gain: number; bias: number; y: number }} numbers
 * @param {number} j
 */
function centred({ x, mean, deviation, gain, bias, y }, j) {
  const part = fraction(phrase`${at(tinted("residual", "x"), j)} − μ`, tinted("norm", "σ"));
  const said = writtenOut({ x, mean, deviation, gain, bias, y }, [
    ["y", ["x", "mean", "deviation", "gain", "bias"], (a, less, over, by, more) => ((a - less) / over) * by + more],
  ]);
  const numbers = fraction(`${said.x} − ${bracketed(said.mean)}`, said.deviation);
  const formula = [part, " · ", at("γ", j), " + ", at("β", j)];
  const filled = [numbers, ` · ${bracketed(said.gain)} ${added(said.bias)}`];
  return line`${at("y", j)} = ${formula} = ${filled} = ${strong(said.y)}`;
}

/**
 * RMSNorm of one channel: x / RMS · γ = y.
 *
 * @param {{ x: number; rms: number; gain: number; y: number }} numbers
 * @param {number} j
 */
function normed({ x, rms, gain, y }, j) {
  const part = fraction(at(tinted("residual", "x"), j), tinted("norm", "RMS"));
  const said = writtenOut({ x, rms, gain, y }, [["y", ["x", "rms", "gain"], (a, over, by) => (a / over) * by]]);
  const numbers = fraction(said.x, said.rms);
  return line`${at("y", j)} = ${part} · ${at("γ", j)} = ${numbers} · ${bracketed(said.gain)} = ${strong(said.y)}`;
}

/**
 * What a norm does to one channel; nothing where the network has no such norm.
 *
 * @param {"attn" | "cross" | "ffn" | "final"} name
 * @param {Known} run
 * @param {number} y
 * @param {number} j
 */
function normLines(name, { trace, layer, token, stage, ends }, y, j) {
  const { rms, mean, T, model } = trace;
  const read = {
    attn: stage.resid_in,
    cross: stage.resid_cross,
    ffn: sideBySide(model) ? stage.resid_in : stage.resid_mid,
    final: ends.final,
  };
  const [gains, biases] =
    name === "final"
      ? [ends.final_gain, ends.final_bias]
      : [stage[/** @type {const} */ (`${name}_gain`)], stage[/** @type {const} */ (`${name}_bias`)]];
  const place = name === "final" ? token : layer * T + token;
  const found = valuesOf(read[name], gains, rms[name]);
  if (!found) return [];
  const [x, gain, deviation] = [found[0][j], found[1][j], found[2][place]];
  if (!centres(model)) return [normed({ x, rms: deviation, gain, y }, j)];
  const shifted = valuesOf(biases, mean[name]);
  return shifted ? [centred({ x, mean: shifted[1][place], deviation, gain, bias: shifted[0][j], y }, j)] : [];
}

/**
 * The sum at one channel; nothing where the network has no such sum.
 *
 * @param {Vector} stream
 * @param {[Part, Vector][]} parts what is added to it: side by side, both parts read the stream before either has
 *   written to it
 * @param {number} sum
 * @param {number} j
 */
function addedLines(stream, parts, sum, j) {
  const found = valuesOf(stream, ...parts.map(([, vector]) => vector));
  if (!found) return [];
  const names = [tinted("residual", "x"), ...parts.map(([part]) => tinted(HUES[part], part))];
  const formula = names.flatMap((name, i) => (i ? [" + ", at(name, j)] : [at(name, j)]));
  const [first, second, third = 0] = found.map((values) => values[j]);
  const said = writtenOut({ first, second, third, sum }, [
    ["sum", ["first", "second", "third"], (a, b, c) => a + b + c],
  ]);
  const terms = [said.first, added(said.second), ...(found.length > 2 ? [added(said.third)] : [])];
  return [line`${formula} = ${terms.join(" ")} = ${strong(said.sum)}`];
}

/**
 * How one value of a row of the diagram came about.
 *
 * @type {Record<string, (run: Known, value: number, j: number, index: number) => HTMLElement[]>} By row; `j`: its
 *   place among the values that are here, `index`: that among all
 */
const SUMS = {
  embed: ({ trace, token }, value, j) => [
    trace.model.parts.embed_norm
      ? line`LayerNorm(${at("W_E", trace.tokens.ids[token])})${sub(j)} = ${strong(value)}`
      : line`${at("W_E", `${trace.tokens.ids[token]}, ${j}`)} = ${strong(value)}`,
  ],
  before: (_run, value, j) => [line`${at(tinted("residual", "x"), j)} = ${strong(value)}`],
  attn_norm: (run, value, j) => normLines("attn", run, value, j),
  attn: (_run, value, j) => [line`${at(tinted(HUES.attn, "attn"), j)} = ${strong(value)}`],
  attn_add: ({ stage }, value, j) => addedLines(stage.resid_in, [["attn", stage.attn_out]], value, j),
  cross_norm: (run, value, j) => normLines("cross", run, value, j),
  cross: (_run, value, j) => [line`${at(tinted(HUES.cross, "cross"), j)} = ${strong(value)}`],
  cross_add: ({ stage }, value, j) => addedLines(stage.resid_cross, [["cross", stage.cross_out]], value, j),
  ffn_norm: (run, value, j) => normLines("ffn", run, value, j),
  ffn: (_run, value, j) => [line`${at(tinted(HUES.ffn, "ffn"), j)} = ${strong(value)}`],
  ffn_add({ stage, trace: { model } }, value, j) {
    /** @type {[Part, Vector]} */
    const written = ["ffn", stage.ffn_out];
    return sideBySide(model)
      ? addedLines(stage.resid_in, [["attn", stage.attn_out], written], value, j)
      : addedLines(stage.resid_mid, [written], value, j);
  },
  after: (_run, value, j) => [line`${at(tinted("residual", "x"), j)} = ${strong(value)}`],
  final_norm: (run, value, j) => normLines("final", run, value, j),
  head: (_run, value, _j, id) => [
    line`${at("logit", id)} = ${at("W", id)} · ${tinted("norm", "final_normed")} = ${strong(value, 6)}`,
  ],
  softmax({ ends: { logits, log_z: logZ = NaN } }, value, j, id) {
    const said = writtenOut(
      { p: value, logit: logits?.values.data[j] ?? NaN, logZ },
      [["p", ["logit", "logZ"], (logit, all) => Math.exp(logit - all)]],
      { digits: 6, of: { p: { digits: 5, write: percent } } },
    );
    const power = `e^(${said.logit} − ${bracketed(said.logZ)})`;
    return [line`${at(tinted("output", "p"), id)} = e^(logit − log Σ e^logit) = ${power} = ${strong(said.p)}`];
  },
};

/**
 * The arithmetic of a row: of a vector its length first.
 *
 * @param {string} key the row
 * @param {Known} run
 * @param {ArrayLike<number>} values of the row
 * @param {number} j which of them
 * @param {number} index of that value
 */
export function sumsOf(key, run, values, j, index) {
  const whole = isScores(key) ? [] : [lengthOf(key, values)];
  return [...whole, ...SUMS[key](run, values[j], j, index)];
}
