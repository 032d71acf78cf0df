// What wrote a word: the heads and FFNs, in the order of what they add to its logit.

/**
 * @import {
 *   Detail,
 *   NumArray
 * } from "../decoded.d.ts"
 */

/**
 * Heads, each with the token from which it brought most, and FFNs, in the order of what they add to the logit.
 *
 * @param {Pick<Detail<"logit_terms">, "heads" | "cross" | "ffn">} terms
 * @returns {{ kind: "head" | "cross" | "ffn"; layer: number; head?: number; key?: number; value: number }[]}
 */
export function writers({ heads, cross, ffn }) {
  /**
   * @param {"head" | "cross"} kind
   * @param {NumArray} values
   */
  const ofHeads = (kind, { data, shape }) => {
    const [layers, count, tokens] = shape;
    return Array.from({ length: layers * count }, (_, i) => {
      const row = data.subarray(i * tokens, (i + 1) * tokens);
      const value = Array.from(row).reduce((sum, x) => sum + x, 0);
      return { kind, layer: Math.floor(i / count), head: i % count, key: row.indexOf(Math.max(...row)), value };
    });
  };
  const blocks = Array.from(ffn.data, (value, layer) => ({ kind: /** @type {const} */ ("ffn"), layer, value }));
  return [...ofHeads("head", heads), ...(cross ? ofHeads("cross", cross) : []), ...blocks].sort(
    (a, b) => b.value - a.value,
  );
}
