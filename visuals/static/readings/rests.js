// What an answer rests on: of every token what is lost without a look at it, in all layers or in a window of them.

import { onceFor } from "../arrays.js";

/**
 * @typedef {import("../decoded.d.ts").Decoded<import("../messages.d.ts").RestsDetail> & {
 *   layers?: [number, number];
 *   most?: number;
 * }} Rests
 *   `layers`: the first and the last in which a look is forbidden; all where it is left out; `most`: nats that are
 *   drawn as the largest; those of this answer where it is left out
 *
 * @typedef {import("../decoded.d.ts").Decoded<import("../messages.d.ts").WindowsDetail>} Windows
 *
 * @typedef {NonNullable<import("../decoded.d.ts").Detail<"why">["grid"]>} Grid of heads
 *
 * @typedef {import("../messages.d.ts").KnockedDetail} Part
 */

const PART = 189; // tokens that "knocked" does at a time (model/analysis/knock_out.py)

/** Nats from which on something counts as needed (model/analysis/why.py). */
export const NEEDED = 0.05;

/** Of a probability: an answer with less has less than all other tokens together. */
export const HALF = 0.5;

const NEARLY = 2 / 3; // of the nats that the first loses
const [MOST_KEPT, MOST_LOST] = [2 / 3, 0.1]; // of a probability, by which a loss is little

/**
 * Whether an answer keeps most of its probability.
 *
 * @param {number} p its probability
 * @param {number} left
 */
export const isKept = (p, left) => left > MOST_KEPT * p;

/**
 * Whether an answer hardly changes with what it loses: most of its probability is left, and little is gone.
 *
 * @param {number} p its probability
 * @param {number} left
 */
export const isLittle = (p, left) => isKept(p, left) && p - left < MOST_LOST;

/**
 * What an answer rests on. Of a long text the tokens are knocked out in parts before that, so that it is known how
 * far this is.
 *
 * @param {Pick<import("../types.d.ts").Glass, "detail">} glass
 * @param {{ token: number; target?: number }} question
 * @returns {{ found: import("../decoded.d.ts").Detail<"rests"> | null; part: Part | null }} `part`: how far it is,
 *   of a long text
 */
export function askRests({ detail }, question) {
  let isLong = question.token >= PART;
  /** @type {Part} */
  let part = { done: 0, total: question.token + 1 };
  while (isLong && part.done < part.total) {
    const came = detail("knocked", { ...question, start: part.done });
    if (!came) return { found: null, part };
    if ("done" in came && came.done > part.done) part = came;
    else isLong = false; // it is not measured
  }
  return { found: detail("rests", question), part: isLong ? part : null };
}

/**
 * What of the detail "rests" there is: nothing for a network in which it is not measured.
 *
 * @param {import("../decoded.d.ts").Detail<"rests"> | null} found
 * @returns {Rests | null}
 */
export const restsOf = (found) => (found && "lost" in found ? found : null);

/**
 * The answer's probability where so many nats of it are lost.
 *
 * @param {Rests} found
 * @param {number} nats
 */
export const leftOf = ({ probability }, nats) => Math.min(1, probability * Math.exp(-nats));

/**
 * The probability without a look at one token.
 *
 * @param {Rests} found
 * @param {number} t
 */
export const leftWithout = (found, t) => leftOf(found, found.lost.data[t]);

/**
 * Tokens that an answer needs nearly as much as the one that it needs most.
 *
 * @param {Rests} found
 */
export function nearlyNeeded({ lost: { data }, tokens: [first, ...others] }) {
  return others.filter((t) => data[t] >= NEARLY * data[first]);
}

/**
 * What is drawn of a token: nats lost, as a part of the most that any loses or gains; 0 of so little that it does
 * not count as needed, as the words beside it say; null of a sink, of the last token, whose number is of its look
 * at itself, and of one whose number is not to be measured.
 *
 * @param {Rests} found
 * @returns {(number | null)[]}
 */
export function partsLost(found) {
  const most = Math.max(found.most ?? mostOf(found), NEEDED);
  return drawnOf(found).map((x) => x && (Math.abs(x) < NEEDED ? 0 : x / most));
}

/**
 * What is lost by token; null of what is not drawn.
 *
 * @param {Rests} found
 */
function drawnOf({ lost, sinks }) {
  const last = lost.data.length - 1;
  return Array.from(lost.data, (x, t) => (t === last || sinks.includes(t) || !Number.isFinite(x) ? null : x));
}

/**
 * The most nats that any token that is drawn loses or gains.
 *
 * @param {Rests} found
 */
export const mostOf = (found) => Math.max(0, ...drawnOf(found).map((x) => Math.abs(x ?? 0)));

/**
 * Which window is shown: the one that the reader chose, else the middle one.
 *
 * @param {Windows} windows
 * @param {string} [given] the setting: the number of a window
 */
export function windowAt({ starts }, given) {
  const at = Number(given ?? "x");
  return Number.isInteger(at) && at >= 0 && at < starts.length ? at : Math.floor(starts.length / 2);
}

/**
 * What an answer rests on in one window of layers, of what it rests on in all. What is told of several tokens at
 * once, such as its form, stays that of the whole.
 *
 * @param {Rests} found
 * @param {Windows} windows
 * @param {number} at
 * @returns {Rests}
 */
export function restsWithin(found, { width, starts, lost }, at) {
  const count = lost.shape[1];
  const data = lost.data.slice(at * count, (at + 1) * count);
  const needed = Array.from(data.keys()).filter((t) => t < count - 1 && !found.sinks.includes(t) && data[t] >= NEEDED);
  return {
    ...found,
    lost: { shape: [count], data },
    tokens: needed.sort((a, b) => data[b] - data[a]),
    layers: [starts[at], starts[at] + width - 1],
  };
}

/**
 * What is shown of one window: on one scale for all, or a small loss would look like a large one.
 *
 * @type {(windows: Windows, at: number, found: Rests) => Rests}
 */
export const restsInWindow = onceFor(
  (/** @type {Windows} */ windows, /** @type {number} */ at, /** @type {Rests} */ found) => {
    const all = windows.starts.map((_, one) => mostOf(restsWithin(found, windows, one)));
    return { ...restsWithin(found, windows, at), most: Math.max(...all) };
  },
);

/**
 * A row for each token.
 *
 * @param {Rests} found
 * @param {string[]} pieces
 */
function tokensOf(found, pieces) {
  const { lost, sinks, layers } = found;
  return Array.from(lost.data, (x, t) => ({
    part: sinks.includes(t) ? "sink" : "token",
    layer: layers?.join("-") ?? "",
    head: "",
    position: t,
    piece: pieces[t],
    lost: x,
    left: leftWithout(found, t),
    measured: 1,
  }));
}

/**
 * A row for each head, with what is lost without it.
 *
 * @param {number} probability of the answer
 * @param {Grid | null} grid
 */
function headsOf(probability, grid) {
  const [, wide] = grid?.lost.shape ?? [0, 1];
  return Array.from(grid?.lost.data ?? [], (x, i) => ({
    part: "head",
    layer: Math.floor(i / wide),
    head: i % wide,
    position: "",
    piece: "",
    lost: x,
    left: Math.min(1, probability * Math.exp(-x)),
    measured: grid?.measured.data[i] ?? 0,
  }));
}

/**
 * Every token, every head, and every token in every window, named by its layers.
 *
 * @param {Rests} found in all layers
 * @param {string[]} pieces
 * @param {{ grid?: Grid | null; windows?: Windows | null }} [more] what of it is here
 * @returns {import("./reading.js").Table}
 */
export function restsTable(found, pieces, { grid = null, windows = null } = {}) {
  const rows = [
    ...tokensOf(found, pieces),
    ...headsOf(found.probability, grid),
    ...(windows ? windows.starts.flatMap((_, at) => tokensOf(restsWithin(found, windows, at), pieces)) : []),
  ];
  return {
    keys: {
      part: rows.map(({ part }) => part),
      layer: rows.map(({ layer }) => layer),
      head: rows.map(({ head }) => head),
      position: rows.map(({ position }) => position),
      piece: rows.map(({ piece }) => piece),
    },
    columns: {
      lost_nats: rows.map(({ lost }) => lost),
      probability_without: rows.map(({ left }) => left),
      measured: rows.map(({ measured }) => measured),
    },
  };
}
