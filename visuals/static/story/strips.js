// Vectors one under the other, each as a row of coloured cells to its own scale: so that what keeps its direction keeps
// its pattern.

import { largest, poolColumns } from "../arrays.js";
import { h, shown } from "../dom.js";
import { cells, centred, enlarge, fit, ink, write } from "../draw.js";
import { memo } from "../reads.js";

const [USUAL, FAR] = [0.98, 2]; // of values: this share is usual, and what is so many times larger stands apart
const [NAME, HIGH, GAP] = [22, 26, 12]; // px: a row's name, its cells, and what is between two rows

/**
 * Where the colours end: at the largest value, or where a few stand far above all others, at what these leave.
 *
 * @param {ArrayLike<number>} values
 */
function limitOf(values) {
  const sizes = Array.from(values, Math.abs).sort((a, b) => a - b);
  const [most, usual] = [sizes[sizes.length - 1], sizes[Math.floor(USUAL * (sizes.length - 1))]];
  return most > FAR * usual ? usual : most;
}

/**
 * @typedef {{ name: string; role: string; values: ArrayLike<number> }} Row
 * @param {string} label the key of the drawing's name
 */
export function createRows(label) {
  const canvas = h("canvas", { role: "img", "data-text-label": label });
  const paint = memo((/** @type {number} */ width, /** @type {Row[]} */ rows, _theme) => {
    const context = fit(canvas, width, rows.length * (NAME + HIGH + GAP) - GAP);
    const { colour, signed } = ink();
    rows.forEach(({ name, role, values }, i) => {
      const y = i * (NAME + HIGH + GAP);
      const limit = limitOf(values);
      write(context, name, 0, y + 15, { weight: 600, colour: colour(role) });
      const end = largest(values) > limit ? "≥ " : "";
      write(context, `${end}±${shown(limit, 3)}`, width, y + 15, { align: "right", colour: colour("muted") });
      const seen = poolColumns(values, Math.min(width, values.length)).map((at) => values[at]);
      const image = cells(seen, seen.length, 1, signed, (value) => centred(value, limit));
      enlarge(context, image, 0, y + NAME, width, HIGH);
    });
  });
  return { element: canvas, paint };
}
