// The arithmetic of one RMSNorm, with the numbers of one channel.

import { fraction, h, root, shown, tinted } from "../../dom.js";

/** @param {import("./vector.js").Vector} vector @param {number} channel @param {Function} text */
export function arithmetic({ x, gamma, eps, meanSquare, rms }, channel, text) {
  const strong = (value) => h("strong", null, shown(value, 5));
  const d = x.length;
  const mean = () => h("span", null, "mean(x²)");
  const share = h("span", null, `Σx² / ${d} = `, fraction(shown(meanSquare * d, 6), String(d)));
  const [value, factor] = [shown(x[channel], 5), shown(gamma[channel], 5)];
  const result = (x[channel] / rms) * gamma[channel];
  return [
    h("p", null, "① ", mean(), " = ", share, " = ", strong(meanSquare)),
    h(
      "p",
      null,
      "② ",
      tinted("norm", "RMS(x)"),
      " = ",
      root("mean(x²) + ε"),
      " = ",
      root(`${shown(meanSquare, 6)} + ${shown(eps, 1)}`),
      " = ",
      strong(rms),
    ),
    h(
      "p",
      null,
      `③ ${text("at", { channel })}   `,
      fraction("x", tinted("norm", "RMS(x)")),
      " = ",
      fraction(value, shown(rms, 5)),
      " = ",
      strong(x[channel] / rms),
    ),
    h(
      "p",
      null,
      "④ ",
      fraction("x", tinted("norm", "RMS(x)")),
      " · γ = ",
      `${shown(x[channel] / rms, 5)} × ${gamma[channel] < 0 ? `(${factor})` : factor} = `,
      strong(result),
    ),
  ];
}
