// The matrices of a feed-forward side by side, d high and as wide as they are: two of 4d and three of ⅔·4d are as long.

import { fit, ink, penOf, textWidth, write } from "../../draw.js";

const [LINE, BAR, GAP] = [22, 34, 14];
const BOLD = 1.12; // how much wider a title is than the same text in the usual weight

/** @typedef {{ title: string; parts: { name: string; width: number; role: string }[] }} Row */

/**
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {Row[]} rows
 */
export function drawMatrices(canvas, width, rows) {
  const isLong = rows.some(({ title }) => BOLD * textWidth(penOf(canvas), title) > width);
  const titles = rows.map(({ title }) => (isLong ? title.split(/(?<=[:：]) ?/) : [title])); // what it is, its numbers
  const high = LINE * Math.max(...titles.map((lines) => lines.length));
  const context = fit(canvas, width, rows.length * (high + BAR + GAP));
  const { colour } = ink();
  const most = Math.max(...rows.map(({ parts }) => parts.reduce((sum, part) => sum + part.width, 0)));
  rows.forEach(({ parts }, i) => {
    const top = i * (high + BAR + GAP);
    titles[i].forEach((line, at) => write(context, line, 0, top + 15 + at * LINE, { weight: 600, most: width }));
    let x = 0;
    for (const { name, width: columns, role } of parts) {
      const wide = (columns / most) * width;
      context.fillStyle = colour(role);
      context.fillRect(x, top + high, Math.max(1, wide - 2), BAR);
      write(context, name, x + 8, top + high + BAR / 2, {
        base: "middle",
        colour: colour("card"),
        weight: 600,
        most: wide - 14,
      });
      x += wide;
    }
  });
}
