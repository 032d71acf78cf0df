// The arithmetic of one norm, with the numbers of one channel.

import { fraction, inBrackets, line, root, shown, strong, tinted } from "../../dom.js";

/** x after the norm's division, of one channel, and after its γ and β. @param {import("./vector.js").Vector} vector */
export function normedAt({ x, gamma, beta, mean, rms }, channel) {
  const after = (x[channel] - mean) / rms;
  return { after, product: after * gamma[channel] + (beta ? beta[channel] : 0) };
}

/** A LayerNorm's: mean, variance about it, deviation, γ and β. */
function centredArithmetic(vector, channel, text) {
  const { x, gamma, beta, eps, mean, meanSquare, rms } = vector;
  const name = () => tinted("norm", "σ(x)");
  const over = (by) => fraction("x − μ", by);
  const { after, product } = normedAt(vector, channel);
  return [
    line`① μ = mean(x) = Σx / ${String(x.length)} = ${fraction(shown(mean * x.length, 6), String(x.length))} = ${strong(mean)}`,
    line`② mean((x − μ)²) = Σ(x − μ)² / ${String(x.length)} = ${fraction(shown(meanSquare * x.length, 6), String(x.length))} = ${strong(meanSquare)}`,
    line`③ ${name()} = ${root("mean((x − μ)²) + ε")} = ${root(`${shown(meanSquare, 6)} + ${shown(eps, 1)}`)} = ${strong(rms)}`,
    line`④ ${text("at", { channel })}   ${over(name())} = ${fraction(`${shown(x[channel], 5)} − ${inBrackets(mean)}`, shown(rms, 5))} = ${strong(after)}`,
    line`⑤ ${over(name())} · γ + β = ${shown(after, 5)} × ${inBrackets(gamma[channel])} + ${inBrackets(beta[channel])} = ${strong(product)}`,
  ];
}

/** @param {import("./vector.js").Vector} vector @param {number} channel @param {Function} text */
export function arithmetic(vector, channel, text) {
  if (vector.beta) return centredArithmetic(vector, channel, text);
  const { x, gamma, eps, meanSquare, rms } = vector;
  const d = x.length;
  const name = () => tinted("norm", "RMS(x)");
  const after = x[channel] / rms;
  return [
    line`① mean(x²) = Σx² / ${String(d)} = ${fraction(shown(meanSquare * d, 6), String(d))} = ${strong(meanSquare)}`,
    line`② ${name()} = ${root("mean(x²) + ε")} = ${root(`${shown(meanSquare, 6)} + ${shown(eps, 1)}`)} = ${strong(rms)}`,
    line`③ ${text("at", { channel })}   ${fraction("x", name())} = ${fraction(shown(x[channel], 5), shown(rms, 5))} = ${strong(after)}`,
    line`④ ${fraction("x", name())} · γ = ${shown(after, 5)} × ${inBrackets(gamma[channel])} = ${strong(after * gamma[channel])}`,
  ];
}
