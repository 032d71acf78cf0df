// The words of the text at the rows and columns of a map of queries × keys.

import { ink, visible, write } from "../draw.js";

const [NAMES, MARK, LINE] = [72, 10, 14]; // px: room of a word, of the mark beside it, and from one word to the next
export const [LEFT, TOP] = [NAMES + MARK, NAMES]; // px beside and above a map for its words
export const LOW = 20; // px above a map whose room is low: there the chosen key alone is named

/**
 * @typedef {import("./cells.js").Square} Square
 *
 * @typedef {{ at: number; above: boolean }} Spot of a word, beside its row or above its column; `at`: px from where
 *   the square begins
 */

/**
 * Draws at a word's spot, along its line.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Square} place
 * @param {Spot} spot
 * @param {() => void} draw
 */
function along(context, { x, y }, { at, above }, draw) {
  context.save();
  if (above) context.translate(x + at, y - 4);
  else context.translate(x - MARK - 2, y + at);
  if (above) context.rotate(-Math.PI / 2);
  draw();
  context.restore();
}

/**
 * A word of the text beside its row, or above its column.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Square} place
 * @param {Spot & { piece: string }} word
 * @param {{ colour: string; weight?: number; room?: number }} look `room`: px for a word
 */
function drawName(context, place, { piece, at, above }, { colour, weight = 400, room = NAMES }) {
  const { x, y, size } = place;
  const name = visible(piece).replace(/^·(?=.)/, "");
  if (above && y === LOW) {
    const align = at < NAMES / 2 ? "left" : at > size - NAMES / 2 ? "right" : "center";
    const edge = align === "left" ? 0 : align === "right" ? size : at;
    return write(context, name, x + edge, y - 6, { align, colour, weight, most: size });
  }
  return along(context, place, { at, above }, () =>
    write(context, name, 0, 0, { base: "middle", align: above ? "left" : "right", colour, weight, most: room - 6 }),
  );
}

/** Every how many tokens there is room for a word. @param {number} step px from one token to the next */
const strideOf = (step) => Math.ceil(LINE / step);

/**
 * Takes away the words that another one at this token would be written over.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Square} place
 * @param {{ t: number; step: number; above: boolean; room: number }} word
 */
function clearNames(context, place, { t, step, above, room }) {
  const stride = strideOf(step);
  const before = Math.floor(t / stride) * stride;
  context.fillStyle = ink().colour("card");
  for (const near of [before, before + stride])
    if (Math.abs(near - t) * step < LINE)
      along(context, place, { at: (near + 0.5) * step, above }, () =>
        context.fillRect(above ? 0 : -room, -LINE / 2 - 1, room, LINE + 2),
      );
}

/**
 * Which words stand at a map.
 *
 * @typedef {{ room?: number; rows?: boolean }} Written `room`: px for a word; `rows`: whether the rows have theirs,
 *   as all but those of a map do that stands beside another of the same text
 *
 * @typedef {{ role: "q" | "k"; above: boolean }} Side whose words stand there, and whether above the map
 */

/**
 * The sides of a map at which words stand, the rows' first.
 *
 * @param {boolean} rows whether the rows have theirs
 * @param {boolean} columns whether the columns have
 * @returns {Side[]}
 */
const sidesOf = (rows, columns) => [
  ...(rows ? [/** @type {const} */ ({ role: "q", above: false })] : []),
  ...(columns ? [/** @type {const} */ ({ role: "k", above: true })] : []),
];

/**
 * The words of the text: queries at the rows, keys above the columns; as many of them as there is room for.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Square} place
 * @param {string[]} pieces
 * @param {Written} [written]
 */
export function drawNames(context, place, pieces, { room, rows = true } = {}) {
  const colour = ink().colour("muted");
  const step = place.size / pieces.length;
  const sides = sidesOf(rows, place.y !== LOW);
  for (let t = 0; t < pieces.length; t += strideOf(step))
    for (const { above } of sides)
      drawName(context, place, { piece: pieces[t], at: (t + 0.5) * step, above }, { colour, room });
}

/**
 * The words of the chosen cell, over those beside them.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Square} place
 * @param {{ query: number; key: number; pieces: string[] }} cell
 * @param {Written} [written]
 */
export function drawChosen(context, place, { query, key, pieces }, { room = NAMES, rows = true } = {}) {
  const { colour } = ink();
  const step = place.size / pieces.length;
  for (const { role, above } of sidesOf(rows, true)) {
    const t = above ? key : query;
    if (!above || place.y !== LOW) clearNames(context, place, { t, step, above, room });
    drawName(
      context,
      place,
      { piece: pieces[t], at: (t + 0.5) * step, above },
      { colour: colour(role), weight: 600, room },
    );
  }
}
