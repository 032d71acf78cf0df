// What the SwiGLU chapter reads from a run.

import { labelsOf } from "../characters.js";
import { visible } from "../draw.js";
import { meanOf } from "../readings/firing.js";
import { HALVES, QUADRANTS, quadrants } from "../readings/neurons.js";
import { createMap, createViews, productsOf, spokenOf } from "../panels/ffn/neuron-map.js";
import { MEASURES } from "../panels/ffn/sparsity.js";
import { atNeuron, chooseNeuron, inner, kindIn, nameOfNeuron, neuronNumbers, neuronTable, ofNeuron } from "./glance.js";
import { noChoice } from "../parts.js";
import { places } from "./places.js";
import { table } from "./table.js";

/**
 * @typedef {import("./face.js").NeuronsRun} NeuronsRun
 *
 * @typedef {import("../types.d.ts").Glass} Glass
 *
 * @typedef {NeuronsRun & { details: { written?: import("../decoded.d.ts").Detail<"ffn_written"> | null } }} TokenRun
 *
 *
 * @typedef {import("./face.js").Run & {
 *   details: {
 *     map: import("../decoded.d.ts").Detail<"ffn_map">;
 *     firing: import("../decoded.d.ts").Detail<"ffn_firing">;
 *   };
 * }} TokensRun
 */
/**
 * @template {import("./face.js").Run} Of
 * @template Chosen
 * @typedef {import("./face.js").View<Of, Chosen>} View
 */

/** @param {boolean[]} above whether gate, and up, are above 0 */
const signs = ([gate, up]) => ({ gate: `gate ${gate ? ">" : "≤"} 0`, up: `up ${up ? ">" : "≤"} 0` });

/** What B's strongest neurons write in a run; nothing until it is here. @param {TokenRun} run */
const writesOf = ({ details }) => details.written?.rows ?? [];

/**
 * What each token's logit gets, of those that B's strongest neurons raise and lower most.
 *
 * @param {TokenRun} run
 * @returns {{ neuron: number; piece: string; by: number }[]}
 */
const pushesOf = (run) =>
  writesOf(run).flatMap(({ neuron, raised, lowered }) =>
    [...raised, ...lowered].map(({ piece, by }) => ({ neuron, piece, by })),
  );

/**
 * Tables of what B's strongest neurons write in both runs: of the locked token, whose name is above them.
 *
 * @param {string} title
 * @param {import("./table.js").TableLook & import("./table.js").OwnTable<TokenRun>} rows
 */
const written = (title, rows) =>
  table({
    title,
    named: ({ locked: { layer, query }, trace }) => ({
      layer,
      m: query,
      piece: visible(labelsOf(trace.tokens.pieces)[query]),
    }),
    needs: ["written"],
    absent: ({ trace }) => Boolean(noChoice(trace.model)),
    ...rows,
  });
const lengths = written("written_lengths", {
  heading: "neuron",
  values: (run) => Float64Array.from(writesOf(run), ({ norm }) => norm),
  name: (i, run, glass) => nameOfNeuron(run, writesOf(run)[i].neuron, glass),
  pick: (i, _state, run) => ({ neuron: writesOf(run)[i].neuron }),
  order: (change) => [...change.keys()],
});
const pushes = written("written_logits", {
  heading: "push",
  values: (run) => Float64Array.from(pushesOf(run), ({ by }) => by),
  name(i, run, glass) {
    const { neuron, piece } = pushesOf(run)[i];
    return `${nameOfNeuron(run, neuron, glass)} → ${visible(piece)}`;
  },
  pick: (i, _state, run) => ({ neuron: pushesOf(run)[i].neuron }),
});

/** @type {View<TokenRun, number>} */
const ffnToken = {
  layer: true,
  neurons: true,
  later({ state: { locked } }, { B }) {
    /** @type {import("../readings/reading.js").Questions} */
    const asked = { written: ["ffn_written", { layer: locked.layer, token: locked.query, neuron: null, other: B.id }] };
    return noChoice(B.model) ? {} : asked;
  },
  at: atNeuron,
  of: ofNeuron,
  choose: chooseNeuron,
  numbers(run, state, glass, neuron) {
    const { layer, query, locked } = state;
    const rows = layer === locked.layer && query === locked.query ? writesOf(run) : [];
    const row = rows.find((one) => one.neuron === neuron);
    return { ...neuronNumbers(run, state, glass, neuron), ...(row ? { writes: row.norm } : {}) };
  },
  said: ["gate", "up", "product"],
  words: kindIn,
  parts: (glass, text) => [
    neuronTable("gates", "gate")(glass, text),
    neuronTable("ups", "up")(glass, text),
    table({
      title: "quadrants",
      heading: "quadrant",
      values: (/** @type {TokenRun} */ run) => quadrants(inner(run)).map(({ count }) => count),
      name: (i, run) =>
        kindIn(run).reads === "gate"
          ? text("quadrant_of", signs(QUADRANTS[i]))
          : signs(HALVES[i]).gate.replace("gate", "up"),
      order: (change) => [...change.keys()],
      wordy: true,
    })(glass, text),
    lengths(glass, text),
    pushes(glass, text),
  ],
};

/**
 * The product of B's neuron number `place` at a token.
 *
 * @param {TokensRun} run
 * @param {number} place
 * @param {number} token
 */
const productOf = (run, place, token) => productsOf(run)[place * run.trace.T + token];
/**
 * The row of the neuron that is spoken of; row 0 where the map has it not.
 *
 * @param {TokensRun} run
 * @param {import("./face.js").State} state
 */
const placeOf = (run, state) => Math.max(0, run.details.map.neurons.indexOf(spokenOf(state, run) ?? -1));

/** @type {View<TokensRun, number>} */
const ffnTokens = {
  controls(glass) {
    const { element, mark } = createViews(glass);
    return { elements: [element], show: mark };
  },
  details: (glass, { B }) => ({
    map: ["ffn_map", { layer: glass.state.layer, other: B.id }],
    firing: ["ffn_firing", {}],
  }),
  choose: (state, _a, b) => placeOf(b, state),
  at: ({ layer, query }, _glass, place) => `layer ${layer} place ${place} token ${query}`,
  of: ({ text, named, chosen, b, glass }) =>
    text("of_neuron_at", { ...named, neuron: nameOfNeuron(b, b.details.map.neurons[chosen], glass) }),
  numbers(run, { layer, query }, _glass, place) {
    const { firing } = run.details;
    const shares = MEASURES.map(([name]) => [name, firing[name].data[layer * run.trace.T + query]]);
    return { product: productOf(run, place, query), ...Object.fromEntries(shares) };
  },
  said: ["product"],
  words: kindIn,
  parts: (glass, text) => [
    places(glass, text, createMap, { called: "n_product", title: "strongest" }),
    table({
      title: "firing",
      heading: "place",
      values: (/** @type {TokensRun} */ { details: { firing }, trace }) =>
        Float64Array.from({ length: 3 * trace.model.n_layers }, (_, i) =>
          meanOf(firing[MEASURES[i % 3][0]], Math.floor(i / 3)),
        ),
      name: (i, run) =>
        text("measure", { layer: Math.floor(i / 3), name: text(`n_${MEASURES[i % 3][0]}`, kindIn(run)) }),
      rows: 12,
    })(glass, text),
  ],
};

export default { "ffn-token": ffnToken, "ffn-tokens": ffnTokens };
