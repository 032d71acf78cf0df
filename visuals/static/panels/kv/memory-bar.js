// One GPU's memory as a bar: weights, cache, what is left, and what is kept free.

import { h } from "../../dom.js";
import { exactBytes, scaled } from "./format.js";

const percentOf = (part, all) => `${(100 * Number(part)) / Number(all)}%`;

/**
 * The fullest GPU from 0 to its memory; where it does not fit, the bar is as long as what it would need.
 *
 * @param {import("../../decoded.d.ts").Calculation<"kv_fit">["use"]} use
 * @param {Function} text of the section "kv-fit"
 * @returns {HTMLElement[]}
 */
export function memoryBar({ gpu, percent, usable, weights, cache, free, fits }, text) {
  const taken = Number(weights) + Number(cache);
  const scale = Math.max(Number(gpu.memory), taken);
  const piece = (name, bytes) =>
    h(`span.kv-piece.is-${name}`, {
      style: `width: ${percentOf(bytes, scale)}`,
      title: `${text(name)}: ${exactBytes(Math.round(bytes))}`,
    });
  const pieces = [piece("weights", weights), piece("cache", cache)];
  if (fits) pieces.push(piece("room", Number(free)), piece("reserve", Number(gpu.memory) - Number(usable)));
  const edge = h("span.kv-edge", { style: `left: ${percentOf(usable, scale)}` });
  const key = (name) => h("span.gp-sample", null, h(`span.kv-dot.is-${name}`), text(name));
  const said = {
    weights: scaled(weights, "binary"),
    cache: scaled(cache, "binary"),
    usable: scaled(usable, "binary"),
    percent,
    memory: scaled(gpu.memory, "decimal"),
  };
  return [
    h("div.kv-memory", null, ...pieces, edge),
    h("div.gp-samples", null, ...["weights", "cache", "room", "reserve"].map(key)),
    h("p.gp-note", null, text("bar", said)),
  ];
}
