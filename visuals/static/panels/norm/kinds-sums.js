// The norms of one channel written out with the run's numbers.

import { fraction, line, phrase, root, shown, strong, sub, tinted } from "../../dom.js";
import { added, bracketed, printedNumber, writtenOut } from "../../equation.js";

/**
 * The numbers of one channel, in digits that come out: its variances, found back from the deviations, and what each
 * norm makes of it.
 *
 * @param {import("../../readings/norm-kinds.js").KindsReading} reading
 * @param {number} c the channel
 * @param {number} eps
 * @param {number} tiny ε as it is printed
 */
function channelWritten({ selection: { outside }, kinds, answer }, c, eps, tiny) {
  const { x, branch, batchDeviation, batchMean, mean, deviation, rms, bareMeanSquare, deep, outputs } = kinds;
  const variance = (/** @type {number} */ by) => Math.max(0, by * by - eps);
  /** @type {(x: number, mean: number, variance: number) => number} */
  const centred = (value, less, spread) => (value - less) / Math.sqrt(spread + tiny);
  return writtenOut(
    {
      x: x[c],
      batchMean: batchMean[c],
      batchSpread: variance(batchDeviation[c]),
      batch: outputs.batch?.[c] ?? NaN,
      mean,
      spread: variance(deviation),
      layer: outputs.layer?.[c] ?? NaN,
      square: outside ? Math.sqrt(bareMeanSquare) : bareMeanSquare,
      by: rms,
      rms: outputs.rms?.[c] ?? NaN,
      alpha: answer.alpha,
      branch: branch?.[c] ?? NaN,
      sum: deep?.sum[c] ?? NaN,
      deepMean: deep?.mean ?? NaN,
      deepSpread: deep ? variance(deep.deviation) : NaN,
      deep: outputs.deep?.[c] ?? NaN,
    },
    [
      ["batch", ["x", "batchMean", "batchSpread"], centred],
      ["layer", ["x", "mean", "spread"], centred],
      ["by", ["square"], (square) => (outside ? square + tiny : Math.sqrt(square + tiny))],
      ["rms", ["x", "by"], (a, by) => a / by],
      ["rms", ["x", "square"], (a, square) => a / (outside ? square + tiny : Math.sqrt(square + tiny))],
      ["sum", ["alpha", "x", "branch"], (by, a, more) => by * a + more],
      ["deep", ["sum", "deepMean", "deepSpread"], centred],
    ],
    { digits: 4, of: { by: { digits: 6 } } },
  );
}

/**
 * @param {import("../../readings/norm-kinds.js").KindsReading} reading
 * @param {number} eps
 * @returns {HTMLElement[]}
 */
export function sumsOf(reading, eps) {
  const { selection, kinds } = reading;
  const { outside } = selection;
  const tiny = shown(eps, 1);
  const said = channelWritten(reading, selection.channel ?? 0, eps, printedNumber(tiny));
  /** @type {(name: string) => HTMLElement} */
  const named = (name) => tinted("norm", name);
  /** @type {(value: string, mean: string, variance: string) => HTMLElement} */
  const centred = (value, by, spread) => fraction(`${value} − ${bracketed(by)}`, root(`${spread} + ${tiny}`));
  const under = outside ? `${said.square} + ${tiny}` : root(`${said.square} + ${tiny}`);
  const plain = outside ? "RMS + ε" : root("mean(x²) + ε");
  const [batch, layer] = [centred(said.x, said.batchMean, said.batchSpread), centred(said.x, said.mean, said.spread)];
  const byRms = [fraction(said.x, under), " = ", fraction(said.x, said.by)];
  const ofChannel = fraction(phrase`x − μ${sub("c")}`, root("σ", sub("c"), "² + ε"));
  const rows = [
    line`${named("BatchNorm")} = ${ofChannel} = ${batch} = ${strong(said.batch)}`,
    line`${named("LayerNorm")} = ${fraction("x − μ", root("σ² + ε"))} = ${layer} = ${strong(said.layer)}`,
    line`${named("RMSNorm")} = ${fraction("x", plain)} = ${byRms} = ${strong(said.rms)}`,
  ];
  if (!kinds.deep || !kinds.branch) return rows;
  const sum = `${said.alpha} · ${bracketed(said.x)} ${added(said.branch)}`;
  const deep = centred(said.sum, said.deepMean, said.deepSpread);
  return [
    ...rows,
    line`${named("DeepNorm")} = LayerNorm(α·x + f),   α·x + f = ${sum} = ${said.sum}`,
    line`= ${deep} = ${strong(said.deep)}`,
  ];
}
