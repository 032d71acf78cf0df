// From q·k to the weight: the lines that every cell's arithmetic has.

import { biasAt, bucketAt, scaledByRoot, slopeOf } from "../../compute.js";
import { fraction, inBrackets, line, phrase, root, shown, strong, sub, sup, tinted } from "../../dom.js";

/** q·k and what it is multiplied by: over √head_dim, or times another factor where there is one. */
function scaled(model, product, factor) {
  return model.parts.scale === 1 ? product : scaledByRoot(model) ? fraction(product, root(factor)) : phrase`${product} · ${factor}`;
}

/**
 * The score from q·k: scaled and, where the network has one, with its bias by distance: ALiBi's as −slope · distance, a learned one by its bucket.
 * @param {object} model @param {{ dot: number, score: number, head: number, query: number, key: number }} cell
 */
export function scoreLine(model, { dot, score, head, query, key }, text) {
  const { head_dim: width, parts: { scale, bias } } = model;
  const byRoot = scaledByRoot(model);
  const name = scaled(model, phrase`${tinted("q", "q")}·${tinted("k", "k")}`, byRoot ? "head_dim" : "s");
  const numbers = scaled(model, byRoot || scale === 1 ? shown(dot, 5) : inBrackets(dot), byRoot ? String(width) : shown(scale, 6));
  if (!bias) return line`${text("score")} = ${name} = ${numbers} = ${strong(score)}`;
  const [slope, distance] = [slopeOf(model, head), query - key];
  const added = biasAt(model, head, distance);
  const bucket = bucketAt(model, distance);
  const named = bucket === null ? `b[${distance}]` : text("bucket_term", { bucket });
  const [term, value] = slope === null ? [named, inBrackets(added)] : [text("slope_distance"), phrase`(−${shown(slope, 5)} · ${String(distance)})`];
  const sum = phrase`${shown(score - added, 5)} + ${inBrackets(added)}`;
  const steps = scale === 1 && slope === null ? sum : phrase`${numbers} + ${value} = ${sum}`;
  return line`${text("score")} = ${name} + ${term} = ${steps} = ${strong(score)}`;
}

/** The softmax of the row: one power over the sum of all. @param {string} [sign] of the weight */
export function weightLine({ score, top, total, weight }, text, sign = " α") {
  const power = (from) => phrase`e${sup(from)}`;
  const all = fraction(power("score − max"), phrase`Σ${sub("j")} e${sup("scoreⱼ − max")}`);
  return line`${text("weight")}${sign} = ${all} = ${fraction(power(`${shown(score, 5)} − ${inBrackets(top)}`), shown(total, 6))} = ${strong(weight)}`;
}
