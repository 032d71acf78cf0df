// The matrices of a feed-forward side by side, d high and as wide as they are: two of 4d and three of ⅔·4d are as long.

import { fit, ink, write } from "../../draw.js";

const [TITLE, BAR, GAP] = [22, 34, 14];

/** @typedef {{ title: string; parts: { name: string; width: number; role: string }[] }} Row */

/**
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {Row[]} rows
 */
export function drawMatrices(canvas, width, rows) {
  const context = fit(canvas, width, rows.length * (TITLE + BAR + GAP));
  const { colour } = ink();
  const most = Math.max(...rows.map(({ parts }) => parts.reduce((sum, part) => sum + part.width, 0)));
  rows.forEach(({ title, parts }, i) => {
    const top = i * (TITLE + BAR + GAP);
    write(context, title, 0, top + 15, { weight: 600, most: width });
    let x = 0;
    for (const { name, width: columns, role } of parts) {
      const wide = (columns / most) * width;
      context.fillStyle = colour(role);
      context.fillRect(x, top + TITLE, Math.max(1, wide - 2), BAR);
      write(context, name, x + 8, top + TITLE + BAR / 2, {
        base: "middle",
        colour: colour("card"),
        weight: 600,
        most: wide - 14,
      });
      x += wide;
    }
  });
}
