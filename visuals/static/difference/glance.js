// What the panels of the first chapter read from a run.

import { innerOf, strongestNeuron } from "../activations.js";
import { once, softmax } from "../arrays.js";
import { channelsOf } from "../rotation.js";
import { visible } from "../draw.js";
import { askedOf, choiceAt } from "../chosen-step.js";
import { columnOf, kindOf } from "../panels/ffn/kinds.js";
import { neuronName, neuronPlace } from "../neuron-names.js";
import { partsOf } from "../panels/position/dials.js";
import { pairIn } from "../panels/position/rope-dials.js";
import { atCell, atToken, byDimension, byPair, inRun, ofPair } from "./selection.js";
import { strips } from "./strips.js";
import { table } from "./table.js";

/** partsOf with the selection taken in this run. */
const dials = ({ held, trace }, state) => partsOf(held, inRun(state, trace));

const rope = {
  layer: true,
  lacks: (glass, { B }) => (B.model.parts.rotary ? null : glass.text("b_minus_a.same_bias")),
  without: "b_minus_a.without_dials",
  at: (state) => `pair ${state.pair} ${atCell(state)}`,
  of: (about) => ofPair(about),
  said: ["term", "sum"],
  numbers(run, state) {
    const found = dials(run, state);
    const { pair } = state;
    const named = Object.entries({ q: found.q, k: found.kBefore, q_rot: found.qTurned, k_rot: found.kTurned }).flatMap(
      ([name, vector]) => {
        const [first, second] = pairIn(vector, pair, found.rotary);
        return [
          [`${name}_first`, first],
          [`${name}_second`, second],
        ];
      },
    );
    return { term: found.terms[pair], sum: found.sum, ...Object.fromEntries(named) };
  },
  parts: (glass, text) => [
    strips({
      strips: [
        ["q", "q"],
        ["k", "k"],
        ["q_rot", "q"],
        ["k_rot", "k"],
      ],
      values: (run, state) => {
        const { q, kBefore: k, qTurned, kTurned } = dials(run, state);
        return { q, k, q_rot: qTurned, k_rot: kTurned };
      },
      ...byDimension,
    })(glass, text),
    table({
      title: "terms",
      heading: "pair",
      values: (run, state) => dials(run, state).terms,
      name: (pair, { trace }) => `(${channelsOf(trace.model.parts.rotary, pair).join(", ")})`,
      ...byPair,
    })(glass, text),
  ],
};

/**
 * gate, SiLU(gate), up and their product of a run's selected token, as far as its layer has them; NaN in experts
 * that it does not go to.
 */
export const inner = ({ neurons }) => innerOf(neurons);
/** What the layer's feed-forward is called. */
export const kindIn = ({ trace, layer }) => kindOf(trace.model.parts.ffn[layer]);
const ffnIn = ({ trace, layer }) => trace.model.parts.ffn[layer];

export const atNeuron = (state, _glass, neuron) => `${atToken(state)} ${neuronPlace(ffnIn(state), neuron)}`;
export const nameOfNeuron = (run, neuron, glass) => neuronName(ffnIn(run), neuron, glass.text);
export const ofNeuron = ({ text, chosen, b, glass }) => text("of_neuron", { neuron: nameOfNeuron(b, chosen, glass) });

/** The selected neuron, else the one that the panel speaks of for B alone. */
export const chooseNeuron = ({ neuron, query }, _a, b) => neuron ?? strongestNeuron(b.held, query);

export function neuronNumbers(run, _state, _glass, neuron) {
  const found = inner(run);
  const kind = kindIn(run);
  const names = kind.strips.map(([name]) => name).filter((name) => name !== "product");
  return Object.fromEntries(
    [["product", "product"], ...names.map((name) => [columnOf(name, kind), name])].map(([said, name]) => [
      said,
      found[name][neuron],
    ]),
  );
}

const neuronStrips = strips({
  strips: (run) => kindIn(run).strips.map(([name, role]) => [name, role, columnOf(name, kindIn(run))]),
  words: kindIn,
  values: inner,
  chosen: (state, _glass, _changes, b) => chooseNeuron(state, null, b),
  pick: (neuron) => ({ neuron }),
});

/**
 * The neurons that change most in one of `inner`'s vectors.
 *
 * @param {"gate" | "up" | "product"} name
 */
export const neuronTable = (title, name) =>
  table({
    title,
    heading: "neuron",
    absent: (run) => name === "gate" && kindIn(run).reads === "up",
    values: (run) => inner(run)[name],
    name: (neuron, b, glass) => nameOfNeuron(b, neuron, glass),
    pick: (neuron) => ({ neuron }),
    chosen: ({ neuron }) => neuron,
  });

const swiglu = {
  layer: true,
  neurons: true,
  at: atNeuron,
  of: ofNeuron,
  choose: chooseNeuron,
  numbers: neuronNumbers,
  said: ["product"],
  words: kindIn,
  parts: (glass, text) => [neuronStrips(glass, text), neuronTable("products", "product")(glass, text)],
};

const softmaxOf = once(softmax);
/** p of every token of the vocabulary, from all logits of the last position; computed once. */
export const probabilities = ({ details: { logits } }) => softmaxOf(logits.logits.data);

/**
 * The moment at which two runs are compared: the position that is kept, or each run's end where they differ in
 * length.
 */
export const momentOfBoth = ({ state: { locked } }, { A, B }) => choiceAt(B, A.T === B.T ? locked.query : B.T - 1);
/** What a run was sent by name at the moment that its logits are of. */
const offeredIn = ({ trace, details }) => details.offered ?? trace.next;

/** The tokens that either run was sent by name, the most probable in either first. */
export function candidates(b, a, of = probabilities) {
  const [first, second] = [a, b].map(of);
  const ids = [...new Set([...offeredIn(b).ids, ...offeredIn(a).ids])];
  return ids.sort((x, y) => Math.max(first[y], second[y]) - Math.max(first[x], second[x]) || x - y);
}

/** A token of the vocabulary in words, where either run was sent its piece. */
export function pieceOf(id, b, a) {
  for (const { ids, pieces } of [b, a].map(offeredIn)) {
    const place = ids.indexOf(id);
    if (place >= 0) return visible(pieces[place]);
  }
  return `#${id}`;
}

/** What the tokens get that either run was sent by name. */
export const candidateTable = (values, title) =>
  table({
    title,
    heading: "candidate",
    values,
    name: (id, b, _glass, a) => pieceOf(id, b, a),
    order: (_change, b, a) => candidates(b, a),
  });

export const ofCandidate = ({ text, chosen, a, b }) => text("of_candidate", { piece: pieceOf(chosen, b, a) });

export function allLogits(glass, sides) {
  const moment = momentOfBoth(glass, sides);
  const asked = askedOf(moment);
  return { logits: ["logits", asked], ...(moment.kind === "end" ? {} : { offered: ["next", asked] }) };
}

/** The token after which the two runs are compared, for a title. */
export const lastOf = (glass) => {
  const { trace } = glass.state;
  return { last: visible(trace.tokens.pieces[momentOfBoth(glass, glass.sides()).at]) };
};

const next = {
  anyLength: true,
  named: lastOf,
  details: allLogits,
  at: (_state, _glass, id) => `id ${id}`,
  of: ofCandidate,
  choose: (_state, a, b, pointed) => pointed ?? candidates(b, a)[0],
  numbers: (run, _state, _glass, id) => ({ p: probabilities(run)[id], logit: run.details.logits.logits.data[id] }),
  parts: (glass, text) => [candidateTable(probabilities)(glass, text)],
};

export default { rope, swiglu, next };
