// What the SwiGLU chapter reads from a run.

import { meanOf } from "../readings/firing.js";
import { createMap, createViews, productsOf, spokenOf } from "../panels/ffn/neuron-map.js";
import { MEASURES } from "../panels/ffn/sparsity.js";
import { kindIn, nameOfNeuron } from "./glance.js";
import { places } from "./places.js";
import { table } from "./table.js";

/**
 * @typedef {import("../types.d.ts").Glass} Glass
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

export default { "ffn-tokens": ffnTokens };
