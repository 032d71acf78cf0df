// Vectors one under the other, each as a row of coloured cells to its own scale: so that what keeps its direction keeps
// its pattern. How large they are, bars to one scale can say.

import { poolColumns } from "../arrays.js";
import { h, shown } from "../dom.js";
import { cells, centred, enlarge, fit, ink, penOf, textWidth, write } from "../draw.js";
import { memo } from "../reads.js";

const [USUAL, FAR] = [0.98, 2]; // of values: this share is usual, and what is so many times larger stands apart
const [NAME, HIGH, GAP] = [22, 26, 12]; // px: a row's name, its cells, and what is between two rows
const [BAR, THICK] = [20, 8]; // px: the line of a row's bar, and the bar
const BOLD = 1.15; // how much wider a name is than in plain letters, with the space after it

/**
 * Where the colours end: at the largest value, or where a few stand far above all others, at what these leave.
 *
 * @param {ArrayLike<number>} values
 * @returns {{ limit: number; most: number }} `most`: the value that is furthest from 0
 */
export function limitOf(values) {
  const sorted = Array.from(values).sort((a, b) => Math.abs(a) - Math.abs(b));
  const [most, usual] = [sorted[sorted.length - 1], Math.abs(sorted[Math.floor(USUAL * (sorted.length - 1))])];
  const size = Math.abs(most);
  return { limit: size > FAR * usual ? usual : size, most };
}

/**
 * @typedef {object} Row
 * @property {string} name
 * @property {string} role
 * @property {ArrayLike<number>} values
 * @property {{ limit: string; most: string }} [end] as `limitOf`, as they are to be written
 * @property {{ value: number; words: string }} [size] of all rows or of none
 * @param {import("../types.d.ts").Glass} glass
 * @param {string} label the key of the drawing's name
 */
export function createRows({ text }, label) {
  const canvas = h("canvas", { role: "img", "data-text-label": label });
  const paint = memo((/** @type {number} */ width, /** @type {Row[]} */ rows, _theme) => {
    const limits = rows.map(({ values }) => limitOf(values));
    const ends = limits.map(({ limit, most }, i) =>
      text(Math.abs(most) > limit ? "story.colours_beyond" : "story.colours", {
        ...(rows[i].end ?? { limit: shown(limit, 3), most: shown(most, 3) }),
      }),
    );
    const pen = penOf(canvas);
    const isTight = rows.some(({ name }, i) => BOLD * textWidth(pen, name) + textWidth(pen, ends[i]) > width);
    const above = isTight ? 2 * NAME : NAME; // what the colours mean stands beside the name, else under it
    const bar = rows.some(({ size }) => size) ? BAR : 0;
    const high = above + bar + HIGH + GAP;
    const room = width - Math.max(...rows.map(({ size }) => BOLD * textWidth(pen, size?.words ?? "")));
    const most = Math.max(...rows.map(({ size }) => size?.value ?? 0));
    const context = fit(canvas, width, rows.length * high - GAP);
    const { colour, signed } = ink();
    rows.forEach(({ name, role, values, size }, i) => {
      const y = i * high;
      const { limit } = limits[i];
      write(context, name, 0, y + 15, { weight: 600, colour: colour(role) });
      const [x, align] = isTight ? [0, /** @type {const} */ ("left")] : [width, /** @type {const} */ ("right")];
      write(context, ends[i], x, y + above - 7, { align, colour: colour("muted") });
      if (size) {
        const wide = Math.max(1, ((room - GAP) * size.value) / (most || 1));
        context.fillStyle = colour(role);
        context.fillRect(0, y + above + 2, wide, THICK);
        write(context, size.words, wide + GAP / 2, y + above + THICK + 3, { weight: 600, colour: colour(role) });
      }
      const seen = poolColumns(values, Math.min(width, values.length)).map((at) => values[at]);
      const image = cells(seen, seen.length, 1, signed, (value) => centred(value, limit));
      enlarge(context, image, 0, y + above + bar, width, HIGH);
      context.strokeStyle = colour("line"); // so that cells near 0 at an end are seen on white
      context.lineWidth = 1;
      context.strokeRect(0.5, y + above + bar + 0.5, width - 1, HIGH - 1);
    });
  });
  return { element: canvas, paint };
}
