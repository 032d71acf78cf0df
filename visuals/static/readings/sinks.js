// What is read of a run's sinks: the size of each token's stream by layer, and how long the value is that a head reads
// at a sink; and which heads leave their weight on the first token, with a spike or without.

import { CLEAR, onFirst } from "./habits.js";
import { valueNorms } from "./cell.js";

/**
 * @typedef {import("../decoded.d.ts").Detail<"sinks">} Sinks
 *
 * @typedef {{ layer: number; head: number }} SinksSelection
 *
 * @typedef {{ norm: number; others: number }} ValueSizes ‖v‖ at a sink, and the median of the others
 *
 * @typedef {import("./reading.js").Reading<SinksSelection> & {
 *   found: Sinks;
 *   others: number[];
 *   sizes: ValueSizes[];
 *   most: { depth: number; token: number; times: number; value: number };
 *   resting: { layer: number; head: number; score: number }[];
 * }} SinksReading
 *   `others`: the median RMS by depth of the tokens that are no sinks, NaN without any; `sizes` by sink; `most`: the
 *   token whose largest |x| is the most times the median of its depth; `resting`: the heads whose mean weight on
 *   the first token is largest and at least CLEAR, as far as their layers are here
 */

const LEADERS = 3;

/**
 * The value in the middle, or the mean of the two there; NaN of none.
 *
 * @param {number[]} values
 */
function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length / 2;
  return (sorted[Math.ceil(half) - 1] + sorted[Math.floor(half)]) / 2;
}

/**
 * The token whose largest |x| is the most times the median.
 *
 * @param {Sinks} found
 */
function mostOf({ largest, median: medians }) {
  const tokens = largest.shape[1];
  let most = { depth: 0, token: 0, times: 0, value: largest.data[0] };
  for (const [i, value] of largest.data.entries()) {
    const depth = Math.floor(i / tokens);
    const times = value / medians.data[depth];
    if (times > most.times) most = { depth, token: i % tokens, times, value };
  }
  return most;
}

/**
 * RMS and largest |x| of every token at every depth.
 *
 * @param {Sinks} found
 * @returns {import("./reading.js").Table}
 */
function tableOf({ rms, largest }) {
  const tokens = rms.shape[1];
  const places = Array.from(rms.data, (_, i) => i);
  return {
    keys: { depth: places.map((i) => Math.floor(i / tokens)), token: places.map((i) => i % tokens) },
    columns: { rms: rms.data, largest: largest.data },
  };
}

/** @type {import("./reading.js").Reader<SinksReading>} */
export const sinksReader = {
  needs: (trace, { layer }) => ({
    found: ["sinks", {}],
    ...(trace.sinks.length ? { values: ["values", { layer }] } : {}),
  }),
  read({ trace, details: { found, values } }, selection) {
    const { layer, head } = selection;
    const at = found.sinks.map((/** @type {{ token: number }} */ { token }) => token);
    const free = Array.from({ length: trace.T }, (_, token) => token).filter((token) => !at.includes(token));
    const depths = Array.from({ length: trace.model.n_layers + 1 }, (_, depth) => depth);
    const norms = values ? valueNorms(values, trace.model, head) : new Float64Array();
    const beside = median(free.map((token) => norms[token]));
    const most = mostOf(found);
    /** @type {number[][]} */
    const each = found.sinks.map(
      (/** @type {Sinks["sinks"][number]} */ { after, parked, lost }, /** @type {number} */ i) => [
        after,
        norms[at[i]],
        parked ?? NaN,
        lost ?? NaN,
      ],
    );
    const [spike = NaN, norm = NaN, parked = NaN, lost = NaN] = each[0] ?? [];
    return {
      selection,
      found,
      others: depths.map((depth) => median(free.map((token) => found.rms.data[depth * trace.T + token]))),
      sizes: at.map((/** @type {number} */ token) => ({ norm: norms[token], others: beside })),
      most,
      resting: onFirst(trace, LEADERS).filter(({ score }) => score >= CLEAR),
      at: `layer ${layer} head ${head} sinks ${at.join(",") || "none"}`,
      values: { times: most.times, spike, norm, others: beside, parked, lost },
      rows: { stream: () => tableOf(found) },
    };
  },
};
