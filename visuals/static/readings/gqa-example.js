// The shapes of grouped-query attention, for any numbers that fit each other.

/**
 * @typedef {{ h: number; g: number; d: number; T: number }} Sizes query heads, K/V heads, width, tokens
 *
 * @typedef {{ name: string; rows: number; columns: number }} Shape
 *
 * @typedef {import("./reading.js").Reading<Sizes> & {
 *   shapes: Shape[];
 *   headDim: number;
 *   groupSize: number;
 *   kept: number;
 *   keptByAll: number;
 * }} ExampleReading
 *   `kept`: numbers of K and V for all tokens in one layer, and what they would be with a K/V head for each query
 *   head
 */

/** The literature's example: 100 tokens, d 512, 8 heads in 2 groups. @type {Sizes} */
export const EXAMPLE = { T: 100, d: 512, h: 8, g: 2 };

/** The divisors of a number. @param {number} number */
const divisorsOf = (number) =>
  Array.from({ length: number }, (_, i) => i + 1).filter((divisor) => number % divisor === 0);

/**
 * What does not fit: which field, and what would; null where all does.
 *
 * @param {Sizes} sizes
 * @returns {{ field: "g" | "h"; fits: number[] } | null}
 */
export function misfit({ h, g, d }) {
  if (h % g) return { field: "g", fits: divisorsOf(h) };
  return d % h ? { field: "h", fits: divisorsOf(d).filter((count) => count <= 32 && count % g === 0) } : null;
}

/**
 * @param {Sizes} sizes that fit
 * @returns {Shape[]} in the order of the computation
 */
export function shapesOf({ h, g, d, T }) {
  const width = d / h;
  /** @type {[string, number, number][]} */
  const all = [
    ["X", T, d],
    ["W_Q", d, d],
    ["W_K", d, g * width],
    ["W_V", d, g * width],
    ["Q_i", T, width],
    ["K_g", T, width],
    ["V_g", T, width],
    ["A_i", T, T],
    ["O_i", T, width],
    ["O", T, d],
    ["W_O", d, d],
    ["Y", T, d],
  ];
  return all.map(([name, rows, columns]) => ({ name, rows, columns }));
}

/**
 * @param {Sizes} sizes that fit
 * @returns {ExampleReading}
 */
export function exampleReading(sizes) {
  const { h, g, d, T } = sizes;
  const [headDim, shapes] = [d / h, shapesOf(sizes)];
  const kept = 2 * T * g * headDim;
  return {
    selection: sizes,
    shapes,
    headDim,
    groupSize: h / g,
    kept,
    keptByAll: 2 * T * d,
    at: `T ${T} d ${d} h ${h} g ${g}`,
    values: { head_dim: headDim, group_size: h / g, kept, kept_by_all: 2 * T * d },
    rows: {
      shapes: () => ({
        keys: { matrix: shapes.map(({ name }) => name) },
        columns: { rows: shapes.map(({ rows }) => rows), columns: shapes.map(({ columns }) => columns) },
      }),
    },
  };
}
