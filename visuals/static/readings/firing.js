// Where the strongest neurons of a layer fire, token by token, and how sparsely each layer fires.

import { inner, strongestNeuron } from "../activations.js";
import { once, onceFor } from "../arrays.js";
import { neuronPlace, ownerHeads, ownerOf } from "../neuron-names.js";
import { columnOf, kindOf } from "./ffn-kinds.js";
import { drawnOf, numberAt } from "./neurons.js";

/**
 * @typedef {import("../decoded.d.ts").Detail<"ffn_map">} Answer (K, T) each
 *
 * @typedef {import("../decoded.d.ts").Detail<"ffn_firing">} Firing
 *
 * @typedef {import("../messages.d.ts").Ffn} Ffn
 *
 * @typedef {import("../decode.js").Trace} Trace
 *
 * @typedef {import("./reading.js").Table} Table
 *
 * @typedef {import("./ffn-kinds.js").VectorName} VectorName
 *
 * @typedef {import("./ffn-kinds.js").Vectors} Vectors
 *
 * @typedef {keyof import("../messages.d.ts").FiringDetail} Measure
 *
 * @typedef {object} FiringSelection
 * @property {number} layer of the map
 * @property {number} query
 * @property {number | null} neuron null: the token's strongest
 * @property {number} measured the layer whose sparsity is told
 * @property {string} [other] the run whose strongest neurons are in the map, where that is another
 *
 * @typedef {import("./reading.js").Reading<FiringSelection & { neuron: number }> & {
 *   ffn: Ffn;
 *   kind: import("./ffn-kinds.js").Kind;
 *   answer: Answer;
 *   layers: Table | null;
 * }} FiringReading
 *   `layers`: each layer's measures, at the token and in the mean; null until they have come
 */

/** @type {Measure[]} */
export const MEASURES = ["top", "open", "needed"];
/** A measure's mean over the tokens, by name. @param {Measure} name */
export const meanName = (name) => `mean_${name}`;
/** @type {VectorName[]} */
const TOLD = ["gate", "up", "product"];

/**
 * Mean over tokens of one layer's row.
 *
 * @param {{ shape: number[]; data: ArrayLike<number> }} values (L, T)
 * @param {number} layer
 */
export function meanOf({ shape: [, tokens], data }, layer) {
  let total = 0;
  for (let t = 0; t < tokens; t++) total += data[layer * tokens + t];
  return total / tokens;
}

/** Each layer's mean over the tokens, by measure. @type {(firing: Firing) => Record<Measure, number[]>} */
const meansOf = once((firing) => {
  const means = (/** @type {Measure} */ name) =>
    Array.from({ length: firing[name].shape[0] }, (_, layer) => meanOf(firing[name], layer));
  return { top: means("top"), open: means("open"), needed: means("needed") };
});

/**
 * Each cell's product, and what it was made of; NaN where a token does not go to the neuron's expert.
 *
 * @type {(answer: Answer, ffn: Ffn) => ReturnType<typeof inner>}
 */
export const cellsOf = onceFor((answer, ffn) => inner({ ...answer, ffn }));

/**
 * Which cells' activation reads more than 0: 1, else 0; NaN where it reads nothing.
 *
 * @param {Answer} answer
 */
export const openCells = ({ gate, up }) =>
  Float64Array.from((gate ?? up).data, (x) => (Number.isNaN(x) ? x : Number(x > 0)));

/**
 * The selected neuron, else the one that the chapter's other panels speak of; null while its layer is not here.
 *
 * @param {{ query: number; neuron: number | null }} place
 * @param {{ held?: import("../decode.js").Layer | null }} run
 */
export const spokenOf = ({ query, neuron }, { held }) => neuron ?? (held ? strongestNeuron(held, query) : null);

/**
 * A row for each layer: its measures at a token, and in the mean.
 *
 * @param {Firing} firing
 * @param {number} token
 * @returns {Table}
 */
function layersOf(firing, token) {
  const [layers, tokens] = firing.open.shape;
  const means = meansOf(firing);
  const own = (/** @type {Measure} */ name) =>
    Array.from({ length: layers }, (_, i) => firing[name].data[i * tokens + token]);
  const columns = MEASURES.flatMap((name) => [
    [name, own(name)],
    [meanName(name), means[name]],
  ]);
  return { keys: { layer: Array.from({ length: layers }, (_, i) => i) }, columns: Object.fromEntries(columns) };
}

/**
 * One layer's numbers.
 *
 * @param {Table | null} layers
 * @param {number} layer
 */
const measuresAt = (layers, layer) =>
  Object.fromEntries(Object.entries(layers?.columns ?? {}).map(([name, values]) => [name, values[layer]]));

/**
 * A row for each neuron of the map at each token.
 *
 * @param {Answer} answer
 * @param {Trace} trace
 * @param {Ffn} ffn
 * @returns {Table}
 */
function cellTable(answer, { T, tokens: { pieces } }, ffn) {
  const cells = cellsOf(answer, ffn);
  const kind = kindOf(ffn);
  const owners = answer.neurons.map((neuron) => ownerOf(ffn, neuron));
  const names = /** @type {VectorName[]} */ (["gate", "up", "weight", "product"]).filter((name) => cells[name]);
  /** @type {<Value>(value: (row: number, token: number) => Value) => Value[]} */
  const each = (value) => answer.neurons.flatMap((_, row) => pieces.map((_piece, t) => value(row, t)));
  return {
    keys: {
      neuron: each((row) => answer.neurons[row]),
      ...Object.fromEntries(ownerHeads(ffn).map((name, i) => [name, each((row) => owners[row][i])])),
      token: each((_, t) => t),
      piece: each((_, t) => pieces[t]),
    },
    columns: Object.fromEntries(
      names.map((name) => [columnOf(name, kind), each((row, t) => numberAt(cells, name, row * T + t))]),
    ),
  };
}

/**
 * What is told of a neuron: those of gate, up and product that there are.
 *
 * @param {Vectors} from
 * @param {number} place
 */
const toldOf = (from, place) =>
  Object.fromEntries(TOLD.filter((name) => from[name]).map((name) => [name, numberAt(from, name, place)]));

/**
 * @param {import("./reading.js").Run} run with the answers `map` and, once it is here, `firing`
 * @param {FiringSelection} selection
 * @param {number} neuron that is told of
 * @param {Record<string, number>} told its numbers
 * @returns {FiringReading}
 */
function readingOf({ trace, details }, selection, neuron, told) {
  const { layer, query, measured } = selection;
  const ffn = trace.model.parts.ffn[layer];
  const layers = details.firing ? layersOf(details.firing, query) : null;
  return {
    selection: { ...selection, neuron },
    ffn,
    kind: kindOf(ffn),
    answer: details.map,
    layers,
    at: `layer ${layer} ${neuronPlace(ffn, neuron)} token ${query} measured layer ${measured}`,
    values: { ...told, ...measuresAt(layers, measured) },
    rows: {
      cells: () => cellTable(details.map, trace, ffn),
      means: () => meanTable(details.firing),
    },
  };
}

/**
 * A row for each layer and measure: its mean over the tokens.
 *
 * @param {Firing} firing
 * @returns {Table}
 */
function meanTable(firing) {
  const means = meansOf(firing);
  const all = means.top.flatMap((_, layer) => MEASURES.map((measure) => ({ layer, measure })));
  return {
    keys: { layer: all.map(({ layer }) => layer), measure: all.map(({ measure }) => measure) },
    columns: { mean: all.map(({ layer, measure }) => means[measure][layer]) },
  };
}

/**
 * Of a neuron that the map has not it is told once all of the token's are here; until then, of the map's first.
 *
 * @type {import("./reading.js").Reader<FiringReading, FiringSelection>}
 */
export const firingReader = {
  needs: (_trace, { layer }) => ({ map: ["ffn_map", { layer }] }),
  later: () => ({ firing: ["ffn_firing", {}] }),
  read(run, selection) {
    const { layer, query } = selection;
    const { trace, details } = run;
    /** @type {Answer} */
    const answer = details.map;
    const held = trace.layers.get(layer) ?? null;
    const spoken = spokenOf(selection, { held });
    const row = spoken === null ? -1 : answer.neurons.indexOf(spoken);
    const neurons = spoken !== null && row < 0 ? held?.neurons.get(query) : undefined;
    if (neurons && spoken !== null) {
      const all = drawnOf(neurons);
      return readingOf(run, selection, spoken, toldOf(all, all.place(spoken)));
    }
    const here = Math.max(0, row);
    const cells = cellsOf(answer, trace.model.parts.ffn[layer]);
    return readingOf(run, selection, answer.neurons[here], toldOf(cells, here * trace.T + query));
  },
};

/**
 * For two runs, whose maps are of the same neurons: of one that they have not, the first is told of.
 *
 * @type {import("./reading.js").Reader<FiringReading, FiringSelection>}
 */
export const mapReader = {
  needs: (_trace, { layer, other }) => ({ map: ["ffn_map", { layer, other }], firing: ["ffn_firing", {}] }),
  read(run, selection) {
    const { trace, details } = run;
    /** @type {Answer} */
    const answer = details.map;
    const held = trace.layers.get(selection.layer);
    const row = Math.max(0, answer.neurons.indexOf(spokenOf(selection, { held }) ?? -1));
    const cells = cellsOf(answer, trace.model.parts.ffn[selection.layer]);
    return readingOf(run, selection, answer.neurons[row], toldOf(cells, row * trace.T + selection.query));
  },
};
