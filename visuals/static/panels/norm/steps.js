// The arithmetic of one norm, with the numbers of one channel.

import { fraction, inBrackets, line, root, shown, strong, tinted } from "../../dom.js";

/** x after the norm's division, of one channel, and after its γ and β. @param {import("./vector.js").Vector} vector */
export function normedAt({ x, gamma, beta, mean, rms }, channel) {
  const after = (x[channel] - mean) / rms;
  return { after, product: after * gamma[channel] + (beta ? beta[channel] : 0) };
}

/** The norm step by step: a LayerNorm's mean, the variance about it and β, which an RMSNorm has not. @param {import("./vector.js").Vector} vector @param {number} channel @param {Function} text */
export function arithmetic(vector, channel, text) {
  const { x, gamma, beta, eps, mean, meanSquare, rms } = vector;
  const { after, product } = normedAt(vector, channel);
  const [count, square] = [String(x.length), beta ? "(x − μ)²" : "x²"];
  const sign = (step) => "①②③④⑤"[beta ? step + 1 : step];
  const name = () => tinted("norm", beta ? "σ(x)" : "RMS(x)");
  const over = (by) => fraction(beta ? "x − μ" : "x", by);
  const average = (value) => [fraction(shown(value * x.length, 6), count), " = ", strong(value)];
  return [
    ...(beta ? [line`① μ = mean(x) = Σx / ${count} = ${average(mean)}`] : []),
    line`${sign(0)} mean(${square}) = Σ${square} / ${count} = ${average(meanSquare)}`,
    line`${sign(1)} ${name()} = ${root(`mean(${square}) + ε`)} = ${root(`${shown(meanSquare, 6)} + ${shown(eps, 1)}`)} = ${strong(rms)}`,
    line`${sign(2)} ${text("at", { channel })}   ${over(name())} = ${fraction(`${shown(x[channel], 5)}${beta ? ` − ${inBrackets(mean)}` : ""}`, shown(rms, 5))} = ${strong(after)}`,
    line`${sign(3)} ${over(name())} · γ${beta ? " + β" : ""} = ${shown(after, 5)} × ${inBrackets(gamma[channel])}${beta ? ` + ${inBrackets(beta[channel])}` : ""} = ${strong(product)}`,
  ];
}
