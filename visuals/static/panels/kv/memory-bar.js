// One GPU's memory as a bar: weights, cache, what stands beside them, and what is left.

import { h } from "../../dom.js";
import { exactBytes, scaled } from "./format.js";

/** @typedef {string | number} Bytes */

const percentOf = (/** @type {Bytes} */ part, /** @type {Bytes} */ all) => `${(100 * Number(part)) / Number(all)}%`;

/**
 * What takes memory, and what is left of it where it fits.
 *
 * @param {import("../../decoded.d.ts").Calculation<"kv_fit">} found
 * @returns {[string, number][]}
 */
function piecesOf({ use, beside }) {
  const { gpu, by, share, usable, weights, cache, free, fits } = use;
  /** @type {[string, number][]} */
  const pieces = [
    ["weights", Number(weights)],
    ["cache", Number(cache)],
  ];
  if (by === "share")
    return fits ? [...pieces, ["room", Number(free)], ["reserve", Number(gpu.memory) - Number(usable)]] : pieces;
  pieces.push(
    ["activations", Number(beside.activation_bytes)],
    ["context", Number(beside.context)],
    ["fragmentation", Number(beside.left)],
  );
  if (fits) pieces.push(["room", Number(free)], ["system", Number(gpu.memory) - Number(share)]);
  return pieces;
}

/**
 * The fullest GPU from 0 to its memory; where it does not fit, the bar is as long as what it would need.
 *
 * @param {import("../../decoded.d.ts").Calculation<"kv_fit">} found
 * @param {import("../../types.d.ts").Say} text of the section "kv-fit"
 * @returns {HTMLElement[]}
 */
export function memoryBar(found, text) {
  const { gpu, by, percent, share, weights, cache, usable } = found.use;
  const pieces = piecesOf(found).filter(([, bytes]) => bytes > 0);
  const taken = pieces.reduce((sum, [, bytes]) => sum + bytes, 0);
  const scale = Math.max(Number(gpu.memory), taken);
  const drawn = pieces.map(([name, bytes]) =>
    h(`span.kv-piece.is-${name}`, {
      style: `width: ${percentOf(bytes, scale)}`,
      title: text("piece", { name: text(name), bytes: exactBytes(Math.round(bytes)) }),
    }),
  );
  const edge = h("span.kv-edge", { style: `left: ${percentOf(share, scale)}` });
  const key = (/** @type {[string, number]} */ [name]) =>
    h("span.gp-sample", null, h(`span.kv-dot.is-${name}`), text(name));
  const said = {
    weights: scaled(weights, "binary"),
    cache: scaled(cache, "binary"),
    usable: scaled(usable.replace("-", ""), "binary"),
    percent,
    memory: scaled(gpu.memory, "decimal"),
  };
  return [
    h("div.kv-memory", null, ...drawn, edge),
    h("div.gp-samples", null, ...pieces.map(key)),
    h("p.gp-note", null, text(`bar_${by}`, said)),
  ];
}
