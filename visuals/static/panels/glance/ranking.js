// What an answer would miss most: heads and neurons by what is left of the probability without each of them.

import { shareSaid } from "../../counts.js";
import { h } from "../../dom.js";
import { neuronIn } from "../../neuron-names.js";
import { shownIn } from "../../run-for.js";
import { formOf, lead, leadTo, leadToCell, readBy, word } from "./words.js";

const [HEADS, NEURONS] = [6, 4];

/** @param {Part} part */
const isNeuron = ({ kind }) => kind.endsWith("neuron");

/**
 * A part that the answer "why" measures: what is left without it, and of a head where it looks.
 *
 * @typedef {import("../../messages.d.ts").EffectMessage} Part
 *
 * @typedef {import("../../types.d.ts").Glass} Glass
 */

/**
 * A part in words: a neuron as the chapter on the feed-forward names it.
 *
 * @param {Pick<Part, "kind" | "layer" | "index">} part
 * @param {import("../../decode.js").Trace} trace
 * @param {import("../../types.d.ts").Texts["text"]} text
 */
export function nameOfPart({ kind, layer, index }, trace, text) {
  const own = kind === "neuron" ? trace.model : kind === "encoder_neuron" ? trace.encoder?.model : null;
  return text(`why.part_${kind}`, { layer, index: own ? neuronIn(own, layer, index, text) : index });
}

/**
 * Those that the list names: heads, of an encoder as many as of what writes, then neurons; what is missed most
 * first.
 *
 * @param {Part[]} parts in that order
 */
export function ranked(parts) {
  const heads = parts.filter((one) => !isNeuron(one));
  const of = (/** @type {boolean} */ encoder) =>
    heads.filter(({ kind }) => (kind === "encoder_head") === encoder).slice(0, HEADS);
  const named = new Set([...of(false), ...of(true), ...parts.filter(isNeuron).slice(0, NEURONS)]);
  return [...heads, ...parts.filter(isNeuron)].filter((one) => named.has(one));
}

/**
 * A neuron's name, which leads to it: an encoder's at the end of its source.
 *
 * @param {Glass} glass
 * @param {string} words
 * @param {Part} part
 * @param {number} query
 */
function toNeuron(glass, words, { kind, layer, index: neuron }, query) {
  if (kind === "neuron") return lead(glass, words, { layer, neuron, query }, "ffn", "ffn-token");
  const click = () => leadTo(glass, "ffn", "ffn-token", () => glass.readStack("encoder", { layer, neuron }));
  return h("button.wy-lead", { click }, words);
}

/**
 * Where a head looks from, and how much.
 *
 * @param {Glass} glass
 * @param {Part} part
 */
function lookText(glass, { kind, key, query, weight }) {
  const pieces = readBy(shownIn(glass).trace, kind);
  return glass.text(`why.part_looks${formOf(kind)}`, {
    key: word(pieces[key ?? 0]),
    query: word(pieces[query ?? -1] ?? ""),
    weight: shareSaid(glass.text, weight ?? NaN),
  });
}

/**
 * The ranking as list items: each part, what is left without it, and where a head looks.
 *
 * @param {Glass} glass
 * @param {{ parts: Part[]; position: number }} found the answer "why"
 * @returns {HTMLElement[]}
 */
export function rankingOf(glass, { parts, position }) {
  return ranked(parts).map((one) => {
    const words = nameOfPart(one, shownIn(glass).trace, glass.text);
    const left = ` ${glass.text("why.part_without", { p: shareSaid(glass.text, one.without) })}`;
    return isNeuron(one)
      ? h("li", null, toNeuron(glass, words, one, position), left)
      : h("li", null, leadToCell(glass, words, one, position), `${left}${lookText(glass, one)}`);
  });
}
