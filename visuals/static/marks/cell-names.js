// The words of the text at the rows and columns of a map of queries × keys.

import { ink, visible, write } from "../draw.js";

const [NAMES, MARK, LINE] = [72, 10, 14]; // px: room of a word, of the mark beside it, and from one word to the next
export const [LEFT, TOP] = [NAMES + MARK, NAMES]; // px beside and above a map for its words
export const LOW = 20; // px above a map whose room is low: there the chosen key alone is named

/**
 * A word of the text beside its row, or above its column.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {import("./cells.js").Square} place
 * @param {{ piece: string; at: number; above: boolean }} word `at`: px from where the square begins
 * @param {{ colour: string; weight?: number; ground?: string }} look `ground`: of what it is written over
 */
function drawName(context, { x, y, size }, { piece, at, above }, { colour, weight = 400, ground }) {
  const name = visible(piece).replace(/^·(?=.)/, "");
  if (above && y === LOW) {
    const align = at < NAMES / 2 ? "left" : at > size - NAMES / 2 ? "right" : "center";
    const edge = align === "left" ? 0 : align === "right" ? size : at;
    return write(context, name, x + edge, y - 6, { align, colour, weight, most: size });
  }
  context.save();
  if (above) context.translate(x + at, y - 4);
  else context.translate(x - MARK - 2, y + at);
  if (above) context.rotate(-Math.PI / 2);
  if (ground) {
    context.fillStyle = ground;
    context.fillRect(above ? 0 : -NAMES, -LINE / 2 - 1, NAMES, LINE + 2);
  }
  write(context, name, 0, 0, { base: "middle", align: above ? "left" : "right", colour, weight, most: NAMES - 6 });
  return context.restore();
}

/**
 * The words of the text: queries at the rows, keys above the columns; as many of them as there is room for.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {import("./cells.js").Square} place
 * @param {string[]} pieces
 */
export function drawNames(context, place, pieces) {
  const colour = ink().colour("muted");
  const step = place.size / pieces.length;
  for (let t = 0; t < pieces.length; t += Math.ceil(LINE / step))
    for (const above of place.y === LOW ? [false] : [false, true])
      drawName(context, place, { piece: pieces[t], at: (t + 0.5) * step, above }, { colour });
}

/**
 * The words of the chosen cell, over those beside them.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {import("./cells.js").Square} place
 * @param {{ query: number; key: number; pieces: string[] }} cell
 */
export function drawChosen(context, place, { query, key, pieces }) {
  const { colour } = ink();
  const step = place.size / pieces.length;
  for (const [t, role, above] of /** @type {[number, string, boolean][]} */ ([
    [query, "q", false],
    [key, "k", true],
  ]))
    drawName(
      context,
      place,
      { piece: pieces[t], at: (t + 0.5) * step, above },
      { colour: colour(role), weight: 600, ground: colour("card") },
    );
}
