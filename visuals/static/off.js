// What is switched off in a run, as app/comparing.py reads it. Pure.

import { listed } from "./panels/compare/changes.js";

/** Whether anything was changed in a run. */
export const isChanged = ({ changes }) => listed(changes ?? {}).length > 0;

/** Whether a head writes nothing: it is off itself, or all attention of its layer is. */
export const headOff = ({ changes }, layer, head) =>
  Boolean(changes?.attention?.includes(layer) || changes?.heads?.some(([l, h]) => l === layer && h === head));

/** Whether a neuron writes nothing: it is off itself, or the FFN of its layer is. */
export const neuronOff = ({ changes }, layer, neuron) =>
  Boolean(changes?.ffn?.includes(layer) || changes?.neurons?.some(([l, n]) => l === layer && n === neuron));
