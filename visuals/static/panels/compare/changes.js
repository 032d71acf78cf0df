// What a run is to be changed in: lists as app/comparing.py reads them, and their names for a reader.

import { hasPrefix, looksAtSource } from "../../parts.js";
import { neuronIn } from "../ffn/kinds.js";

const OF_ENCODER = "encoder_"; // what the names of changes in an encoder begin with
export const KINDS = [
  "heads",
  "cross",
  "attention",
  "ffn",
  "neurons",
  "patches",
  "prefix",
  ...["heads", "attention", "ffn", "neurons"].map((kind) => OF_ENCODER + kind),
];

/** Whether a change is of a network's encoder. */
export const ofEncoder = (kind) => kind.startsWith(OF_ENCODER);

/** The kind of a change as it is called in any stack. */
export const plainKind = (kind) => kind.replace(OF_ENCODER, "");

/**
 * What can be changed at the place that is selected; null where it cannot.
 *
 * @returns {Object<string, any>} by kind; no "cross" for a network that looks at no source, no "prefix" for one
 *   without that mask, and of an encoder its own alone
 */
export function atSelection({ layer, head, query, neuron, kept, trace }) {
  if (trace.whole)
    return {
      encoder_heads: [layer, head],
      encoder_attention: layer,
      encoder_ffn: layer,
      encoder_neurons: neuron === null ? null : [layer, neuron],
    };
  const patchable = kept && kept.model.name === trace.model.name && query < kept.T;
  return {
    heads: [layer, head],
    ...(looksAtSource(trace.model) && { cross: [layer, head] }),
    attention: layer,
    ffn: layer,
    neurons: neuron === null ? null : [layer, neuron],
    ...(hasPrefix(trace.model) && { prefix: trace.nPrompt }),
    patches: patchable ? [layer, query] : null,
  };
}

const same = (a, b) => String(a) === String(b);

/** Whether a change is among them. */
export const has = (changes, kind, value) => (changes[kind] ?? []).some((listed) => same(listed, value));

/** The changes with one more; the same one is not listed twice. */
export const added = (changes, kind, value) =>
  has(changes, kind, value) ? changes : { ...changes, [kind]: [...(changes[kind] ?? []), value] };

/** The changes without one. */
export const removed = (changes, kind, value) => ({
  ...changes,
  [kind]: (changes[kind] ?? []).filter((listed) => !same(listed, value)),
});

/** @returns {{ kind: string; value: any }[]} every change, in the order of KINDS */
export const listed = (changes) => KINDS.flatMap((kind) => (changes[kind] ?? []).map((value) => ({ kind, value })));

/** The numbers of a change for its text: {layer, head, neuron, token, count}, as they apply. */
export function parameters(kind, value) {
  if (["attention", "ffn"].includes(plainKind(kind))) return { layer: value };
  if (kind === "prefix") return { count: value };
  const [layer, index] = value;
  return { layer, head: index, neuron: index, token: index };
}

/**
 * A change in words.
 *
 * @param {"is" | "off"} how it is made, or can be
 * @param {object} model the run's
 * @param {Function} text glass.text
 */
export function changeName(how, { kind, value }, model, text) {
  const numbers = parameters(kind, value);
  if (kind === "neurons") {
    const [layer, neuron] = value;
    numbers.neuron = neuronIn(model, layer, neuron, text);
  }
  return text(`compare.${how}_${kind}`, numbers);
}
