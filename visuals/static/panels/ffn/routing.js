// How a router chooses, worked out again from its scores, and the load of each expert. Pure: no DOM, no store.

/**
 * @typedef {import("../../decoded.d.ts").Detail<"experts">} Routing
 *
 * @typedef {import("../../messages.d.ts").Ffn} Ffn
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
