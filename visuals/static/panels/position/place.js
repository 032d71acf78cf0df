// What the panels on RoPE share: q and k of the selected head, query and key, their frequencies, and settings.

import { kvHead, vectorOf } from "../../compute.js";
import { channelsOf, pairsOf, turnBack, unrotatedTerm } from "../../rotation.js";
import { shown, signed } from "../../dom.js";
import { cellNames } from "../../draw.js";
import { tickText } from "../../plot.js";
import { word } from "../glance/words.js";
import { overDistance } from "./turning.js";

/** Distances that are drawn at most; beyond, there are more of them than pixels by far. */
export const FARTHEST = 8192;

/**
 * Distances that can be set, and one more than the farthest.
 *
 * @returns {number}
 */
export const limitOf = ({ model, T }) => Math.min(FARTHEST, Math.max(model.max_context, T));

/**
 * A head's q or k at a position before RoPE, whole: where a run has k after it alone, turned back.
 *
 * @param {"q" | "k"} name
 * @returns {ArrayLike<number>}
 */
export function beforeRope(layer, { parts: { rotary } }, name, head, position) {
  if (layer[name]) return vectorOf(layer[name], head, position);
  return turnBack(vectorOf(layer.kRot, head, position), position, rotary);
}

/**
 * The channels of a head that RoPE turns, the firsts of all pairs and then the seconds, whatever their order in the
 * head.
 *
 * @returns {Float64Array}
 */
export function turnable(vector, rotary) {
  const pairs = rotary.inv_freq.data.length;
  return Float64Array.from({ length: 2 * pairs }, (_, i) => vector[channelsOf(rotary, i % pairs)[i < pairs ? 0 : 1]]);
}

/**
 * @returns {{
 *   q;
 *   k: ArrayLike<number>;
 *   rest: number;
 *   m: number;
 *   n: number;
 *   kv: number;
 *   model: object;
 *   frequencies: object;
 * }}
 *   q and k before RoPE, of the channels that it turns, pairs (i, i + pairs); `rest`: what the other channels add to
 *   q·k
 */
export function placeOf(layer, { trace: { model }, head, query, key }) {
  const kv = kvHead(model, head);
  const { rotary } = model.parts;
  const frequencies = { inv_freq: rotary.inv_freq.data, scaling: rotary.attention_scaling };
  const [q, k] = [beforeRope(layer, model, "q", head, query), beforeRope(layer, model, "k", kv, key)];
  return {
    q: turnable(q, rotary),
    k: turnable(k, rotary),
    rest: unrotatedTerm(q, k, rotary),
    m: query,
    n: key,
    kv,
    model,
    frequencies,
  };
}

/** Whether a head has channels that RoPE leaves as they are. */
export const turnsPart = (model) => 2 * pairsOf(model) < model.head_dim;

/** q·k at distances 0 … count - 1, with what the channels add that are not turned. */
export function farOf({ q, k, rest }, frequencies, count) {
  const far = overDistance(q, k, frequencies, count);
  return rest ? far.map((value) => value + rest) : far;
}

/**
 * Said of a chart over distances from 0 on where the run's own point is not on it.
 *
 * @param {{ query: number; key: number }} state
 * @param {number} value the point's q·k
 * @param {Function} text
 */
export const afterQuery = ({ query, key }, value, text) =>
  key > query ? text("rope-score.far_after", { count: key - query, value: shown(value) }) : "";

/** How it is named within a sentence. */
export const spokenOf = (state) => ({
  ...cellNames(state),
  query: word(state.trace.tokens.pieces[state.query]),
  key: word(state.trace.tokens.pieces[state.key]),
});

/** A difference that may be tiny: with its sign, as a power of ten where it is below 0.001. */
export function small(value) {
  if (value === 0) return "0";
  if (Math.abs(value) >= 1e-3) return signed(value, 3);
  return `${value > 0 ? "+" : ""}${tickText(Number(value.toPrecision(3)))}`;
}

/** Settings of the chapter's panels, kept in the link. */
export const adjust = ({ settings }, change) => settings.set("rope", { ...settings.get("rope"), ...change });

/** A whole number from the settings within bounds, or what stands for none. */
export function whole(value, low, high, other) {
  const number = Math.round(Number(value));
  return value === undefined || !Number.isFinite(number) ? other : Math.max(low, Math.min(high, number));
}
