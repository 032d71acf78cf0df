// Arithmetic on vectors of numbers, whatever they stand for. Pure: no DOM, no store.

/**
 * Softmax of the first `count` values, in place.
 *
 * @param {Float64Array} values
 * @param {number} count
 * @returns {Float64Array} the same
 */
export function softmaxInPlace(values, count) {
  let top = -Infinity;
  for (let i = 0; i < count; i++) top = Math.max(top, values[i]);
  let total = 0;
  for (let i = 0; i < count; i++) total += values[i] = Math.exp(values[i] - top);
  for (let i = 0; i < count; i++) values[i] /= total;
  return values;
}

/**
 * Softmax of all values.
 *
 * @param {ArrayLike<number>} values
 * @returns {Float64Array}
 */
export const softmax = (values) => softmaxInPlace(Float64Array.from(values), values.length);

/**
 * @param {ArrayLike<number>} a
 * @param {ArrayLike<number>} b
 */
export function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

/**
 * B − A, value by value. Throws RangeError for vectors of two lengths.
 *
 * @param {ArrayLike<number>} b
 * @param {ArrayLike<number>} a
 * @returns {Float64Array}
 */
export function subtract(b, a) {
  if (a.length !== b.length) throw new RangeError(`cannot subtract ${a.length} values from ${b.length}`);
  return Float64Array.from(b, (value, i) => value - a[i]);
}

/**
 * The largest magnitude.
 *
 * @param {ArrayLike<number>} values
 * @returns {number} NaN, which marks no value, is passed over
 */
export function largest(values) {
  let most = 0;
  for (let i = 0; i < values.length; i++) if (Math.abs(values[i]) > most) most = Math.abs(values[i]);
  return most;
}

/**
 * Indices of the `count` largest magnitudes, largest first; equal ones in order of index.
 *
 * @param {ArrayLike<number>} values
 * @param {number} count
 * @returns {number[]}
 */
export function strongest(values, count) {
  const order = Array.from(values, (_, i) => i);
  return order.sort((a, b) => Math.abs(values[b]) - Math.abs(values[a]) || a - b).slice(0, count);
}

/**
 * Columns for a strip that is narrower than its vector: in each, the index of the value of largest magnitude; NaN
 * is none.
 *
 * @param {ArrayLike<number>} values
 * @param {number} columns
 * @returns {number[]} at most one index a column
 */
export function poolColumns(values, columns) {
  const count = Math.min(columns, values.length);
  /** @type {(i: number) => number} */
  const size = (i) => (Number.isNaN(values[i]) ? -1 : Math.abs(values[i]));
  return Array.from({ length: count }, (_, column) => {
    const end = Math.floor(((column + 1) * values.length) / count);
    let best = Math.floor((column * values.length) / count);
    for (let i = best + 1; i < end; i++) if (size(i) > size(best)) best = i;
    return best;
  });
}

/**
 * A function of an object whose value is worked out once for each.
 *
 * @template {WeakKey} Source
 * @template Value
 * @param {(source: Source) => Value} make
 * @returns {(source: Source) => Value}
 */
export function once(make) {
  /** @type {WeakMap<Source, Value>} */
  const made = new WeakMap();
  return (source) => {
    if (!made.has(source)) made.set(source, make(source));
    return /** @type {Value} */ (made.get(source));
  };
}

/**
 * As `once`, of an object and a name: worked out once for each name, from what is given besides.
 *
 * @template {WeakKey} Source
 * @template Name
 * @template {unknown[]} Given
 * @template Value
 * @param {(source: Source, name: Name, ...given: Given) => Value} make
 * @returns {(source: Source, name: Name, ...given: Given) => Value}
 */
export function onceFor(make) {
  /** @type {(source: Source) => Map<Name, Value>} */
  const made = once(() => new Map());
  return (source, name, ...given) => {
    const known = made(source);
    if (!known.has(name)) known.set(name, make(source, name, ...given));
    return /** @type {Value} */ (known.get(name));
  };
}
