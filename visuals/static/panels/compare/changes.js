// What a run can be changed in at a place, and lists of changes with one more or less.

import { hasPrefix, looksAtSource } from "../../parts.js";

/**
 * @typedef {import("../../run-changes.js").Changes} Changes
 *
 * @typedef {import("../../run-changes.js").Kind} Kind
 *
 * @typedef {import("../../run-changes.js").Change["value"]} Value
 *
 * @typedef {Partial<Record<Kind, Value | null>>} Possible null of what cannot be changed here
 *
 * @typedef {Pick<import("../../types.d.ts").Shown, "layer" | "head" | "query" | "neuron" | "kept" | "trace">} At
 */

/**
 * What can be changed at the place that is selected; null where it cannot.
 *
 * @param {At} place
 * @returns {Possible} by kind; no "cross" for a network that looks at no source, no "prefix" for one without that
 *   mask, and of an encoder its own alone
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

/** @type {(a: Value, b: Value) => boolean} */
const same = (a, b) => String(a) === String(b);

/** The values of a kind that are listed. @type {(changes: Changes, kind: Kind) => Value[]} */
const valuesOf = (changes, kind) => changes[kind] ?? [];

/** Whether a change is among them. @type {(changes: Changes, kind: Kind, value: Value) => boolean} */
export const has = (changes, kind, value) => valuesOf(changes, kind).some((listed) => same(listed, value));

/**
 * The changes with one more; the same one is not listed twice.
 *
 * @type {(changes: Changes, kind: Kind, value: Value) => Changes}
 */
export const added = (changes, kind, value) =>
  has(changes, kind, value) ? changes : { ...changes, [kind]: [...valuesOf(changes, kind), value] };

/** The changes without one. @type {(changes: Changes, kind: Kind, value: Value) => Changes} */
export const removed = (changes, kind, value) => ({
  ...changes,
  [kind]: valuesOf(changes, kind).filter((listed) => !same(listed, value)),
});
