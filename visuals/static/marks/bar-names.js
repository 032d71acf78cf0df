// The words under bars, one a token: the chosen one always, of the others as many as there is room for.

import { ink, visible, writeName } from "../draw.js";

const ROOM = 44; // px of a word at least

/**
 * The tokens that are named: every so manieth, without those that the chosen one's word would touch.
 *
 * @param {number} count
 * @param {number} apart how many tokens have room for one word
 * @param {number} chosen
 */
export const tokensNamed = (count, apart, chosen) =>
  Array.from({ length: count }, (_, t) => t).filter(
    (t) => t === chosen || (t % apart === 0 && Math.abs(t - chosen) >= apart),
  );

/**
 * @param {CanvasRenderingContext2D} context
 * @param {string[]} pieces
 * @param {{ column: number; y: number; width: number; chosen: number; roleOf?: (t: number) => string }} place
 *   `column`: px of a bar; `width`: of the canvas; `roleOf`: whose hue a word has that is not chosen
 */
export function drawBarNames(context, pieces, { column, y, width, chosen, roleOf = () => "text" }) {
  const apart = Math.ceil(ROOM / column);
  for (const t of tokensNamed(pieces.length, apart, chosen))
    writeName(context, visible(pieces[t]), {
      middle: (t + 0.5) * column,
      y,
      width,
      most: apart * column - 4,
      colour: ink().colour(t === chosen ? "k" : roleOf(t)),
    });
}
