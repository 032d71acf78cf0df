// What ways to stretch RoPE make of a score: their frequencies, and q·k at the run's positions and at a distance.

import { wavelength } from "../rotation.js";
import { atCell } from "./attend.js";
import { FARTHEST, farOf, placeOf } from "./rope-place.js";
import { product } from "./turning.js";

/**
 * @typedef {import("./rope-place.js").RopePlace} RopePlace
 *
 * @typedef {import("./turning.js").Frequencies} Frequencies
 *
 * @typedef {import("../decoded.d.ts").Detail<"rope_scalings">} Scalings
 *
 * @typedef {{ name: string; frequencies: Frequencies; real: number; far: number; slowest: number }} MethodRow
 *   `real`: q·k at the run's positions, `far`: at the distance; `slowest`: the longest wavelength
 */

/** The methods that can be chosen. */
export const METHODS = ["linear", "dynamic", "yarn", "llama3"];

/**
 * What one of several methods has.
 *
 * @param {MethodRow[]} rows
 * @param {string} name of a method that is among them
 */
export const rowNamed = (rows, name) => /** @type {MethodRow} */ (rows.find((row) => row.name === name));

/**
 * Every method's q·k at the run's positions and at a distance.
 *
 * @param {RopePlace} place
 * @param {Scalings["methods"]} methods
 * @param {number} distance
 * @returns {MethodRow[]}
 */
function rowsOf({ q, k, rest, m, n }, methods, distance) {
  return methods.map(({ name, inv_freq: { data }, attention_scaling: scaling }) => {
    const frequencies = { inv_freq: data, scaling };
    const [real, far] = [
      [m, n],
      [distance, 0],
    ].map(([at, from]) => product(q, k, at, from, frequencies) + rest);
    return { name, frequencies, real, far, slowest: wavelength(data[data.length - 1]) };
  });
}

/**
 * @typedef {import("./attend.js").CellSelection & { factor: number; method: string | undefined }} Place a cell, the
 *   factor, and the method that is wanted; the first where the network has it not
 *
 * @typedef {Place & { pair: number; distance: number | null }} ScalingAsked `distance`: null for the context that
 *   is stretched
 *
 * @typedef {Place & { pair: number; distance: number; method: string }} ScalingSelection
 *
 * @typedef {object} Stretched
 * @property {ScalingSelection} selection
 * @property {MethodRow[]} methods those that are shown
 * @property {number} limit distances are drawn below it
 * @property {number} original the context that is stretched
 * @property {RopePlace} place
 * @property {() => Record<"unscaled" | "stretched", Float64Array>} curves q·k by distance, without stretching and
 *   with the method
 */

/**
 * What is asked for, as far as there is such a method and such a distance; distances are drawn below `limit`.
 *
 * @param {Scalings} answer of the factor that is asked for
 * @param {boolean} own whether the model has a scaling of its own
 * @param {Pick<ScalingAsked, "factor" | "method" | "distance">} asked
 */
export function within({ methods, original }, own, asked) {
  const offered = methods.filter(({ name }) => own || name !== "model");
  const wanted = METHODS.find((name) => name === asked.method);
  const method = wanted && offered.some(({ name }) => name === wanted) ? wanted : METHODS[0];
  const limit = Math.min(FARTHEST, original * asked.factor);
  return { offered, method, limit, distance: Math.max(0, Math.min(asked.distance ?? original, limit - 1)) };
}

/**
 * @param {import("./reading.js").Run} run
 * @param {ScalingAsked} asked
 * @returns {Stretched}
 */
function stretched({ trace, held, details }, asked) {
  const { original } = details.scalings;
  const { offered, method, limit, distance } = within(details.scalings, trace.model.rope_scaling !== null, asked);
  const { head, query, key } = asked;
  const place = placeOf(held, { trace, head, query, key });
  const methods = rowsOf(place, offered, distance);
  const over = (/** @type {string} */ name) => farOf(place, rowNamed(methods, name).frequencies, limit);
  const curves = () => ({ unscaled: over("none"), stretched: over(method) });
  return { selection: { ...asked, method, distance }, methods, limit, original, place, curves };
}

/**
 * The tables of what is read.
 *
 * @param {Stretched} found
 * @returns {Record<"frequencies" | "methods" | "distances", () => import("./reading.js").Table>}
 */
function tablesOf({ methods, limit, curves }) {
  const pairs = methods.flatMap(({ name, frequencies: { inv_freq, scaling } }) =>
    Array.from(inv_freq, (value, pair) => ({ name, pair, value, scaling })),
  );
  return {
    frequencies: () => ({
      keys: { method: pairs.map(({ name }) => name), pair: pairs.map(({ pair }) => pair) },
      columns: {
        inv_freq: pairs.map(({ value }) => value),
        attention_scaling: pairs.map(({ scaling }) => scaling),
      },
    }),
    methods: () => ({
      keys: { method: methods.map(({ name }) => name) },
      columns: { real: methods.map(({ real }) => real), far: methods.map(({ far }) => far) },
    }),
    distances: () => ({
      keys: { distance: Array.from({ length: limit }, (_, i) => i) },
      columns: curves(),
    }),
  };
}

/** @type {(trace: import("../decode.js").Trace, asked: ScalingAsked) => import("./reading.js").Questions} */
const needs = (_trace, { factor }) => ({ scalings: ["rope_scalings", { factor }] });

/**
 * Every method's two products.
 *
 * @type {import("./reading.js").Reader<import("./reading.js").AnswerReading & Stretched, ScalingAsked>}
 */
export const scalingReader = {
  layer: true,
  needs,
  read(run, asked) {
    const found = stretched(run, asked);
    const { head, query, key, factor, pair, method, distance } = found.selection;
    return {
      ...found,
      at: `head ${head} query ${query} key ${key} distance ${distance} factor ${factor} method ${method} pair ${pair}`,
      digits: 6,
      values: {
        inv_freq: rowNamed(found.methods, method).frequencies.inv_freq[pair],
        ...Object.fromEntries(found.methods.map(({ name, real, far }) => [name, [real, far]])),
      },
      rows: tablesOf(found),
    };
  },
};

/**
 * The chosen method's and the unscaled one's, number by number.
 *
 * @type {import("./reading.js").Reader<
 *   import("./reading.js").Reading<ScalingSelection> & Stretched,
 *   ScalingAsked
 * >}
 */
export const methodReader = {
  layer: true,
  needs,
  read(run, asked) {
    const found = stretched(run, asked);
    const { factor, method, distance } = found.selection;
    const { real, far } = rowNamed(found.methods, method);
    return {
      ...found,
      at: `${atCell(found.selection)} factor ${factor} method ${method} distance ${distance}`,
      values: { real, far, plain: rowNamed(found.methods, "none").real },
      rows: tablesOf(found),
    };
  },
};
