// The arithmetic of one row of the diagram: its length, and how one of its values came about.

import { fraction, inBrackets, line, phrase, root, shown, strong, sub, tinted } from "../../dom.js";
import { centres } from "../../parts.js";
import { sideBySide } from "./rows.js";

const HUES = { attn: "v", cross: "k", ffn: "gate" }; // of what a part writes
const at = (name, index) => phrase`${name}${sub(index)}`;

/** ‖x‖ = √Σx², with the sum. */
function lengthOf(values) {
  const squares = values.reduce((sum, x) => sum + x * x, 0);
  return line`‖x‖ = ${root("Σ x²")} = ${root(shown(squares, 6))} = ${strong(Math.sqrt(squares))}`;
}

/** (x − μ) / σ · γ + β = y, for one channel. */
function centred(x, mean, deviation, gain, bias, y, j) {
  const part = fraction(phrase`${at(tinted("residual", "x"), j)} − μ`, tinted("norm", "σ"));
  const numbers = fraction(`${shown(x[j], 5)} − ${inBrackets(mean)}`, shown(deviation, 5));
  const formula = [part, " · ", at("γ", j), " + ", at("β", j)];
  const filled = [numbers, ` · ${inBrackets(gain[j])} + ${inBrackets(bias[j])}`];
  return line`${at("y", j)} = ${formula} = ${filled} = ${strong(y[j])}`;
}

/** x / RMS · γ = y, for one channel. */
function normed(x, rms, gain, y, j) {
  const part = fraction(at(tinted("residual", "x"), j), tinted("norm", "RMS"));
  const numbers = fraction(shown(x[j], 5), shown(rms, 5));
  return line`${at("y", j)} = ${part} · ${at("γ", j)} = ${numbers} · ${inBrackets(gain[j])} = ${strong(y[j])}`;
}

/** x + a + f, for one channel: both parts read the stream before either has written to it. */
function addedBoth(x, a, f, sum, j) {
  const [stream, attn, ffn] = [tinted("residual", "x"), tinted("v", "attn"), tinted("gate", "ffn")];
  const numbers = `${shown(x[j], 5)} + ${inBrackets(a[j])} + ${inBrackets(f[j])}`;
  return line`${at(stream, j)} + ${at(attn, j)} + ${at(ffn, j)} = ${numbers} = ${strong(sum[j])}`;
}

/** x + a, for one channel. */
function added(x, a, sum, j, name) {
  const [stream, own] = [tinted("residual", "x"), tinted(HUES[name], name)];
  const numbers = `${shown(x[j], 5)} + ${inBrackets(a[j])}`;
  return line`${at(stream, j)} + ${at(own, j)} = ${numbers} = ${strong(sum[j])}`;
}

/**
 * @param {string} key the row
 * @param {{ trace; layer; token; stage; ends }} run
 * @param {ArrayLike<number>} values of the row
 * @param {number} j which of them
 * @param {ArrayLike<number> | null} ids their indices, where a value's place is not its index
 * @returns {HTMLElement[]}
 */
export function sumsOf(key, { trace, layer, token, stage, ends }, values, j, ids) {
  const { rms, mean, T, model } = trace;
  const place = layer * T + token;
  const after = (name, x, learned, i) =>
    centres(model)
      ? centred(
          x,
          mean[name].data[i],
          rms[name].data[i],
          learned[`${name}_gain`].data,
          learned[`${name}_bias`].data,
          values,
          j,
        )
      : normed(x, rms[name].data[i], learned[`${name}_gain`].data, values, j);
  if (key === "head")
    return [
      line`${at("logit", ids[j])} = ${at("W", ids[j])} · ${tinted("norm", "final_normed")} = ${strong(values[j], 6)}`,
    ];
  if (key === "softmax") {
    const logit = ends.logits.values.data[j];
    const power = `e^(${shown(logit, 6)} − ${shown(ends.log_z, 6)})`;
    const probability = at(tinted("output", "p"), ids[j]);
    return [line`${probability} = e^(logit − log Σ e^logit) = ${power} = ${strong(values[j])}`];
  }
  const lines = [lengthOf(values)];
  if (key === "embed" && model.parts.embed_norm)
    lines.push(line`LayerNorm(${at("W_E", trace.tokens.ids[token])})${sub(j)} = ${strong(values[j])}`);
  else if (key === "embed") lines.push(line`${at("W_E", `${trace.tokens.ids[token]}, ${j}`)} = ${strong(values[j])}`);
  if (key === "attn_norm") lines.push(after("attn", stage.resid_in.data, stage, place));
  if (key === "cross_norm") lines.push(after("cross", stage.resid_cross.data, stage, place));
  if (key === "cross_add") lines.push(added(stage.resid_cross.data, stage.cross_out.data, values, j, "cross"));
  if (key === "ffn_norm") lines.push(after("ffn", stage[model.parts.norms.ffn_norm].data, stage, place));
  if (key === "final_norm") lines.push(after("final", ends.final.data, ends, token));
  if (key === "attn_add") lines.push(added(stage.resid_in.data, stage.attn_out.data, values, j, "attn"));
  if (key === "ffn_add" && sideBySide(model))
    lines.push(addedBoth(stage.resid_in.data, stage.attn_out.data, stage.ffn_out.data, values, j));
  else if (key === "ffn_add") lines.push(added(stage.resid_mid.data, stage.ffn_out.data, values, j, "ffn"));
  if (["attn", "cross", "ffn", "before", "after"].includes(key))
    lines.push(line`${at(HUES[key] ? tinted(HUES[key], key) : tinted("residual", "x"), j)} = ${strong(values[j])}`);
  return lines;
}
