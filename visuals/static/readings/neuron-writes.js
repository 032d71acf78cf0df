// One token's feed-forward: the quadrants of gate × up, one neuron in numbers, and what the strongest neurons write.

import { innerOf, strongestNeuron } from "../activations.js";
import { onceFor } from "../arrays.js";
import { neuronPlace } from "../neuron-names.js";
import { noChoice } from "../parts.js";
import {
  drawnOf,
  everyNeuron,
  HALVES,
  neuronAt,
  numbersOf,
  QUADRANTS,
  quadrants,
  signsOf,
  tableOf,
} from "./neurons.js";

/**
 * @typedef {import("../decoded.d.ts").Detail<"ffn_written">} Answer
 *
 * @typedef {import("../messages.d.ts").NeuronWrites} Writes
 *
 * @typedef {import("./neurons.js").Drawn} Drawn
 *
 * @typedef {import("./neurons.js").EveryReading} EveryReading
 *
 * @typedef {import("./reading.js").Table} Table
 *
 * @typedef {object} Locked whose strongest neurons are listed, whatever the pointer is on
 * @property {number} lockedLayer
 * @property {number} lockedQuery
 * @property {number | null} lockedNeuron which is listed, too
 * @property {string} [other] the run whose strongest neurons are listed, where that is another
 *
 * @typedef {import("./neurons.js").NeuronSelection & Locked} WritesSelection
 *
 * @typedef {object} Written what the strongest neurons of the locked token write
 * @property {Writes[]} rows
 * @property {number} count how many are the strongest
 * @property {number} rest the length of what all others write
 * @property {number} whole the length of what all write
 *
 * @typedef {import("./reading.js").Reading<WritesSelection & { neuron: number }> & {
 *   ffn: import("../messages.d.ts").Ffn;
 *   full: Drawn;
 *   chosen: number;
 *   row: Writes | null;
 *   written: Written | null;
 *   listed: Drawn | null;
 * }} WritesReading
 *   `chosen`: the place of the neuron; `row`: what it writes, where it is listed; `listed`: the neurons of the locked
 *   token, null until they have come
 */

/**
 * @param {WritesSelection} selection
 * @param {number | null} neuron null: the strongest
 * @returns {import("./reading.js").Question}
 */
const question = ({ lockedLayer, lockedQuery, other }, neuron) => [
  "ffn_written",
  { layer: lockedLayer, token: lockedQuery, neuron, ...(other !== undefined && { other }) },
];

/** Whether a neuron is none of those that are listed. @param {Answer} answer @param {number | null} neuron */
const isFurther = ({ rows }, neuron) => neuron !== null && !rows.some((row) => row.neuron === neuron);

/**
 * What the strongest neurons write, and a further one before them.
 *
 * @type {(found: Answer, extra: Answer | null) => Written}
 */
const writtenOf = onceFor((found, extra) => ({
  rows: [...(extra?.rows ?? []), ...found.rows],
  count: found.rows.length,
  rest: found.rest,
  whole: found.whole,
}));

/** Whether what is listed is of the token that is read. @param {WritesSelection} selection */
const isLocked = ({ layer, query, lockedLayer, lockedQuery }) => layer === lockedLayer && query === lockedQuery;

/**
 * The row of a neuron, where the list is of the token that is read.
 *
 * @param {Writes[]} rows
 * @param {WritesSelection} selection
 */
const rowOf = (rows, selection) =>
  (isLocked(selection) && rows.find(({ neuron }) => neuron === selection.neuron)) || null;

/**
 * The token's neurons as for the panel on them, each with its quadrant.
 *
 * @param {import("./reading.js").Run} run
 * @param {number} layer
 * @param {Drawn} full
 * @returns {Table}
 */
function quadrantTable(run, layer, full) {
  const { gate, up } = full;
  const every = Array.from(up, (_, i) => neuronAt(full, i, full.of(i)));
  const { keys, columns } = tableOf(run, layer, full.kind, every);
  return { keys: { ...keys, quadrant: Array.from(up, (_, i) => signsOf(gate && gate[i], up[i])) }, columns };
}

/** @type {import("./reading.js").Reader<WritesReading, WritesSelection>} */
export const writesReader = {
  layer: true,
  neurons: true,
  later({ model }, selection, answered) {
    if (noChoice(model)) return {};
    const strongest = question(selection, null);
    const found = answered(...strongest);
    const isExtra = found && isFurther(found, selection.lockedNeuron);
    return { found: strongest, ...(isExtra && { extra: question(selection, selection.lockedNeuron) }) };
  },
  read(run, asked) {
    const { trace, held, details } = run;
    const { layer, query, neuron, lockedLayer, lockedQuery } = asked;
    const full = drawnOf(held.neurons.get(query));
    const own = neuron === null ? -1 : full.place(neuron);
    const chosen = own < 0 ? full.place(strongestNeuron(held, query)) : own;
    const selection = { ...asked, neuron: full.of(chosen) };
    const written = details.found ? writtenOf(details.found, details.extra ?? null) : null;
    const row = rowOf(written?.rows ?? [], selection);
    const locked = trace.layers.get(lockedLayer)?.neurons.get(lockedQuery);
    const numbers = neuronAt(full, chosen, selection.neuron);
    const counts = full.quadrants.map(({ count }) => count).join(",");
    const place = `layer ${layer} token ${query} ${neuronPlace(held.ffn, selection.neuron)} quadrants=${counts}`;
    return {
      selection,
      ffn: held.ffn,
      full,
      chosen,
      row,
      written,
      listed: locked ? drawnOf(locked) : null,
      at: row ? `${place} raises ${row.raised[0].id}` : place,
      values: {
        ...numbersOf(full.kind, (name) => numbers[name]),
        ...(row && { writes: row.norm, raised: row.raised[0].by }),
      },
      rows: { neurons: () => quadrantTable(run, layer, full) },
    };
  },
};

/**
 * How many neurons each quadrant has.
 *
 * @param {import("../decode.js").Neurons} neurons
 * @returns {Table}
 */
function countsOf(neurons) {
  const above = (/** @type {boolean} */ sign) => Number(sign); // signsOf tells the signs of any two numbers
  const signs = neurons.gate
    ? QUADRANTS.map(([gate, up]) => signsOf(above(gate), above(up)))
    : HALVES.map(([up]) => signsOf(null, above(up)));
  return {
    keys: { quadrant: signs },
    columns: { count: quadrants(innerOf(neurons)).map(({ count }) => count) },
  };
}

/**
 * How long what each neuron writes is.
 *
 * @param {Writes[]} rows
 * @returns {Table}
 */
const lengthsOf = (rows) => ({
  keys: { neuron: rows.map(({ neuron }) => neuron) },
  columns: { length: rows.map(({ norm }) => norm) },
});

/**
 * What each neuron adds to the logits to which it adds most and least.
 *
 * @param {Writes[]} rows
 * @returns {Table}
 */
function pushesOf(rows) {
  const all = rows.flatMap(({ neuron, raised, lowered }) =>
    [...raised, ...lowered].map(({ piece, by }) => ({ neuron, piece, by })),
  );
  return {
    keys: { neuron: all.map(({ neuron }) => neuron), piece: all.map(({ piece }) => piece) },
    columns: { by: all.map(({ by }) => by) },
  };
}

/**
 * The same for two runs, which are both asked what the strongest neurons of one of them write.
 *
 * @type {import("./reading.js").Reader<EveryReading, WritesSelection>}
 */
export const everyWrites = {
  ...everyNeuron,
  later: ({ model }, selection) => ({ ...(!noChoice(model) && { written: question(selection, null) }) }),
  read(run, asked) {
    const reading = everyNeuron.read(run, asked);
    const { neuron } = reading.selection;
    /** @type {Writes[]} */
    const written = run.details.written?.rows ?? [];
    const row = rowOf(written, { ...asked, neuron });
    return {
      ...reading,
      values: { ...reading.values, ...(row && { writes: row.norm }) },
      rows: {
        ...reading.rows,
        quadrants: () => countsOf(run.held.neurons.get(asked.query)),
        lengths: () => lengthsOf(written),
        pushes: () => pushesOf(written),
      },
    };
  },
};
