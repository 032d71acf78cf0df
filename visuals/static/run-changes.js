// What was changed in a run: lists by kind as app/comparing.py reads them, and their names for a reader.

import { neuronIn } from "./neuron-names.js";

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
const plainKind = (kind) => kind.replace(OF_ENCODER, "");

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
 * @param {import("./types.d.ts").Texts["text"]} text glass.text
 */
export function changeName(how, { kind, value }, model, text) {
  const numbers = parameters(kind, value);
  if (kind === "neurons") {
    const [layer, neuron] = value;
    numbers.neuron = neuronIn(model, layer, neuron, text);
  }
  return text(`compare.${how}_${kind}`, numbers);
}
