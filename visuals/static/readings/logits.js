// All logits after a position: what softmax, temperature, top-k and top-p make of them, and one token's among them.

import { once } from "../arrays.js";
import { choiceAt } from "../chosen-step.js";
import { visible } from "../draw.js";
import { filter, probabilityAfter, rank as ranked, weigh } from "./filters.js";

/**
 * @typedef {import("../decode.js").Trace} Trace
 *
 * @typedef {import("./filters.js").Ranked} Ranked
 *
 * @typedef {import("./filters.js").Filtered} Filtered
 *
 * @typedef {import("./filters.js").Weighed} Weighed
 *
 * @typedef {import("./filters.js").Settings} Settings
 *
 * @typedef {{ ranked: Ranked; plain: Filtered; after: Filtered }} Result `plain`: by softmax alone, `after`: by the
 *   settings
 *
 * @typedef {{ ids: ArrayLike<number>; pieces: string[] }} Named the candidates that have a name
 */

/** @type {Settings} softmax alone */
export const PLAIN = { temperature: 1, topK: 0, topP: 1 };

const rankedOf = once((/** @type {ArrayLike<number>} */ logits) => {
  const order = ranked(logits);
  return { ranked: order, plain: filter(order, PLAIN) };
});
/** @type {WeakMap<Ranked, { temperature: number; weighed: Weighed }>} of the last temperature */
const weighings = new WeakMap();

/**
 * What one setting makes of logits. A slider passes many: what stays the same is not worked out again.
 *
 * @param {ArrayLike<number>} logits
 * @param {Settings} settings
 * @returns {Result}
 */
export function resultOf(logits, settings) {
  const { ranked: order, plain } = rankedOf(logits);
  const { temperature } = settings;
  let last = weighings.get(order);
  if (last?.temperature !== temperature)
    weighings.set(order, (last = { temperature, weighed: weigh(order, temperature) }));
  return { ranked: order, plain, after: filter(order, settings, last.weighed) };
}

/**
 * What the server is asked about a position.
 *
 * @param {number | null} token null: the run's end
 */
export const askedAt = (token) => (token === null ? {} : { token });

/**
 * All logits after a position, and the candidates that have a name there: those at a run's end come with the run.
 *
 * @param {number | null} token null: the run's end
 * @returns {import("./reading.js").Questions}
 */
export const logitsAt = (token) => ({
  logits: ["logits", askedAt(token)],
  ...(token !== null && { offered: /** @type {const} */ (["next", askedAt(token)]) }),
});

/**
 * What a run, in which something is chosen, was sent by name at the position that its logits are of.
 *
 * @param {import("./reading.js").Run} run
 * @returns {Named}
 */
export const namedIn = ({ trace, details }) => details.offered ?? trace.next;

/**
 * A token of the vocabulary in words, where one of these names it.
 *
 * @param {Named[]} all
 * @param {number} id
 */
export function nameIn(all, id) {
  for (const { ids, pieces } of all) {
    const at = Array.prototype.indexOf.call(ids, id);
    if (at >= 0) return visible(pieces[at]);
  }
  return null;
}

/**
 * @typedef {{ token: number | null; id: number | null } & Settings} TokenSelection `id`: of the vocabulary; null:
 *   the most probable
 *
 * @typedef {import("./reading.js").Reading<TokenSelection> & { named: Named; plain: Float64Array }} TokenReading
 *   `plain`: the probability of every token by softmax alone
 */

/**
 * The probability of every token of the vocabulary, by its id.
 *
 * @param {Ranked} ranked
 * @param {(rank: number) => number} probability
 */
function byId({ order }, probability) {
  const found = new Float64Array(order.length);
  order.forEach((id, rank) => {
    found[id] = probability(rank);
  });
  return found;
}
const plainOf = once((/** @type {ArrayLike<number>} */ logits) => {
  const { ranked: order, plain } = rankedOf(logits);
  return byId(order, (rank) => probabilityAfter(plain, "all", rank));
});

/**
 * One token of the vocabulary, which two runs have in common as they have no rank.
 *
 * @type {import("./reading.js").Reader<TokenReading>}
 */
export const tokenReader = {
  needs: (_trace, { token }) => logitsAt(token),
  read(run, { id, ...selection }) {
    /** @type {ArrayLike<number>} */
    const logits = run.details.logits.logits.data;
    const { ranked: order, after } = resultOf(logits, selection);
    const chosen = id ?? order.order[0];
    const ids = () => Uint32Array.from(logits, (_, i) => i);
    const after_filters = () => byId(order, (rank) => probabilityAfter(after, "topP", rank));
    return {
      selection: { ...selection, id: chosen },
      named: namedIn(run),
      plain: plainOf(logits),
      at: `id ${chosen}`,
      values: { p: probabilityAfter(after, "topP", order.order.indexOf(chosen)), logit: logits[chosen] },
      rows: {
        probabilities: () => ({ keys: { id: ids() }, columns: { p: after_filters() } }),
        logits: () => ({ keys: { id: ids() }, columns: { logit: logits } }),
      },
    };
  },
};

/**
 * The tokens that either run was sent by name, the most probable in either first.
 *
 * @param {Pick<TokenReading, "named" | "plain">} a
 * @param {Pick<TokenReading, "named" | "plain">} b
 */
export function namedInEither(a, b) {
  const ids = [...new Set([...Array.from(b.named.ids), ...Array.from(a.named.ids)])];
  const most = (/** @type {number} */ id) => Math.max(a.plain[id], b.plain[id]);
  return ids.sort((x, y) => most(y) - most(x) || x - y);
}

/**
 * A token of the vocabulary in words, where either run was sent its piece.
 *
 * @param {number} id
 * @param {import("./reading.js").Run} a
 * @param {import("./reading.js").Run} b
 */
export const nameInEither = (id, a, b) => nameIn([b, a].map(namedIn), id) ?? `#${id}`;

/**
 * The position at which two runs are compared: the one that is kept, or each run's end where they differ in length.
 *
 * @param {Trace} a
 * @param {Trace} b
 * @param {number} kept
 */
export const momentOfBoth = (a, b, kept) => choiceAt(b, a.T === b.T ? kept : b.T - 1);
