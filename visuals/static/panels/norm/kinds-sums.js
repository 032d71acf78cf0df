// The norms of one channel written out with the run's numbers.

import { fraction, inBrackets, line, phrase, root, shown, strong, sub, tinted } from "../../dom.js";

/**
 * @param {import("../../readings/norm-kinds.js").KindsReading} reading
 * @param {number} eps
 * @returns {HTMLElement[]}
 */
export function sumsOf({ selection: { channel, outside }, kinds, answer }, eps) {
  const c = channel ?? 0;
  const { x, branch, batchDeviation, batchMean, mean, deviation, rms, bareMeanSquare, deep, outputs } = kinds;
  const tiny = shown(eps, 1);
  /** @type {(name: string) => HTMLElement} */
  const named = (name) => tinted("norm", name);
  /** @type {(value: number, mean: number) => string} */
  const less = (value, by) => `${shown(value, 4)} − ${inBrackets(by, 4)}`;
  /** @type {(value: number) => string} variance, found back from the deviation */
  const spread = (by) => `${shown(Math.max(0, by * by - eps), 4)} + ${tiny}`;
  /** @type {(output?: Float64Array) => HTMLElement} */
  const result = (output) => strong(output ? output[c] : NaN, 4);
  const size = shown(Math.sqrt(bareMeanSquare), 4);
  const under = outside ? `${size} + ${tiny}` : root(`${shown(bareMeanSquare, 4)} + ${tiny}`);
  const plain = outside ? "RMS + ε" : root("mean(x²) + ε");
  const rows = [
    line`${named("BatchNorm")} = ${fraction(phrase`x − μ${sub("c")}`, root("σ", sub("c"), "² + ε"))} = ${fraction(
      less(x[c], batchMean[c]),
      root(spread(batchDeviation[c])),
    )} = ${result(outputs.batch)}`,
    line`${named("LayerNorm")} = ${fraction("x − μ", root("σ² + ε"))} = ${fraction(
      less(x[c], mean),
      root(spread(deviation)),
    )} = ${result(outputs.layer)}`,
    line`${named("RMSNorm")} = ${fraction("x", plain)} = ${fraction(shown(x[c], 4), under)} = ${fraction(
      shown(x[c], 4),
      shown(rms, 6),
    )} = ${result(outputs.rms)}`,
  ];
  if (!deep || !branch) return rows;
  const alpha = shown(answer.alpha, 4);
  const sum = `${alpha} · ${inBrackets(x[c], 4)} + ${inBrackets(branch[c], 4)}`;
  return [
    ...rows,
    line`${named("DeepNorm")} = LayerNorm(α·x + f),   α·x + f = ${sum} = ${shown(deep.sum[c], 4)}`,
    line`= ${fraction(less(deep.sum[c], deep.mean), root(spread(deep.deviation)))} = ${result(outputs.deep)}`,
  ];
}
