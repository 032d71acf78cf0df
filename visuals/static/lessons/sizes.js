// How large a panel is tried on the stage, from the largest size down.

// px of the smallest text: as panels have it, as a hall has it, as it needs it at least; a screen's width and height
const [PLAIN, LARGE, LEGIBLE, WIDE, HIGH] = [14, 24, 22, 1280, 720];

/**
 * How much larger a screen has its text than one of 1280 × 720 px: what is projected is no larger for having more
 * pixels.
 *
 * @param {number} width
 * @param {number} height
 */
export const finenessOf = (width, height) => Math.max(1, Math.min(width / WIDE, height / HIGH));

/**
 * The sizes to try, from double (at 1280 px; more on a larger screen) to that at which no text is under 24 px, then
 * to 22 px, both as far as a screen of 1280 px has them, and for a part that is taller than the screen down to how
 * the page has it. A telephone has it so from the start.
 *
 * @param {number} width of the window
 * @param {number} [fineness] of the screen
 * @returns {{ larger: number[]; large: number[]; legible: number[]; smaller: number[] }} `larger`: so many times
 *   the largest, for what takes little room
 */
export function sizesFor(width, fineness = 1) {
  const most = Math.max(1, Math.min(3 * fineness, (2 * width) / WIDE));
  const [large, legible] = [LARGE, LEGIBLE].map((size) =>
    Math.min(most, Math.max(1, ((size * fineness) / PLAIN) * Math.min(1, width / WIDE))),
  );
  /** @type {(from: number, to: number, steps: number) => number[]} */
  const between = (from, to, steps) => Array.from({ length: steps }, (_, i) => from + ((to - from) * i) / (steps - 1));
  return {
    larger: width < WIDE / 2 ? [] : [1.8, 1.6, 1.4, 1.2],
    large: [...new Set(between(most, large, 3))],
    legible: legible < large ? [legible] : [],
    smaller: [...new Set(between(legible, 1, 4))].slice(1),
  };
}

/** So many times their least size are question and answer tried, from the largest down; where a hall reads them. */
export const WORDS = [1.3, 1.15, 1];

/**
 * How large letters of drawings are on the screen at least.
 *
 * @param {number} width of what they are shown in
 * @param {number} [fineness] of the screen
 */
export const lettersFor = (width, fineness = 1) => Math.max(PLAIN, LEGIBLE * fineness * Math.min(1, width / WIDE));

/**
 * The smallest size at which a hall can read the panel.
 *
 * @param {ReturnType<typeof sizesFor>} sizes
 */
export const leastLegible = ({ large, legible }) => legible[0] ?? Math.min(...large);
