// Vectors of one head as strips over its dimensions, and bars for what they give: q, k and their products; v and the output.

import { poolColumns } from "../../compute.js";
import { shown } from "../../dom.js";
import { centred, cross, fit, ink, shade, write } from "../../draw.js";

const [STRIP, GAP, BARS, LABEL, VALUE] = [22, 6, 84, 62, 84];

export const largest = (values) => values.reduce((most, x) => Math.max(most, Math.abs(x)), 0);

/** @typedef {{ name: string, role: string, values: ArrayLike<number>, bars?: boolean, limit?: number }} Row */

/** @param {Row[]} rows */
const heightOf = (rows) => rows.reduce((sum, { bars }) => sum + (bars ? BARS : STRIP) + GAP, 0);

/** Where the strips start and end, for a width. */
const extent = (width) => ({ left: LABEL, wide: Math.max(60, width - LABEL - VALUE) });

/** @param {HTMLCanvasElement} canvas */
export function createStrips(canvas) {
  let last = { width: 1, count: 1 };

  function drawStrip(context, { values, limit }, { left, wide }, y, columns) {
    const each = wide / columns.length;
    columns.forEach((i, column) => {
      context.fillStyle = shade(ink().signed, centred(values[i], limit));
      context.fillRect(left + column * each, y, each + 0.5, STRIP);
    });
    context.strokeStyle = ink().colour("line");
    context.lineWidth = 1;
    context.strokeRect(left + 0.5, y + 0.5, wide - 1, STRIP - 1);
  }

  function drawBars(context, { values, limit, role }, { left, wide }, y, columns) {
    const { colour } = ink();
    const [each, middle] = [wide / columns.length, y + BARS / 2];
    context.fillStyle = colour("grid");
    context.fillRect(left, middle - 0.5, wide, 1);
    context.fillStyle = colour(role);
    columns.forEach((i, column) => {
      const high = limit ? (values[i] / limit) * (BARS / 2 - 2) : 0;
      context.fillRect(
        left + column * each + 0.5,
        middle - Math.max(high, 0),
        Math.max(1, each - 1),
        Math.max(1, Math.abs(high)),
      );
    });
  }

  /** @param {Row[]} rows of one length; the last with bars @param {number|null} chosen the dimension that is marked */
  function draw(width, rows, chosen) {
    const context = fit(canvas, width, heightOf(rows));
    const place = extent(width);
    const { colour } = ink();
    const { length } = rows[0].values;
    const columns = poolColumns(rows.at(-1).values, Math.floor(place.wide));
    last = { width, count: length };
    let y = 0;
    for (const given of rows) {
      const row = { ...given, limit: given.limit ?? largest(given.values) };
      const high = row.bars ? BARS : STRIP;
      (row.bars ? drawBars : drawStrip)(context, row, place, y, columns);
      write(context, row.name, 0, y + high / 2, {
        base: "middle",
        weight: 600,
        colour: colour(row.role),
        most: LABEL - 6,
      });
      write(context, `±${shown(row.limit, 3)}`, place.left + place.wide + 8, y + high / 2, {
        base: "middle",
        colour: colour("muted"),
      });
      if (chosen !== null && chosen < length) {
        const each = place.wide / length;
        cross(context, place.left + chosen * each, y + 1, Math.max(2, each), high - 2);
      }
      y += high + GAP;
    }
  }

  /** The dimension under a point, or null. */
  function find(x) {
    const { left, wide } = extent(last.width);
    const i = Math.floor(((x - left) / wide) * last.count);
    return i >= 0 && i < last.count ? i : null;
  }
  return { draw, find };
}
