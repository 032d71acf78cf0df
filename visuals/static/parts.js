// What a panel needs of a network: a key of texts' section "absent" says what is missing, null that all is there. And
// in which form panels speak of what it has, the most special first (frame.js). Pure.

import { hasBias, scaledByRoot } from "./compute.js";
import { pairsOf } from "./rotation.js";

/** @typedef {import("./types.d.ts").Model} Model */

/**
 * A decoder that looks at a source.
 *
 * @param {Model} model
 */
export const looksAtSource = ({ parts }) => (parts.cross_scale ?? null) !== null;

/**
 * A network whose prompt can be read with all its tokens seeing each other.
 *
 * @param {Model} model
 */
export const hasPrefix = ({ parts }) => (parts.prefix ?? null) !== null;

/**
 * Scores under other kinds of positions, of a network that has not added any to its stream.
 *
 * @param {Model} model
 */
export const noneAdded = ({ parts }) => (parts.sinusoidal ? "added_positions" : null);

/**
 * What nothing is chosen for: a network's encoder.
 *
 * @param {Model} model
 */
export const noChoice = ({ parts: { stack } }) => (stack === "encoder" ? "no_choice" : null);

/**
 * What keeps no keys and values: a network's encoder, which reads its text once.
 *
 * @param {Model} model
 */
export const noCache = ({ parts: { stack } }) => (stack === "encoder" ? "no_cache" : null);

/**
 * The first, and a decoder that goes on from a source: what times the reading of a prompt and its going on knows
 * one text.
 *
 * @param {Model} model
 */
export const oneText = ({ parts: { stack } }) => (stack === "encoder" ? "no_choice" : stack ? "two_texts" : null);

/**
 * Heads that are turned, for a panel that shows what turning does.
 *
 * @param {string} what it is called in the texts
 * @returns {(model: Model) => string | null}
 */
export const notTurned = (what) => (model) =>
  model.parts.rotary ? null : `${hasBias(model) ? (model.parts.buckets ? "learned" : "rotary") : "none"}_${what}`;

/**
 * The form of texts for a bias of learned numbers, and before it that of a stack whose tokens see all.
 *
 * @param {Model} model
 */
const learned = ({ parts: { buckets, causal } }) =>
  buckets ? [...(causal === false ? ["sees_all"] : []), "buckets"] : [];

/**
 * The forms of texts for a bias, the most special first; "none" where all of it is 0: positions are taken out, or
 * ("added") stand in the embedding.
 *
 * @param {Model} model
 */
const biased = (model) => [
  ...(hasBias(model) ? learned(model) : model.parts.sinusoidal ? ["added", "none"] : ["none"]),
  "bias",
];

/**
 * How a network turns its heads, or that it has a bias by distance instead.
 *
 * @param {Model} model
 * @returns {string[]}
 */
export function turningForms(model) {
  const { rotary, bias, latent } = model.parts;
  if (!rotary) return bias ? biased(model) : [];
  const part = 2 * pairsOf(model) < model.head_dim;
  return [
    ...(latent ? ["latent"] : part ? ["partial"] : []),
    ...(rotary.interleaved ? ["interleaved"] : []),
    ...(scaledByRoot(model) ? [] : ["scaled"]),
  ];
}

/** @type {("attn" | "cross" | "ffn")[]} */
const PLACES = ["attn", "cross", "ffn"];

/**
 * The norms of each layer, in the order of the computation: where attention and feed-forward read the same one,
 * "attn" alone.
 *
 * @param {Model} model
 * @returns {("attn" | "cross" | "ffn")[]}
 */
export const layerNorms = ({ parts: { norms } }) => PLACES.filter((norm) => norms[`${norm}_norm`]);

/**
 * What writes to the stream in each layer, in the order of the computation; where they stand side by side,
 * attention first.
 *
 * @param {Model} model
 * @returns {("attn" | "cross" | "ffn")[]}
 */
export const sublayers = ({ parts: { norms } }) => PLACES.filter((part) => part !== "cross" || norms.cross_norm);

/**
 * Whether the norms are LayerNorms, which subtract a mean and add β.
 *
 * @param {Model} model
 */
export const centres = ({ parts }) => parts.norm_kind === "layer";

/**
 * In which form panels speak of a network's norms (frame.js): LayerNorm, and one norm a layer, for attention and
 * feed-forward both, or three.
 *
 * @param {Model} model
 * @returns {string[]}
 */
export function normForms(model) {
  const count = { 1: "one", 3: "three" }[layerNorms(model).length];
  const forms = count ? [count] : [];
  return centres(model) ? [...forms.map((form) => `layer_${form}`), "layer"] : forms;
}

/**
 * In which form panels speak of a score (frame.js): with a bias by distance, or with another factor than
 * 1/√head_dim.
 *
 * @param {Model} model
 * @returns {string[]}
 */
export const scoreForms = (model) => (model.parts.bias ? biased(model) : scaledByRoot(model) ? [] : ["scaled"]);

/**
 * Keys and values made of the stream itself.
 *
 * @param {Model} model
 */
export const ownKeys = ({ parts: { latent } }) => (latent ? "own_keys" : null);

/**
 * What stands in the place of RMSNorm, RoPE and SwiGLU, which the chapters on them are else called by; "" where
 * they are there.
 *
 * @param {Model} model
 */
export const chapterForms = (model) => ({
  norm: centres(model) ? "layer" : "",
  position: model.parts.rotary ? "" : "bias",
  ffn: model.parts.ffn.some(({ experts }) => experts)
    ? "experts"
    : model.parts.ffn.every(({ gated, activation }) => gated && activation === "silu")
      ? ""
      : "other",
});
