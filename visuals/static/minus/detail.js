// What the score panel, the SwiGLU chapter and the sampling panel read from a run.

import { wavelength } from "../compute.js";
import { filter, probabilityAfter, rank } from "../panels/choice/filters.js";
import { settingsOf } from "../panels/choice/controls.js";
import { meanOf, quadrants } from "../panels/ffn/gates.js";
import { productsOf } from "../panels/ffn/neuron-map.js";
import { MEASURES } from "../panels/ffn/sparsity.js";
import { placeOf } from "../panels/position/place.js";
import { sum, terms, turned } from "../panels/position/turning.js";
import { allLogits, candidates, chooseNeuron, inner, neuronNumbers, neuronTable, pieceOf } from "./glance.js";
import { places } from "./places.js";
import { table } from "./table.js";

const SINGLE = { single: true };
/** Each pair's share of q·k at the run's own positions, in single precision as the model computes. */
function pairs({ held, trace }, state) {
  const { q, k, m, n, frequencies } = placeOf(held, { ...state, trace });
  return terms(turned(q, m, frequencies, SINGLE), turned(k, n, frequencies, SINGLE), SINGLE);
}

const ropeScore = {
  layer: true,
  at: ({ layer, head, query, key, pair }) => `layer ${layer} head ${head} query ${query} key ${key} pair ${pair}`,
  numbers(run, state) {
    const every = pairs(run, state);
    const whole = sum(every, true);
    return { term: every[state.pair], sum: whole, score: whole / Math.sqrt(run.trace.model.head_dim) };
  },
  parts: (glass, text) => [
    table({
      title: "terms",
      heading: "pair",
      values: pairs,
      name: (pair, { trace }) => text("pair_of", { pair, wavelength: wavelength(trace.model.inv_freq.data[pair]).toPrecision(3) }),
      pick: (pair) => ({ pair }),
      chosen: ({ pair }) => pair,
      on: ({ layer, head, query, key }) => [layer, head, query, key],
      rows: 32,
    })(glass, text),
  ],
};

const QUADRANT_NAMES = ["gate ≤ 0, up > 0", "gate > 0, up > 0", "gate ≤ 0, up ≤ 0", "gate > 0, up ≤ 0"];

const ffnToken = {
  layer: true,
  neurons: true,
  at: ({ layer, query }, _glass, neuron) => `layer ${layer} token ${query} neuron ${neuron}`,
  choose: chooseNeuron,
  numbers: neuronNumbers,
  said: ["gate", "up", "product"],
  parts: (glass, text) => [
    neuronTable("gates", "gate")(glass, text),
    neuronTable("ups", "up")(glass, text),
    table({
      title: "quadrants",
      heading: "quadrant",
      values: (run) => quadrants(inner(run).gate, inner(run).up).map(({ count }) => count),
      name: (i) => QUADRANT_NAMES[i],
      order: () => [0, 1, 2, 3],
      on: ({ layer, query }) => [layer, query],
    })(glass, text),
  ],
};

const products = new WeakMap();
function productsAt(answer) {
  if (!products.has(answer)) products.set(answer, productsOf(answer));
  return products.get(answer);
}
/** The product of B's neuron number `place` at a token. */
const productOf = ({ trace, details: { map } }, place, token) => productsAt(map)[place * trace.T + token];
const firstNeuron = ({ details: { map } }, neuron) => Math.max(0, map.neurons.indexOf(neuron));

const ffnTokens = {
  details: (glass, { B }) => ({ map: ["ffn_map", { layer: glass.state.layer, other: B.id }], firing: ["ffn_firing", {}] }),
  choose: ({ neuron }, _a, b) => firstNeuron(b, neuron),
  at: ({ layer, query, trace }, glass, place) => `layer ${layer} place ${place} token ${query}`,
  numbers(run, { layer, query }, _glass, place) {
    const { firing } = run.details;
    const shares = MEASURES.map(([name]) => [name, firing[name].data[layer * run.trace.T + query]]);
    return { product: productOf(run, place, query), ...Object.fromEntries(shares) };
  },
  said: ["product"],
  parts: (glass, text) => [
    places({
      title: "strongest",
      values: ({ details: { map } }) => productsAt(map),
      label: (place, { details: { map } }) => String(map.neurons[place]),
      at: ({ neuron }, _glass, b) => firstNeuron(b, neuron),
      pick: ({ row, token }, _state, b) => ({ query: token, neuron: b.details.map.neurons[row] }),
      scale: "n_product",
      on: ({ layer }) => [layer],
      moves: {},
    })(glass, text),
    table({
      title: "firing",
      heading: "place",
      values: ({ details: { firing }, trace }) =>
        Float64Array.from({ length: 3 * trace.model.n_layers }, (_, i) => meanOf(firing[MEASURES[i % 3][0]], Math.floor(i / 3))),
      name: (i) => text("measure", { layer: Math.floor(i / 3), name: text(`n_${MEASURES[i % 3][0]}`) }),
      on: () => [],
      rows: 12,
    })(glass, text),
  ],
};

const ranks = new WeakMap();
/** p of every token after temperature, top-k and top-p as the panel's sliders are set. */
function chances({ details: { logits } }, _state, glass) {
  const { data } = logits.logits;
  const set = settingsOf(glass);
  const key = `${set.temperature} ${set.topK} ${set.topP}`;
  if (ranks.get(data)?.key !== key) {
    const ranked = ranks.get(data)?.ranked ?? rank(data);
    const after = filter(ranked, set);
    const p = new Float64Array(data.length);
    ranked.order.forEach((id, place) => { p[id] = probabilityAfter(after, "topP", place); });
    ranks.set(data, { key, ranked, p });
  }
  return ranks.get(data).p;
}

const sampling = {
  anyLength: true,
  details: allLogits,
  at: (_state, _glass, id) => `id ${id}`,
  choose: (_state, a, b, pointed) => pointed ?? candidates(b, a)[0],
  numbers: (run, state, glass, id) => ({ p_after: chances(run, state, glass)[id], logit: run.details.logits.logits.data[id] }),
  parts: (glass, text) => [
    table({
      title: "after_filters",
      heading: "candidate",
      values: chances,
      name: (id, b, _glass, a) => pieceOf(id, b, a),
      order: (_change, b, a) => candidates(b, a),
      on: (_state, page) => [JSON.stringify(page.settings.get("sampling"))],
    })(glass, text),
  ],
};

export default { "rope-score": ropeScore, "ffn-token": ffnToken, "ffn-tokens": ffnTokens, sampling };
