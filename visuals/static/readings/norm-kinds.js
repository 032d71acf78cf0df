// BatchNorm, LayerNorm, RMSNorm and DeepNorm of one vector of the run: what each subtracts and divides by, and gives.
// γ and β are left out: a network has learned them for its own norm alone.

import { largest, onceFor, strongest } from "../arrays.js";
import { placeName } from "./norm-places.js";
import { centred, changed, meanOf, meanSquare, relativeChange } from "./norms.js";
import { stretchOf } from "./stretch.js";

/**
 * @typedef {import("../decoded.d.ts").Detail<"norm_kinds">} Answer
 *
 * @typedef {"batch" | "layer" | "rms" | "deep"} Kind
 *
 * @typedef {object} KindsSelection
 * @property {import("./norm-places.js").NormName} norm
 * @property {number} layer
 * @property {number} query
 * @property {number | null} channel the largest, where it is null
 * @property {boolean} alone BatchNorm has this token alone in its batch, not the run
 * @property {boolean} outside ε of RMSNorm stands outside the root
 *
 * @typedef {object} Kinds
 * @property {ArrayLike<number>} x
 * @property {ArrayLike<number> | null} branch what the sub-layer adds that reads the norm
 * @property {ArrayLike<number>} batchMean by channel
 * @property {Float64Array} batchDeviation by channel
 * @property {number} mean of the channels of x
 * @property {number} deviation √(variance + ε)
 * @property {number} rms what RMSNorm divides by
 * @property {number} bareMeanSquare mean(x²)
 * @property {{ mean: number; deviation: number; sum: Float64Array } | null} deep of α·x + f(x)
 * @property {Partial<Record<Kind, Float64Array>>} outputs
 *
 * @typedef {import("./reading.js").Reading<KindsSelection> & { kinds: Kinds; answer: Answer }} KindsReading
 */

/**
 * One token's row.
 *
 * @param {import("../decoded.d.ts").NumArray} rows
 * @param {number} row
 */
const rowOf = ({ shape: [, width], data }, row) => data.subarray(row * width, (row + 1) * width);

/**
 * (x − mean) / deviation.
 *
 * @param {ArrayLike<number>} x
 * @param {(channel: number) => number} mean
 * @param {(channel: number) => number} deviation
 */
const normed = (x, mean, deviation) => Float64Array.from(x, (value, c) => (value - mean(c)) / deviation(c));

/**
 * What LayerNorm takes from a vector and divides it by.
 *
 * @param {ArrayLike<number>} x
 * @param {number} eps
 */
const layerFigures = (x, eps) => ({ mean: meanOf(x), deviation: Math.sqrt(meanSquare(centred(x)) + eps) });

/** @type {(answer: Answer, name: string, row: number, eps: number, how: KindsSelection) => Kinds} */
const kindsOf = onceFor((answer, _name, row, eps, { alone, outside }) => {
  const [x, branch] = [rowOf(answer.before, row), answer.branch && rowOf(answer.branch, row)];
  const batchMean = alone ? x : answer.mean.data;
  const batchDeviation = Float64Array.from(answer.variance.data, (value) => Math.sqrt((alone ? 0 : value) + eps));
  const { mean, deviation } = layerFigures(x, eps);
  const bareMeanSquare = meanSquare(x);
  const rms = outside ? Math.sqrt(bareMeanSquare) + eps : Math.sqrt(bareMeanSquare + eps);
  const sum = branch && changed(x, answer.alpha, 0).map((value, c) => value + branch[c]);
  const deep = sum && { sum, ...layerFigures(sum, eps) };
  const outputs = {
    batch: normed(
      x,
      (c) => batchMean[c],
      (c) => batchDeviation[c],
    ),
    layer: normed(
      x,
      () => mean,
      () => deviation,
    ),
    rms: normed(
      x,
      () => 0,
      () => rms,
    ),
    ...(deep
      ? {
          deep: normed(
            deep.sum,
            () => deep.mean,
            () => deep.deviation,
          ),
        }
      : {}),
  };
  return { x, branch, batchMean, batchDeviation, mean, deviation, rms, bareMeanSquare, deep, outputs };
});

/**
 * What each subtracts from one channel, divides it by and gives there, and the largest that it gives anywhere.
 *
 * @param {Kinds} kinds
 * @param {number} channel
 * @returns {{ kind: Kind; subtracted: number; divisor: number; given: number; largest: number }[]}
 */
export function figuresOf({ batchMean, batchDeviation, mean, deviation, rms, deep, outputs }, channel) {
  /** @type {[Kind, number, number][]} */
  const each = [
    ["batch", batchMean[channel], batchDeviation[channel]],
    ["layer", mean, deviation],
    ["rms", 0, rms],
    ...(deep ? [/** @type {[Kind, number, number]} */ (["deep", deep.mean, deep.deviation])] : []),
  ];
  return each.map(([kind, subtracted, divisor]) => {
    const output = outputs[kind] ?? new Float64Array();
    return { kind, subtracted, divisor, given: output[channel], largest: largest(output) };
  });
}

/** @type {import("./reading.js").Reader<KindsReading>} */
export const normKinds = {
  needs: ({ T, model }, { norm, layer, query }) => ({
    answer: [
      "norm_kinds",
      { layer: norm === "final" ? 0 : layer, norm, ...stretchOf(T, 8 * model.d_model, query) }, // x and the branch
    ],
  }),
  read({ trace, details: { answer } }, selection) {
    const { query, alone, outside } = selection;
    const name = `${query} ${alone} ${outside}`;
    const kinds = kindsOf(answer, name, query - answer.first, trace.model.norm_eps, selection);
    const { x, mean, deviation, rms, batchMean, batchDeviation, deep, outputs } = kinds;
    const channel = Math.min(selection.channel ?? strongest(x, 1)[0], x.length - 1);
    const { batch = x, layer = x, rms: divided = x } = outputs;
    const how = `${alone ? " alone" : ""}${outside ? " outside" : ""}`;
    return {
      selection: { ...selection, channel },
      kinds,
      answer,
      at: `${placeName(selection, query)} channel ${channel}${how}`,
      values: {
        x: x[channel],
        mean,
        deviation,
        rms,
        batch_mean: batchMean[channel],
        batch_deviation: batchDeviation[channel],
        ...(deep ? { alpha: answer.alpha, deep_mean: deep.mean, deep_deviation: deep.deviation } : {}),
        ...Object.fromEntries(Object.entries(outputs).map(([kind, values]) => [`to_${kind}`, values[channel]])),
        layer_apart: relativeChange(divided, layer),
        batch_apart: relativeChange(divided, batch),
      },
      rows: {
        channels: () => ({
          keys: { channel: [...Array.from(x).keys()] },
          columns: {
            x,
            ...Object.fromEntries(Object.entries(outputs).map(([kind, values]) => [`${kind}_norm`, values])),
          },
        }),
      },
    };
  },
};

const STEADY = 3; // times that a time's middle half may span; beyond it something else kept the machine busy

/**
 * How many times as long the one takes; null where either was disturbed, as its median then says little.
 *
 * @param {import("../decoded.d.ts").Detail<"norm_times">["rms_fused"]} one
 * @param {import("../decoded.d.ts").Detail<"norm_times">["rms_fused"]} other
 * @returns {number | null}
 */
export const ratioOf = (one, other) =>
  [one, other].every(({ low, high }) => high <= STEADY * low) ? one.median / other.median : null;
