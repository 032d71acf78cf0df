// Names that stand upright, along a line that is turned: letters are turned with it, Chinese characters stand one below
// the other, as they are read.

import { hasChinese } from "../characters.js";
import { write } from "../draw.js";

const CHINESE = /^[\p{Script=Han}，。、！？：；“”…]+$/u;
const AIR = 3; // px between lines of characters, which fill their square: letters leave as much of theirs empty

/** @type {WeakMap<string[], number>} */
const known = new WeakMap();

/**
 * What lines of these names need between each other beside the height of their letters, px.
 *
 * @param {string[]} pieces
 */
export function airOf(pieces) {
  const air = known.get(pieces) ?? (pieces.some(hasChinese) ? AIR : 0);
  known.set(pieces, air);
  return air;
}

/**
 * Writes a name along a line that is turned a quarter to the left: from the origin upwards where it is aligned
 * "left", else so that it ends there.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {string} name
 * @param {{ size?: number; align: "left" | "right"; most: number; colour?: string; weight?: number }} how
 */
export function writeUpright(context, name, { most, size = 14, align, ...look }) {
  if (!CHINESE.test(name)) return write(context, name, 0, 0, { ...look, size, align, base: "middle", most });
  const room = Math.max(1, Math.floor(most / size));
  const all = [...name];
  const signs = all.length > room ? [...all.slice(0, room - 1), "…"] : all;
  for (const [i, sign] of signs.entries()) {
    context.save();
    context.translate((align === "left" ? signs.length - i - 0.5 : -i - 0.5) * size, 0);
    context.rotate(Math.PI / 2);
    write(context, sign, 0, 0, { ...look, size, align: "center", base: "middle" });
    context.restore();
  }
  return undefined;
}
