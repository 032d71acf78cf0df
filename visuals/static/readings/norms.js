// The arithmetic of normalisation, in double precision. Pure: no DOM, no store.

/**
 * mean(x²).
 *
 * @param {ArrayLike<number>} x
 * @returns {number}
 */
export function meanSquare(x) {
  let sum = 0;
  for (let i = 0; i < x.length; i++) sum += x[i] * x[i];
  return sum / x.length;
}

/**
 * √(mean(x²) + ε), as LLaMA has it.
 *
 * @param {ArrayLike<number>} x
 * @param {number} eps
 */
export const rms = (x, eps) => Math.sqrt(meanSquare(x) + eps);

/**
 * Mean of the channels.
 *
 * @param {ArrayLike<number>} x
 * @returns {number}
 */
export function meanOf(x) {
  let sum = 0;
  for (let i = 0; i < x.length; i++) sum += x[i];
  return sum / x.length;
}

/**
 * x − mean(x).
 *
 * @param {ArrayLike<number>} x
 * @returns {Float64Array}
 */
export function centred(x) {
  const mean = meanOf(x);
  return Float64Array.from(x, (value) => value - mean);
}

/**
 * x / RMS(x), γ left out.
 *
 * @param {ArrayLike<number>} x
 * @param {number} eps
 * @returns {Float64Array}
 */
export function rmsNorm(x, eps) {
  const by = rms(x, eps);
  return Float64Array.from(x, (value) => value / by);
}

/**
 * (x − mean) / √(variance + ε), its own factor and bias left out.
 *
 * @param {ArrayLike<number>} x
 * @param {number} eps
 * @returns {Float64Array}
 */
export const layerNorm = (x, eps) => rmsNorm(centred(x), eps);

/**
 * a·x + b in every channel.
 *
 * @param {ArrayLike<number>} x
 * @param {number} a
 * @param {number} b
 * @returns {Float64Array}
 */
export const changed = (x, a, b) => Float64Array.from(x, (value) => a * value + b);

/**
 * ‖after − before‖ / ‖before‖.
 *
 * @param {ArrayLike<number>} before
 * @param {ArrayLike<number>} after
 * @returns {number}
 */
export function relativeChange(before, after) {
  let [apart, whole] = [0, 0];
  for (let i = 0; i < before.length; i++) {
    apart += (after[i] - before[i]) ** 2;
    whole += before[i] ** 2;
  }
  return Math.sqrt(apart / whole);
}

/**
 * What scaling alone changes, by the formula: RMSNorm(a·x) = a·√(m + ε) / √(a²·m + ε) · RMSNorm(x), with m =
 * mean(x²); LayerNorm's is the same, with the variance for m.
 *
 * @param {number} m
 * @param {number} eps
 * @param {number} a
 * @returns {number} the relative change, |that factor − 1|
 */
export const scaleChange = (m, eps, a) => Math.abs((a * Math.sqrt(m + eps)) / Math.sqrt(a * a * m + eps) - 1);

/**
 * Middle of the magnitudes.
 *
 * @param {ArrayLike<number>} x
 * @returns {number}
 */
export function medianMagnitude(x) {
  const sorted = Float64Array.from(x, Math.abs).sort();
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
