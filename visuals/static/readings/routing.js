// How a router chooses, worked out again from its scores, where the run has its tokens go, and the load of each expert.

import { onceFor } from "../arrays.js";
import { exact } from "../dom.js";

/**
 * @typedef {import("../decoded.d.ts").Detail<"experts">} Routing
 *
 * @typedef {import("../messages.d.ts").Ffn} Ffn
 *
 * @typedef {import("./reading.js").Table} Table
 *
 * @typedef {{ layer: number; query: number }} ExpertsSelection
 *
 * @typedef {object} Taken how the router chose for one token
 * @property {ReturnType<typeof chooseFor>} made by the formula
 * @property {ReturnType<typeof chosenAt>} chosen by the network
 *
 * @typedef {object} Routed what is read of a layer with experts
 * @property {Routing} found
 * @property {Taken} taken
 * @property {Table} load of each expert: its number of tokens, and the sum of their weights
 * @property {number} share the tokens that each expert would have were all alike
 * @property {number} unused experts without a token
 *
 * @typedef {import("./reading.js").Reading<ExpertsSelection> & {
 *   ffn: Ffn;
 *   first: number | null;
 *   routed: Routed | null;
 * }} ExpertsReading
 *   `first`: the first layer with experts; `routed`: null where this one has none
 */

/**
 * The indices of the `count` largest values, largest first; of equal ones the lower index first.
 *
 * @param {ArrayLike<number>} values
 * @param {number} count
 * @returns {number[]}
 */
const best = (values, count) =>
  Array.from(values, (_, i) => i)
    .sort((a, b) => values[b] - values[a] || a - b)
    .slice(0, count);

/**
 * The steps from one token's scores to its experts and their weights (model/moe.py).
 *
 * @param {Routing} routing
 * @param {Ffn} how
 * @param {number} token
 * @returns {{
 *   scores: Float64Array;
 *   choice: Float64Array;
 *   groups: { score: number; kept: boolean }[];
 *   order: number[];
 *   chosen: number[];
 *   sum: number;
 *   weights: number[];
 * }}
 *   `choice`: scores with the balance; of each group what it counts and whether its experts can be chosen; `order`:
 *   experts from the best choice on, those of other groups last; `sum` of the chosen ones' scores, by which they
 *   are divided where the weights are normalised
 */
export function chooseFor(
  { scores: all, balance },
  { experts, top_k: count, normalised, scaling, groups: split, kept_groups: kept, group_best: counted },
  token,
) {
  const scores = Float64Array.from(all.data.subarray(token * experts, (token + 1) * experts));
  const choice = scores.map((score, e) => score + (balance ? balance.data[e] : 0));
  const size = experts / split;
  const marks = Array.from({ length: split }, (_, g) =>
    best(choice.subarray(g * size, (g + 1) * size), counted).reduce((sum, i) => sum + choice[g * size + i], 0),
  );
  const open = new Set(split > 1 ? best(marks, kept) : [0]);
  const allowed = choice.map((value, e) => (open.has(Math.floor(e / size)) ? value : -Infinity));
  const order = best(allowed, experts);
  const chosen = order.slice(0, count);
  const sum = chosen.reduce((total, e) => total + scores[e], 0);
  return {
    scores,
    choice,
    order,
    chosen,
    sum,
    groups: split > 1 ? marks.map((score, g) => ({ score, kept: open.has(g) })) : [],
    weights: chosen.map((e) => (normalised ? scores[e] / sum : scores[e]) * scaling),
  };
}

/**
 * A token's experts as the run has them, best first.
 *
 * @param {Routing} routing
 * @param {number} token
 * @returns {{ expert: number; weight: number; length: number }[]}
 */
export function chosenAt({ chosen, weight, length }, token) {
  const count = chosen.shape[1];
  return Array.from({ length: count }, (_, i) => token * count + i).map((at) => ({
    expert: chosen.data[at],
    weight: weight.data[at],
    length: length.data[at],
  }));
}

/**
 * How many of the run's tokens go to each expert, and the sum of the weights that they go with.
 *
 * @param {Routing} routing
 * @param {number} experts
 * @returns {{ tokens: number; weight: number }[]}
 */
export function loads({ chosen, weight }, experts) {
  const found = Array.from({ length: experts }, () => ({ tokens: 0, weight: 0 }));
  for (let i = 0; i < chosen.data.length; i++) {
    found[chosen.data[i]].tokens += 1;
    found[chosen.data[i]].weight += weight.data[i];
  }
  return found;
}

/**
 * Weights by expert and token, (E, T), expert 0 first; NaN where the token does not go to the expert.
 *
 * @param {Routing} routing
 * @param {number} experts
 * @returns {Float64Array}
 */
export function weightMap({ chosen, weight }, experts) {
  const [tokens, count] = chosen.shape;
  const found = new Float64Array(experts * tokens).fill(NaN);
  for (let i = 0; i < chosen.data.length; i++) found[chosen.data[i] * tokens + Math.floor(i / count)] = weight.data[i];
  return found;
}

/**
 * The first layer that has experts; null where none has.
 *
 * @param {{ parts: { ffn: Ffn[] } }} model
 * @returns {number | null}
 */
export function firstWithExperts({ parts: { ffn } }) {
  const found = ffn.findIndex(({ experts }) => experts > 0);
  return found < 0 ? null : found;
}

/** @type {(routing: Routing, token: number, ffn: Ffn) => Taken} */
const takenAt = onceFor((routing, token, ffn) => ({
  made: chooseFor(routing, ffn, token),
  chosen: chosenAt(routing, token),
}));

/**
 * A row for each expert: its number of tokens, and the sum of their weights.
 *
 * @param {Routing} routing
 * @param {Ffn} ffn
 * @returns {Table}
 */
function loadTable(routing, { experts }) {
  const found = loads(routing, experts);
  return {
    keys: { expert: found.map((_, expert) => expert) },
    columns: { tokens: found.map(({ tokens }) => tokens), weight: found.map(({ weight }) => weight) },
  };
}

/**
 * Each expert's scores and weight at each token; no row in a layer without experts.
 *
 * @param {Routing | null} routing
 * @param {Ffn} ffn
 * @param {number} layer
 * @param {string[]} pieces
 * @returns {Table}
 */
function scoreTable(routing, ffn, layer, pieces) {
  const all = pieces.flatMap((piece, token) => {
    if (!routing) return [];
    const { made, chosen } = takenAt(routing, token, ffn);
    return Array.from(made.scores, (score, expert) => {
      const one = chosen.find((each) => each.expert === expert);
      return { token, piece, expert, score, choice: made.choice[expert], weight: one?.weight, length: one?.length };
    });
  });
  return {
    keys: {
      layer: all.map(() => layer),
      token: all.map(({ token }) => token),
      piece: all.map(({ piece }) => piece),
      expert: all.map(({ expert }) => expert),
    },
    columns: {
      score: all.map(({ score }) => score),
      score_for_choice: all.map(({ choice }) => choice),
      weight: all.map(({ weight = 0 }) => weight),
      length_written: all.map(({ length = 0 }) => length),
    },
  };
}

/**
 * Where a token goes, by the network and by the formula, and the load of each expert, as the value line begins.
 *
 * @param {ExpertsSelection} selection
 * @param {Taken} taken
 * @param {Table} load
 */
function placeOf({ layer, query }, { made, chosen }, load) {
  const network = chosen.map(({ expert, weight }) => `${expert}:${exact(weight)}`);
  const formula = made.chosen.map((expert, i) => `${expert}:${exact(made.weights[i])}`);
  return `layer ${layer} token ${query} chosen=${network} formula=${formula} load=${load.columns.tokens}`;
}

/** @type {import("./reading.js").Reader<ExpertsReading>} */
export const expertsReader = {
  needs: ({ model }, { layer }) => ({
    ...(model.parts.ffn[layer].experts && { found: /** @type {const} */ (["experts", { layer }]) }),
  }),
  read({ trace, details }, selection) {
    const { layer, query } = selection;
    const { model, tokens } = trace;
    const ffn = model.parts.ffn[layer];
    /** @type {Routing | null} */
    const found = details.found ?? null;
    const first = firstWithExperts(model);
    const scores = () => scoreTable(found, ffn, layer, tokens.pieces);
    const read = { selection, ffn, first };
    if (!found)
      return { ...read, routed: null, at: `layer ${layer} dense first ${first}`, values: {}, rows: { scores } };
    const taken = takenAt(found, query, ffn);
    const load = loadTable(found, ffn);
    const share = (found.chosen.shape[0] * ffn.top_k) / ffn.experts;
    const unused = Array.from(load.columns.tokens).filter((count) => !count).length;
    return {
      ...read,
      routed: { found, taken, load, share, unused },
      at: placeOf(selection, taken, load),
      values: { ...(found.shared && { shared: found.shared.data[query] }), whole: found.whole.data[query] },
      rows: { scores },
    };
  },
};
