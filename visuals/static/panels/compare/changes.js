// What a run is to be changed in: lists as app/comparing.py reads them, and their names for a reader.

import { hasPrefix, looksAtSource } from "../../parts.js";

export const KINDS = ["heads", "cross", "attention", "ffn", "neurons", "patches", "prefix"];

/** What can be changed at the place that is selected; null where it cannot. @returns {Object<string, any>} by kind; no "cross" for a network that looks at no source, no "prefix" for one without that mask */
export function atSelection({ layer, head, query, neuron, kept, trace }) {
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
  has(changes, kind, value)
    ? changes
    : { ...changes, [kind]: [...(changes[kind] ?? []), value] };

/** The changes without one. */
export const removed = (changes, kind, value) => ({ ...changes, [kind]: (changes[kind] ?? []).filter((listed) => !same(listed, value)) });

/** @returns {{ kind: string, value: any }[]} every change, in the order of KINDS */
export const listed = (changes) => KINDS.flatMap((kind) => (changes[kind] ?? []).map((value) => ({ kind, value })));

/** The numbers of a change for its text: {layer, head, neuron, token, count}, as they apply. */
export function parameters(kind, value) {
  if (kind === "attention" || kind === "ffn") return { layer: value };
  if (kind === "prefix") return { count: value };
  const [layer, index] = value;
  return { layer, head: index, neuron: index, token: index };
}
