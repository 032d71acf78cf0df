// What the panels on RoPE share: how far their charts reach, words, and settings.

import { labelsOf } from "../../characters.js";
import { count, shown, signed } from "../../dom.js";
import { cellNames } from "../../draw.js";
import { tickText } from "../../plot.js";
import { FARTHEST } from "../../readings/rope-place.js";
import { word } from "../glance/words.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../decode.js").Trace} Trace
 *
 * @typedef {import("../../types.d.ts").Shown} State
 */

/**
 * Distances that can be set, and one more than the farthest.
 *
 * @param {Trace} trace
 * @returns {number}
 */
export const limitOf = ({ model, T }) => Math.min(FARTHEST, Math.max(model.max_context, T));

/**
 * Said of a chart over distances from 0 on where the run's own point is not on it.
 *
 * @param {{ query: number; key: number }} state
 * @param {number} value the point's q·k
 * @param {Say} text
 */
export const afterQuery = ({ query, key }, value, text) =>
  key > query ? text("rope-score.far_after", { count: key - query, value: shown(value) }) : "";

/** How it is named within a sentence. @param {State} state */
export const spokenOf = (state) => ({
  ...cellNames(state),
  query: word(labelsOf(state.trace.tokens.pieces)[state.query]),
  key: word(labelsOf(state.trace.tokens.pieces)[state.key]),
});

/**
 * A difference that may be tiny: with its sign, as a power of ten where it is below 0.001.
 *
 * @param {number} value
 */
export function small(value) {
  if (value === 0) return "0";
  if (Math.abs(value) >= 1e-3) return signed(value, 3);
  return `${value > 0 ? "+" : ""}${tickText(Number(value.toPrecision(3)))}`;
}

/**
 * In how many tokens a pair turns once: with all digits before the point from 1,000 on.
 *
 * @param {number} tokens
 */
export const turnText = (tokens) => (tokens < 1000 ? shown(tokens, 3) : count(Math.round(tokens)));

/**
 * Settings of the chapter's panels, kept in the link.
 *
 * @param {Pick<Glass, "settings">} glass
 * @param {Record<string, string | number>} change
 */
export const adjust = ({ settings }, change) => settings.set("rope", { ...settings.get("rope"), ...change });

/**
 * A whole number from the settings within bounds, or what stands for none.
 *
 * @param {string | undefined} value
 * @param {number} low
 * @param {number} high
 * @param {number} other
 */
export function whole(value, low, high, other) {
  const number = Math.round(Number(value));
  return value === undefined || !Number.isFinite(number) ? other : Math.max(low, Math.min(high, number));
}
