// The stream of a run under other placements of its norms: the branches that were recorded, added as each has it.

import { stretchOf } from "./stretch.js";

/**
 * @typedef {import("../decoded.d.ts").Detail<"norm_placement">} Answer
 *
 * @typedef {"pre" | "post" | "sandwich" | "deep" | "branch"} Placement as in model/replaced/norm_placement.py
 *
 * @typedef {{ query: number; depth: number | null }} PlacementSelection `depth`: how many layers α is worked out
 *   for; the network's own where it is null
 *
 * @typedef {{ lengths: Float64Array; kept: Float64Array }} Chain before the first branch and after each: how long
 *   the stream is, and the factor on its beginning that is still in it
 *
 * @typedef {{ alpha: number; beta: number }} Scales
 *
 * @typedef {import("./reading.js").Reading<PlacementSelection> & {
 *   chains: Record<Placement, Chain>;
 *   answer: Answer;
 *   scales: Scales;
 *   layers: number;
 * }} PlacementReading
 *   `layers`: those that α is worked out for
 */

/** @type {Placement[]} */
export const PLACEMENTS = ["pre", "sandwich", "post", "deep", "branch"];

/**
 * DeepNorm's α and β for a stack of so many layers (arXiv 2203.00555, Figure 2; model/replaced/deep_norm.py).
 *
 * @param {"encoder" | "decoder" | null} stack
 * @param {number} layers
 * @param {number | null} decoderLayers beside an encoder
 * @returns {Scales}
 */
export function deepScales(stack, layers, decoderLayers) {
  if (stack === "decoder") return { alpha: (3 * layers) ** 0.25, beta: (12 * layers) ** -0.25 };
  if (stack !== "encoder") return { alpha: (2 * layers) ** 0.25, beta: (8 * layers) ** -0.25 };
  const both = layers ** 4 * (decoderLayers ?? layers);
  return { alpha: 0.81 * both ** (1 / 16), beta: 0.87 * both ** (-1 / 16) };
}

/**
 * What is added at one step is the branch times `added`, and the stream is `residual` times itself; then a
 * LayerNorm divides by σ, or nothing does.
 *
 * @typedef {{ residual: number; added: number; divides: boolean }} Step
 */

/**
 * The stream as weights on its beginning and on each branch. Its length follows from the weights and from the dot
 * products of what they weigh: ‖Σ wᵢ vᵢ‖² = Σ wᵢ wⱼ vᵢ·vⱼ.
 *
 * @param {(i: number, j: number) => number} product vᵢ·vⱼ, each less the mean of its channels
 * @param {number} steps
 * @param {(k: number) => Step} stepAt
 * @param {{ width: number; eps: number; mean: number }} about `mean` of the channels at the beginning
 * @returns {Chain}
 */
function chainOf(product, steps, stepAt, { width, eps, mean }) {
  const weights = new Float64Array(steps + 1);
  const [lengths, kept] = [new Float64Array(steps + 1), new Float64Array(steps + 1)];
  let square = product(0, 0); // of the stream so far, less its mean
  let offset = mean * mean * width; // what the mean adds to it
  [weights[0], lengths[0], kept[0]] = [1, Math.sqrt(square + offset), 1];
  for (let k = 1; k <= steps; k++) {
    const { residual, added, divides } = stepAt(k);
    let along = 0; // the stream so far · this branch
    for (let i = 0; i < k; i++) along += weights[i] * product(k, i);
    square = residual * residual * square + 2 * residual * added * along + added * added * product(k, k);
    const divisor = divides ? Math.sqrt(square / width + eps) : 1;
    if (divides) [square, offset] = [square / (divisor * divisor), 0];
    for (let i = 0; i < k; i++) weights[i] *= residual / divisor;
    weights[k] = added / divisor;
    lengths[k] = Math.sqrt(square + offset);
    [kept[k]] = weights;
  }
  return { lengths, kept };
}

/**
 * The stream of one token under each placement.
 *
 * @param {Answer} answer
 * @param {number} row
 * @param {{ d_model: number; norm_eps: number }} model
 * @param {number} alpha
 * @returns {Record<Placement, Chain>}
 */
export function chainsOf({ layers, lengths, mean, products }, row, { d_model: width, norm_eps: eps }, alpha) {
  const steps = layers.length;
  const pairs = ((steps + 1) * (steps + 2)) / 2;
  /** @type {(i: number, j: number) => number} `i` is not less than `j` */
  const product = (i, j) => products.data[row * pairs + (i * (i + 1)) / 2 + j];
  const about = { width, eps, mean: mean.data[row] };
  /** @type {(residual: number, added: number) => Chain} */
  const normed = (residual, added) => chainOf(product, steps, () => ({ residual, added, divides: true }), about);
  /** @type {(k: number) => Step} */
  const sandwich = (k) => ({ residual: 1, added: 1 / Math.sqrt(product(k, k) / width + eps), divides: false });
  const recorded = lengths.data.subarray(row * (steps + 1), (row + 1) * (steps + 1));
  return {
    pre: { lengths: Float64Array.from(recorded), kept: new Float64Array(steps + 1).fill(1) },
    sandwich: chainOf(product, steps, sandwich, about),
    post: normed(1, 1),
    deep: normed(alpha, 1),
    branch: normed(1, alpha),
  };
}

/**
 * A row for the beginning and for each branch.
 *
 * @param {Answer} answer
 * @param {Record<Placement, Chain>} chains
 * @returns {import("./reading.js").Table}
 */
const stepsTable = ({ layers, parts }, chains) => ({
  keys: { layer: ["", ...layers], part: ["start", ...parts] },
  columns: Object.fromEntries([
    ...PLACEMENTS.map((name) => [name, chains[name].lengths]),
    ...PLACEMENTS.slice(2).map((name) => [`${name}_kept`, chains[name].kept]),
  ]),
});

/** How many branches a layer adds. @param {import("../types.d.ts").Model} model */
const branchesOf = ({ parts: { norms } }) =>
  Object.values(norms).every((reads) => reads === "resid_in") ? 1 : Object.keys(norms).length;

/** @type {import("./reading.js").Reader<PlacementReading>} */
export const normPlacement = {
  needs({ T, model }, { query }) {
    const vectors = branchesOf(model) * model.n_layers + 1;
    return { answer: ["norm_placement", stretchOf(T, 2 * vectors * (vectors + 1), query)] };
  },
  read({ trace: { model }, details: { answer } }, selection) {
    const { query, depth } = selection;
    const layers = depth ?? model.n_layers;
    const scales = deepScales(model.parts.stack, layers, answer.decoder_layers);
    const chains = chainsOf(answer, query - answer.first, model, scales.alpha);
    const ends = PLACEMENTS.map((name) => [name, chains[name].lengths.at(-1)]);
    const kept = PLACEMENTS.slice(2).map((name) => [`${name}_kept`, chains[name].kept.at(-1)]);
    return {
      selection: { ...selection, depth: layers },
      chains,
      answer,
      scales,
      layers,
      at: `token ${query} depth ${layers}`,
      values: { ...scales, start: chains.pre.lengths[0], ...Object.fromEntries([...ends, ...kept]) },
      rows: { steps: () => stepsTable(answer, chains) },
    };
  },
};
