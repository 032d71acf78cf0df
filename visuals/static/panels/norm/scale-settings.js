// What the sliders of a·x + b are set to: one setting, kept in the link, for every run.

import { DECADES } from "../../readings/norm.js";

export const MOST_SHIFT = 3; // shifts reach so many times the RMS each way
const FIRST = { scale: -2, shift: 0.5 }; // where the sliders stand at first: log10 of a, and b as a multiple of the RMS

/**
 * @param {number | string} value
 * @param {number} most
 */
const between = (value, most) => Math.max(-most, Math.min(most, Number(value) || 0));

/**
 * What the sliders are set to: a = ±10^exponent, and b = share · RMS(x).
 *
 * @param {import("../../types.d.ts").Glass} glass
 * @param {number | null} [pointed] the exponent under the pointer
 */
export function settingsOf({ settings }, pointed = null) {
  const { scale = FIRST.scale, shift = FIRST.shift, flip } = settings.get("norm");
  const [exponent, share, flipped] = [pointed ?? between(scale, DECADES), between(shift, MOST_SHIFT), Boolean(flip)];
  return { exponent, share, flipped, a: (flipped ? -1 : 1) * 10 ** exponent };
}
