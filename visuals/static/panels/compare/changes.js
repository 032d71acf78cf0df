// What a run can be changed in at a place, and lists of changes with one more or less.

import { hasPrefix, looksAtSource } from "../../parts.js";

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
