// The arithmetic of one RMSNorm, with the numbers of one channel.

import { fraction, inBrackets, line, root, shown, strong, tinted } from "../../dom.js";

/** @param {import("./vector.js").Vector} vector @param {number} channel @param {Function} text */
export function arithmetic({ x, gamma, eps, meanSquare, rms }, channel, text) {
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
