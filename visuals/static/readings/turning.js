// RoPE on single vectors, in double or in single precision, in either layout, and q·k as a function of the distance.
// Pure: no DOM, no store. What all heads' attention is computed with is compute.js.

/**
 * @typedef {{ inv_freq: ArrayLike<number>; scaling: number }} Frequencies radians per token, one a pair; cos and
 *   sin are multiplied by `scaling`
 *
 * @typedef {"half" | "neighbours"} Layout pair i is (i, i + head_dim/2), or (2i, 2i + 1)
 */

const plain = (/** @type {number} */ x) => x;

/**
 * A vector after RoPE.
 *
 * @param {ArrayLike<number>} x
 * @param {number} position
 * @param {Frequencies} frequencies
 * @param {{ layout?: Layout; single?: boolean }} [how] `single`: every step rounded to float32, as the model
 *   computes
 */
export function turned(x, position, { inv_freq, scaling }, { layout = "half", single = false } = {}) {
  const round = single ? Math.fround : plain;
  const half = inv_freq.length;
  const out = new Float64Array(2 * half);
  for (let i = 0; i < half; i++) {
    const angle = round(position * inv_freq[i]);
    const cos = round(round(Math.cos(angle)) * scaling);
    const sin = round(round(Math.sin(angle)) * scaling);
    const [a, b] = layout === "half" ? [i, i + half] : [2 * i, 2 * i + 1];
    out[a] = round(round(x[a] * cos) - round(x[b] * sin));
    out[b] = round(round(x[b] * cos) + round(x[a] * sin));
  }
  return out;
}

/**
 * What the values i and i + head_dim/2 add to q·k, which in the layout of halves are a pair.
 *
 * @param {ArrayLike<number>} q
 * @param {ArrayLike<number>} k
 * @returns {Float64Array}
 */
export function terms(q, k, single = false) {
  const round = single ? Math.fround : plain;
  const half = q.length / 2;
  return Float64Array.from({ length: half }, (_, i) => round(round(q[i] * k[i]) + round(q[i + half] * k[i + half])));
}

/**
 * Each pair's share of q·k, q at position m and k at position n, in single precision as the model computes.
 *
 * @param {ArrayLike<number>} q
 * @param {ArrayLike<number>} k
 * @param {number} m
 * @param {number} n
 * @param {Frequencies} frequencies
 * @returns {Float64Array}
 */
export function singleTerms(q, k, m, n, frequencies) {
  const how = { single: true };
  return terms(turned(q, m, frequencies, how), turned(k, n, frequencies, how), true);
}

/**
 * Sum in order.
 *
 * @param {ArrayLike<number>} values
 * @returns {number}
 */
export function sum(values, single = false) {
  const round = single ? Math.fround : plain;
  let total = 0;
  for (let i = 0; i < values.length; i++) total = round(total + values[i]);
  return total;
}

/**
 * q·k of q at position m and k at position n.
 *
 * @param {ArrayLike<number>} q
 * @param {ArrayLike<number>} k
 * @param {number} m
 * @param {number} n
 * @param {Frequencies} frequencies
 */
export const product = (q, k, m, n, frequencies) => sum(terms(turned(q, m, frequencies), turned(k, n, frequencies)));

/**
 * The values of half-split pairs put next to each other: new[2i] = old[i], new[2i + 1] = old[i + head_dim/2].
 *
 * @param {ArrayLike<number>} x
 */
export function neighbours(x) {
  const half = x.length / 2;
  return Float64Array.from(x, (_, j) => x[j % 2 ? (j - 1) / 2 + half : j / 2]);
}

/**
 * q·k at distances 0 … count - 1: Σ over pairs of A·cos(Δ·θ) + B·sin(Δ·θ), where A = q₁k₁ + q₂k₂ and B = q₁k₂ −
 * q₂k₁ before rotation. Each pair is turned by θ from one distance to the next.
 *
 * @param {ArrayLike<number>} q
 * @param {ArrayLike<number>} k
 * @param {Frequencies} frequencies
 * @param {number} count
 */
export function overDistance(q, k, { inv_freq, scaling }, count) {
  const half = inv_freq.length;
  const out = new Float64Array(count);
  for (let i = 0; i < half; i++) {
    const even = (q[i] * k[i] + q[i + half] * k[i + half]) * scaling * scaling;
    const odd = (q[i] * k[i + half] - q[i + half] * k[i]) * scaling * scaling;
    const [turnCos, turnSin] = [Math.cos(inv_freq[i]), Math.sin(inv_freq[i])];
    let [cos, sin] = [1, 0];
    for (let distance = 0; distance < count; distance++) {
      out[distance] += even * cos + odd * sin;
      [cos, sin] = [cos * turnCos - sin * turnSin, sin * turnCos + cos * turnSin];
    }
  }
  return out;
}

/**
 * @typedef {object} ByDistance q·k of pairs by distance
 * @property {Float64Array} mean
 * @property {Float64Array} low
 * @property {Float64Array} high
 * @property {Float64Array} count how many pairs each distance has
 * @property {number} every of the queries every n-th is counted
 */

/**
 * Mean, least and largest q·k of a head's real pairs at every distance. From more than `most` pairs every n-th
 * query.
 *
 * @param {ArrayLike<number>} q (T, width) after RoPE, k likewise
 * @param {ArrayLike<number>} k
 * @param {number} width
 * @returns {ByDistance}
 */
export function byDistance(q, k, width, most = 16_000) {
  const tokens = q.length / width;
  const every = Math.max(1, Math.ceil((tokens * (tokens + 1)) / 2 / most));
  const [mean, count] = [new Float64Array(tokens), new Float64Array(tokens)];
  const [low, high] = [new Float64Array(tokens).fill(Infinity), new Float64Array(tokens).fill(-Infinity)];
  for (let m = tokens - 1; m >= 0; m -= every) {
    for (let n = 0; n <= m; n++) {
      let dot = 0;
      for (let i = 0; i < width; i++) dot += q[m * width + i] * k[n * width + i];
      const at = m - n;
      mean[at] += dot;
      count[at] += 1;
      low[at] = Math.min(low[at], dot);
      high[at] = Math.max(high[at], dot);
    }
  }
  return { mean: mean.map((total, i) => total / count[i]), low, high, count, every };
}

/**
 * The same of `size` neighbouring distances at once: the least and the largest of all their pairs, and the mean.
 *
 * @param {ByDistance} all
 * @param {number} size
 * @returns {{ from: number; to: number; mean: number; low: number; high: number }[]} `from` and `to`: the first
 *   distance and the last
 */
export function inGroups({ mean, low, high, count }, size) {
  return Array.from({ length: Math.ceil(mean.length / size) }, (_, group) => {
    const [from, end] = [group * size, Math.min((group + 1) * size, mean.length)];
    let [total, pairs] = [0, 0];
    for (let at = from; at < end; at++) [total, pairs] = [total + mean[at] * count[at], pairs + count[at]];
    return {
      from,
      to: end - 1,
      mean: total / pairs,
      low: Math.min(...low.subarray(from, end)),
      high: Math.max(...high.subarray(from, end)),
    };
  });
}
