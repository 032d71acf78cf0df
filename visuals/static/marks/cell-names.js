// The words of the text at the rows and columns of a map of queries × keys.

import { ink, leastLetters, roomToDraw, textWidth, visible, write } from "../draw.js";
import { airOf, writeUpright } from "./upright.js";

export const BOLD = 1.1; // how wide a bold word is to a plain one
const AROUND = 10; // px around a word
export const LINE = 14; // px of letters
const [NAMES, MARK] = [72, 10]; // px: room of a word, and of the mark beside it
const [SMALL, CLEAR] = [11, 1]; // px of the least letters where all words then have room, and between two lines
export const [LEFT, TOP] = [NAMES + MARK, NAMES]; // px beside and above a map for its words
export const LOW = 20; // px above a map whose room is low: there the chosen key alone is named

/**
 * @typedef {import("./cells.js").Square} Square
 *
 * @typedef {{ at: number; above: boolean }} Spot of a word, beside its row or above its column; `at`: px from where
 *   the square begins
 */

/** Marks that stand alone at the foot of their line, so that they touch the word below them: drawn, they are raised. */
const AT_FOOT = /^[。，、．]$/;
const CLOSE = 0.7; // of a stage's letters, those of words so close that they would leave out some of them
const RAISED = 0.28; // of the letters' size

/**
 * A piece as a word, without the blank before it.
 *
 * @param {string} piece
 */
export const nameOf = (piece) => visible(piece).replace(/^(\u2068?)·(?=.)/, "$1");

/** @type {WeakMap<string[], number>} px of the longest word of a text */
const longest = new WeakMap();

/**
 * The room that the longest word takes, which is no more than that there is.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {string[]} pieces
 * @param {number} [most]
 */
export function roomFor(context, pieces, most = NAMES) {
  const long = longest.get(pieces) ?? pieces.reduce((so, piece) => Math.max(so, textWidth(context, nameOf(piece))), 0);
  longest.set(pieces, long);
  return Math.min(most, Math.ceil(BOLD * long) + AROUND);
}

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
 * @param {{ colour: string; weight?: number; room?: number; size?: number }} look `room`: px for a word; `size`: of
 *   its letters
 */
function drawName(context, place, { piece, at, above }, { colour, weight = 400, room = NAMES, size: tall = LINE }) {
  const { x, y, size } = place;
  const name = nameOf(piece);
  if (above && y === LOW) {
    const align = at < NAMES / 2 ? "left" : at > size - NAMES / 2 ? "right" : "center";
    const edge = align === "left" ? 0 : align === "right" ? size : at;
    return write(context, name, x + edge, y - 6, { align, colour, weight, most: size });
  }
  if (above)
    return along(context, place, { at, above }, () =>
      writeUpright(context, name, { size: tall, align: "left", colour, weight, most: room - 6 }),
    );
  return along(context, place, { at, above }, () =>
    write(context, name, 0, AT_FOOT.test(name) ? -RAISED * tall : 0, {
      size: tall,
      base: "middle",
      align: "right",
      colour,
      weight,
      most: room - 6,
    }),
  );
}

/**
 * One side of a map.
 *
 * @typedef {{ pieces: string[]; step: number; above: boolean; room?: number }} Side `step`: px from one token to
 *   the next; `room`: px for a word
 */

/**
 * How much more there is between Chinese words, px: none on a stage, where room is scarce.
 *
 * @param {string[]} pieces
 */
const airAround = (pieces) => (roomToDraw() < Infinity ? 0 : airOf(pieces));

/**
 * How tall letters are, px: as its line has room for, where that can be read, on a stage from far away.
 *
 * @param {number} step px from one token to the next
 * @param {string[]} [pieces] the words; Chinese ones need more between them
 */
export function sizeOf(step, pieces = []) {
  const [least, clear] = roomToDraw() < Infinity ? [CLOSE * leastLetters(), 0] : [SMALL, CLEAR + airOf(pieces)];
  return step < least + clear ? LINE : Math.min(LINE, Math.floor(step) - clear);
}

/**
 * How tall the words above a map are: no taller than its columns' letters need, which are small where they are
 * close.
 *
 * @param {number} long px of the longest word, as `roomFor` has it
 * @param {(above: number) => number} sizeUnder side of the map under words that tall
 * @param {string[]} pieces
 */
export function heightOf(long, sizeUnder, pieces) {
  const tall = (/** @type {number} */ letters) => Math.ceil(((long - AROUND) * letters) / LINE) + AROUND;
  for (let letters = LINE; letters > 1; letters--)
    if (sizeOf(sizeUnder(tall(letters)) / pieces.length, pieces) >= letters) return tall(letters);
  return long;
}

/**
 * Every how many tokens there is room for a word.
 *
 * @param {number} step px from one token to the next
 * @param {string[]} [pieces]
 */
export const strideOf = (step, pieces = []) => Math.ceil((sizeOf(step, pieces) + airAround(pieces)) / step);

/**
 * Whether each token has room for its word.
 *
 * @param {number} step px from one token to the next
 * @param {string[]} pieces
 */
export const namesAll = (step, pieces) => strideOf(step, pieces) === 1;
/**
 * Whether at least every other token has, of Chinese ones, which take more, every third.
 *
 * @param {number} step px from one token to the next
 * @param {string[]} pieces
 */
export const namesMost = (step, pieces) => strideOf(step, pieces) <= (airOf(pieces) ? 3 : 2);

/**
 * Takes away the words of a side that another one, at token `t`, would be written over; none where each has room.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Square} place
 * @param {Side} side
 * @param {number} t
 */
function clearNames(context, place, { pieces, step, above, room = NAMES }, t) {
  const stride = strideOf(step, pieces);
  const before = Math.floor(t / stride) * stride;
  const tall = (stride === 1 ? Math.min(step, LINE + 2) : LINE + 2) + airAround(pieces);
  const long = room - 4; // as long as a word can be, and no longer: a frame stands beside the longest
  context.fillStyle = ink().colour("card");
  for (const near of [before, before + stride])
    if (near < pieces.length && Math.abs(near - t) * step < sizeOf(step, pieces) + airAround(pieces))
      along(context, place, { at: (near + 0.5) * step, above }, () =>
        context.fillRect(above ? 0 : -long, -tall / 2, long, tall),
      );
}

/**
 * The words along one side of a map, as many of them as there is room for.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Square} place
 * @param {Side} side
 */
export function drawSide(context, place, { pieces, step, above, room }) {
  const colour = ink().colour("muted");
  const size = sizeOf(step, pieces);
  for (let t = 0; t < pieces.length; t += strideOf(step, pieces))
    drawName(context, place, { piece: pieces[t], at: (t + 0.5) * step, above }, { colour, room, size });
}

/**
 * The word of a chosen row or column, over those beside it.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Square} place
 * @param {Side} side
 * @param {{ t: number; role: string }} chosen `role`: whose hue it has
 */
export function drawChosenAt(context, place, side, { t, role }) {
  const { pieces, step, above, room } = side;
  if (!above || place.y !== LOW) clearNames(context, place, side, t);
  const colour = ink().colour(role);
  const look = { colour, weight: 600, room, size: sizeOf(step, pieces) };
  drawName(context, place, { piece: pieces[t], at: (t + 0.5) * step, above }, look);
}

/**
 * Which words stand at a map.
 *
 * @typedef {{ room?: number; rows?: boolean }} Written `room`: px for a word; `rows`: whether the rows have theirs,
 *   as all but those of a map do that stands beside another of the same text
 */

/**
 * The words of the text: queries at the rows, keys above the columns.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Square} place
 * @param {string[]} pieces
 * @param {Written} [written]
 */
export function drawNames(context, place, pieces, { room, rows = true } = {}) {
  const side = { pieces, step: place.size / pieces.length, room };
  if (rows) drawSide(context, place, { ...side, above: false });
  if (place.y !== LOW) drawSide(context, place, { ...side, above: true });
}

/**
 * The words of the chosen cell.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Square} place
 * @param {{ query: number; key: number; pieces: string[] }} cell
 * @param {Written} [written]
 */
export function drawChosen(context, place, { query, key, pieces }, { room, rows = true } = {}) {
  const side = { pieces, step: place.size / pieces.length, room };
  if (rows) drawChosenAt(context, place, { ...side, above: false }, { t: query, role: "q" });
  drawChosenAt(context, place, { ...side, above: true }, { t: key, role: "k" });
}
