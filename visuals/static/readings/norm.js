// What the chapter on the norms reads off a run.

import { once, strongest } from "../arrays.js";
import { exact } from "../dom.js";
import { centres } from "../parts.js";
import { inputOf, inputRequest, normedAt } from "./norm-input.js";
import { divisorAt, meanAt, normsOf, placeName } from "./norm-places.js";
import { changed, layerNorm, relativeChange, rmsNorm, scaleChange } from "./norms.js";

/**
 * @typedef {import("./norm-places.js").NormName} NormName
 *
 * @typedef {import("./norm-places.js").Norm} Norm
 *
 * @typedef {import("../decode.js").Trace} Trace
 *
 * @typedef {import("./norm-input.js").NormInput} NormInput
 *
 * @typedef {import("./reading.js").Run} Run
 *
 * @typedef {import("./reading.js").Table} Table
 */

/**
 * What a norm subtracts and divides by, at every place and token; of an RMSNorm the divisor alone.
 *
 * @param {import("../types.d.ts").Model} model
 * @returns {Record<string, typeof divisorAt>}
 */
const figuresOf = (model) => (centres(model) ? { mean: meanAt, deviation: divisorAt } : { rms: divisorAt });

/**
 * A row for each norm and token, in the order of the computation; made once for each trace.
 *
 * @type {(trace: Run["trace"]) => Table}
 */
export const normPlaces = once((trace) => {
  const { model, T, tokens } = trace;
  const norms = normsOf(model);
  /**
   * @template Value
   * @param {(norm: Norm, token: number) => Value} value
   */
  const each = (value) => norms.flatMap((norm) => Array.from({ length: T }, (_, t) => value(norm, t)));
  return {
    keys: {
      layer: each(({ layer }) => layer ?? ""),
      norm: each(({ norm }) => norm),
      token: each((_, t) => t),
      piece: each((_, t) => tokens.pieces[t]),
    },
    columns: Object.fromEntries(
      Object.entries(figuresOf(model)).map(([name, at]) => [name, each((norm, t) => at(trace, norm, t))]),
    ),
  };
});

/**
 * What one norm subtracts from a token's vector and divides it by, and the same of all of them.
 *
 * @typedef {Norm & { token: number }} FiguresSelection
 *
 * @typedef {import("./reading.js").Reading<FiguresSelection>} FiguresReading
 * @type {import("./reading.js").Reader<FiguresReading>}
 */
export const normFigures = {
  read(run, selection) {
    const { trace } = run;
    const figures = Object.entries(figuresOf(trace.model));
    return {
      selection,
      at: placeName(selection, selection.token),
      values: Object.fromEntries(figures.map(([name, at]) => [name, at(trace, selection, selection.token)])),
      rows: { places: () => normPlaces(trace) },
    };
  },
};

/**
 * Through one norm, channel by channel; made once for each input.
 *
 * @type {(input: NormInput) => Table}
 */
export const channelsOf = once((input) => {
  const { x, gamma, beta } = input;
  const stages = Array.from(x, (_, channel) => normedAt(input, channel));
  return {
    keys: { channel: [...x.keys()] },
    columns: {
      x,
      divided: Float64Array.from(stages, ({ divided }) => divided),
      gamma,
      ...(beta ? { beta } : {}),
      normed: Float64Array.from(stages, ({ normed }) => normed),
    },
  };
});

/**
 * What every norm divides a token's vector by.
 *
 * @param {Pick<Run, "trace">} run
 * @param {number} token
 */
export function depthOf({ trace }, token) {
  const norms = normsOf(trace.model);
  return {
    keys: { layer: norms.map(({ layer }) => layer ?? ""), norm: norms.map(({ norm }) => norm) },
    columns: { divisor: norms.map((norm) => divisorAt(trace, norm, token)) },
  };
}

/**
 * @param {Trace} trace
 * @param {import("./norm-input.js").InputPlace} selection
 * @returns {import("./reading.js").Questions}
 */
const vectorsNeeded = (trace, selection) => ({ vectors: ["norm_vectors", inputRequest(trace, selection)] });

/**
 * The numbers of one channel on its way through the norm.
 *
 * @param {NormInput} input
 * @param {number} channel
 * @returns {Record<string, number>}
 */
function stepsAt(input, channel) {
  const { x, gamma, beta, eps, mean, meanSquare, divisor } = input;
  const { divided, normed } = normedAt(input, channel);
  /** @type {Record<string, number>} */
  const before = beta
    ? { x: x[channel], mean, variance: meanSquare, eps, deviation: divisor }
    : { x: x[channel], mean_square: meanSquare, eps, rms: divisor };
  return { ...before, divided, gamma: gamma[channel], ...(beta ? { beta: beta[channel] } : {}), normed };
}

/**
 * One vector through one norm: every channel, and the arithmetic of one of them, the largest unless one is chosen.
 *
 * @typedef {{ norm: NormName; layer: number; query: number; channel: number | null }} VectorSelection
 *
 * @typedef {import("./reading.js").Reading<VectorSelection & { channel: number }> & { input: NormInput }} VectorReading
 * @type {import("./reading.js").Reader<VectorReading, VectorSelection>}
 */
export const normVector = {
  needs: vectorsNeeded,
  read(run, selection) {
    const input = inputOf(run.details.vectors, run.trace, selection.query);
    const channel = Math.min(selection.channel ?? strongest(input.x, 1)[0], input.x.length - 1);
    return {
      selection: { ...selection, channel },
      input,
      at: `${placeName(selection, selection.query)} channel ${channel}`,
      values: stepsAt(input, channel),
      rows: { channels: () => channelsOf(input), depth: () => depthOf(run, selection.query) },
    };
  },
};

/**
 * Norms by name, and whether each has the network's own ε, else 0.
 *
 * @type {{ name: string; norm: (x: ArrayLike<number>, eps: number) => Float64Array; own: boolean }[]}
 */
export const METHODS = [
  { name: "rms_eps", norm: rmsNorm, own: true },
  { name: "rms_zero", norm: rmsNorm, own: false },
  { name: "layer_eps", norm: layerNorm, own: true },
  { name: "layer_zero", norm: layerNorm, own: false },
];
/** What is done to the vector: a·x, x + b, a·x + b. */
export const CASES = ["scaled", "shifted", "both"];
/** The network's own norm; a LayerNorm alone has a β. @param {NormInput} input */
export const ownMethod = ({ beta }) => METHODS[beta ? 2 : 0];

/** Powers of ten of a that the curve reaches each way, and its steps in each of them. */
export const [DECADES, STEPS] = [4, 40];

/**
 * Relative change of each method's output (rows) in each case.
 *
 * @param {NormInput} input
 * @param {number} a
 * @param {number} b
 * @returns {number[][]}
 */
function changesOf({ x, eps }, a, b) {
  const inputs = [changed(x, a, 0), changed(x, 1, b), changed(x, a, b)];
  return METHODS.map(({ norm, own }) => {
    const [used, before] = [own ? eps : 0, norm(x, own ? eps : 0)];
    return inputs.map((input) => relativeChange(before, norm(input, used)));
  });
}

/**
 * The change that scaling alone makes, by the formula, for every a from 10^−DECADES to 10^DECADES.
 *
 * @param {NormInput} input
 */
function curveOf({ meanSquare, eps }) {
  const a = Array.from({ length: 2 * DECADES * STEPS + 1 }, (_, i) => 10 ** (i / STEPS - DECADES));
  return { keys: { a }, columns: { change: a.map((value) => scaleChange(meanSquare, eps, value)) } };
}

/**
 * What the network's own norm makes of x and of a·x + b, and the difference of the two.
 *
 * @param {NormInput} input
 * @param {number} a
 * @param {number} b
 */
function outputsOf(input, a, b) {
  const { norm } = ownMethod(input);
  const [before, scaled] = [norm(input.x, input.eps), norm(changed(input.x, a, b), input.eps)];
  return {
    keys: { channel: [...before.keys()] },
    columns: { before, scaled, moved: scaled.map((value, i) => value - before[i]) },
  };
}

/**
 * What a·x, x + b and a·x + b change in the output of four norms, where b is `share` times what the norm divides
 * by.
 *
 * @typedef {{ norm: NormName; layer: number; query: number; a: number; share: number }} ScaleSelection
 *
 * @typedef {import("./reading.js").Reading<ScaleSelection> & { input: NormInput; changes: number[][] }} ScaleReading
 *   `changes`: METHODS × CASES
 * @type {import("./reading.js").Reader<ScaleReading>}
 */
export const normScale = {
  needs: vectorsNeeded,
  read(run, selection) {
    const { a, share, query } = selection;
    const input = inputOf(run.details.vectors, run.trace, query);
    const b = share * input.divisor;
    const changes = changesOf(input, a, b);
    const cells = METHODS.flatMap(({ name: method }, i) =>
      CASES.map((name, j) => ({ method, name, change: changes[i][j] })),
    );
    return {
      selection,
      input,
      changes,
      at: `${placeName(selection, query)} a ${exact(a)} share ${exact(share)}`,
      values: { a, b, ...Object.fromEntries(cells.map(({ method, name, change }) => [`${method}_${name}`, change])) },
      rows: {
        methods: () => ({
          keys: { method: METHODS.map(({ name }) => name) },
          columns: Object.fromEntries(CASES.map((name, j) => [name, changes.map((row) => row[j])])),
        }),
        cases: () => ({
          keys: { method: cells.map(({ method }) => method), case: cells.map(({ name }) => name) },
          columns: { change: cells.map(({ change }) => change) },
        }),
        curve: () => curveOf(input),
        outputs: () => outputsOf(input, a, b),
      },
    };
  },
};
