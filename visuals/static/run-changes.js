// What was changed in a run: lists by kind as app/comparing.py reads them, and their names for a reader.

import { neuronIn } from "./neuron-names.js";

/**
 * @typedef {import("./messages.d.ts").Changes} Changes
 *
 * @typedef {Exclude<keyof Changes, "source">} Kind
 *
 * @typedef {{ kind: Kind; value: number | number[] | string }} Change a layer, or how many tokens see each other;
 *   or [layer, head], [layer, neuron], [layer, token]; or an exchanged part, "field:value"
 */

const OF_ENCODER = "encoder_"; // what the names of changes in an encoder begin with
/** @type {readonly Kind[]} */
export const KINDS = [
  "heads",
  "cross",
  "attention",
  "ffn",
  "neurons",
  "patches",
  "prefix",
  "parts",
  "encoder_heads",
  "encoder_attention",
  "encoder_ffn",
  "encoder_neurons",
];

/**
 * Whether a change is of a network's encoder.
 *
 * @param {Kind} kind
 */
export const ofEncoder = (kind) => kind.startsWith(OF_ENCODER);

/**
 * @param {Changes} changes
 * @returns {Change[]} every change, in the order of KINDS
 */
export const listed = (changes) => KINDS.flatMap((kind) => (changes[kind] ?? []).map((value) => ({ kind, value })));

/**
 * The numbers of a change for its text, as they apply.
 *
 * @param {Kind} kind
 * @param {number | number[] | string} value
 * @returns {{ layer?: number; head?: number; neuron?: number; token?: number; count?: number }}
 */
export function parameters(kind, value) {
  if (typeof value === "string") return { count: Number(value.split(":")[1]) };
  if (!Array.isArray(value)) return kind === "prefix" ? { count: value } : { layer: value };
  const [layer, index] = value;
  return { layer, head: index, neuron: index, token: index };
}

/**
 * An exchanged part in words.
 *
 * @param {string} part "field:value"
 * @param {import("./types.d.ts").Texts["text"]} text
 */
export function partName(part, text) {
  const [field, value] = part.split(":");
  return /^\d+$/.test(value) ? text(`part.${field}`, { count: value }) : text(`part.${field}_${value}`);
}

/**
 * That a part is exchanged, in words; of one that nothing stands in for, that it is taken out.
 *
 * @param {string} part "field:value"
 * @param {import("./types.d.ts").Texts["text"]} text
 */
export function partChanged(part, text) {
  const [field, value] = part.split(":");
  return text(`part.is_${field}${value === "none" ? "_none" : ""}`, { part: partName(part, text) });
}

/**
 * A change in words.
 *
 * @param {"is" | "off"} how it is made, or can be
 * @param {Change} change
 * @param {Pick<import("./types.d.ts").Model, "parts">} model the run's
 * @param {import("./types.d.ts").Texts["text"]} text
 */
export function changeName(how, { kind, value }, model, text) {
  if (typeof value === "string") return how === "is" ? partChanged(value, text) : partName(value, text);
  const [key, numbers] = [`changes.${how}_${kind}`, parameters(kind, value)];
  if (kind !== "neurons" || !Array.isArray(value)) return text(key, numbers);
  const [layer, neuron] = value;
  return text(key, { ...numbers, neuron: neuronIn(model, layer, neuron, text) });
}
