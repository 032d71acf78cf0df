// Vectors as strips over one axis, each to its own scale of both signs; a row may stand as bars. A hover moves the mark
// alone.

import { largest, poolColumns } from "../arrays.js";
import { shown } from "../dom.js";
import { cells, centred, cross, enlarge, ink, inkOn, scaleBar, shade, write } from "../draw.js";
import { drawOff } from "../off.js";
import { createSurface } from "./surface.js";

/** Least width in pixels of a cell that has its number written in it. */
export const NUMBER = 66;
const SIGN = 9; // and of one that has its sign on paper, which may be printed without colour
const [BARS, AXIS, LEGEND] = [84, 24, 40];
const FRAME = 3; // px of a marked column's frame over the first strip, where no name stands above it
const [LESS, MORE] = [-0.6, 0.6]; // of the colours of both signs: what a bar below the line has, and one above it

/**
 * @typedef {{
 *   name: string;
 *   role: string;
 *   values: ArrayLike<number> | null;
 *   limit?: number;
 *   said?: string;
 *   apart?: boolean;
 *   bars?: boolean;
 *   off?: number[] | null;
 *   word?: string;
 * }} Strip
 *   `values`: null while they are on their way; `limit` of the colours, the largest of all values where none is
 *   named, so that they do not change with the zoom; `said` in its place; `apart`: each column shows this strip's
 *   own largest, not the one of the strip that leads; `off`: indices that nothing uses, null: all of them, with a
 *   `word`
 */

/**
 * @typedef {{
 *   columns: number[];
 *   left: number;
 *   wide: number;
 *   strip: number;
 *   label: number;
 *   beside: boolean;
 *   onPaper: boolean;
 * }} Place
 *   the index that each column shows, where the columns stand, how high a strip is, where its name is written, and
 *   whether a picture is to be printed
 */

/**
 * @param {{ bars?: boolean }} one
 * @param {number} strip
 */
const highOf = ({ bars }, strip) => (bars ? BARS : strip);

/**
 * The column that shows an index, or the one before it.
 *
 * @param {number[]} columns
 * @param {number} index
 */
const columnOf = (columns, index) => columns.reduce((best, there, i) => (there <= index ? i : best), 0);

/**
 * Values as bars up and down from a middle line: a sign has the colour that it has in the cells.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Place} place
 * @param {number[]} seen by column
 * @param {number} limit the magnitude of the highest bar
 * @param {number} y where the strip begins
 */
function drawBars(context, { left, wide }, seen, limit, y) {
  const { colour, signed } = ink();
  const [each, middle] = [wide / seen.length, y + BARS / 2];
  context.fillStyle = colour("grid");
  context.fillRect(left, middle - 0.5, wide, 1);
  const [less, more] = [LESS, MORE].map((value) => shade(signed, centred(value, 1)));
  seen.forEach((value, i) => {
    context.fillStyle = value < 0 ? less : more;
    const high = limit ? (value / limit) * (BARS / 2 - 2) : 0;
    context.fillRect(
      left + i * each + 0.5,
      middle - Math.max(high, 0),
      Math.max(1, each - 1),
      Math.max(1, Math.abs(high)),
    );
  });
}

/**
 * Values as coloured cells, with their numbers where there is room, or on paper their signs.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Place} place
 * @param {number[]} seen by column
 * @param {number} limit of the colours
 * @param {number} y where the strip begins
 */
function drawCells(context, { left, wide, strip, onPaper }, seen, limit, y) {
  const { colour, signed } = ink();
  enlarge(
    context,
    cells(seen, seen.length, 1, signed, (value) => centred(value, limit)),
    left,
    y,
    wide,
    strip,
  );
  context.strokeStyle = colour("line");
  context.lineWidth = 1;
  context.strokeRect(left + 0.5, y + 0.5, wide - 1, strip - 1);
  const each = wide / seen.length;
  const hasNumbers = each >= NUMBER;
  if (!hasNumbers && !(onPaper && each >= SIGN)) return;
  const signOf = (/** @type {number} */ value) => (value < 0 ? "−" : "+");
  seen.forEach((value, i) => {
    /** @type {Parameters<typeof write>[4]} */
    const how = { align: "center", base: "middle", colour: inkOn(signed, centred(value, limit)) };
    write(context, hasNumbers ? shown(value, 3) : signOf(value), left + (i + 0.5) * each, y + strip / 2 + 1, how);
  });
}

/**
 * Draws over what is not used.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Place} place
 * @param {Strip} strip
 * @param {number} y where the strip begins
 */
function drawUnused(context, { columns, left, wide, strip }, { off, word }, y) {
  if (off === null) return drawOff(context, left, y, wide, strip, word);
  const each = Math.max(3, wide / columns.length);
  for (const index of off ?? [])
    drawOff(context, left + ((columnOf(columns, index) + 0.5) * wide) / columns.length - each / 2, y, each, strip);
  return undefined;
}

/**
 * A strip with its name and what is said of it.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Place} place
 * @param {Strip} one
 * @param {number} y where the strip begins
 * @param {number} width of the canvas
 */
function drawStrip(context, place, one, y, width) {
  const { name, role, values } = one;
  const { columns, left, wide, beside, label, strip } = place;
  const { colour } = ink();
  const line = beside ? y + highOf(one, strip) / 2 : y - label + Math.round(label * 0.72);
  /** @type {Parameters<typeof write>[4]} */
  const how = beside ? { base: "middle" } : {};
  write(context, name, 0, line, { ...how, weight: 600, colour: colour(role), ...(beside ? { most: left - 6 } : {}) });
  if (!values) {
    context.fillStyle = colour("raised");
    return context.fillRect(left, y, wide, strip);
  }
  const { limit = largest(values), said = `±${shown(limit, 3)}` } = one;
  write(context, said, beside ? left + wide + 8 : width, line, {
    ...how,
    align: beside ? "left" : "right",
    colour: colour("muted"),
  });
  const seen = (one.apart ? poolColumns(values, Math.floor(wide)) : columns).map((i) => values[i]);
  if (one.bars) drawBars(context, place, seen, limit, y);
  else drawCells(context, place, seen, limit, y);
  return drawUnused(context, place, one, y);
}

/**
 * The indices under the strips: of each column where there is room, else of the first and the last.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Place} place
 * @param {number} y
 * @param {number | null} chosen the index that is marked
 */
function drawAxis(context, { columns, wide }, y, chosen) {
  const colour = ink().colour("muted");
  const each = wide / columns.length;
  /** @type {(index: number, x: number, how: Parameters<typeof write>[4]) => void} */
  const line = (index, x, how) => write(context, String(index), x, y + 14, { colour, ...how });
  if (each >= NUMBER)
    return columns.forEach((index, i) =>
      line(index, (i + 0.5) * each, { align: "center", weight: index === chosen ? 600 : 400 }),
    );
  line(columns[0], 0, {});
  return line(columns[columns.length - 1], wide, { align: "right" });
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {{
 *   beside?: boolean;
 *   label?: number;
 *   strip?: number;
 *   gap?: number;
 *   axis?: boolean;
 *   legend?: () => [number, string][];
 * }} [how]
 *   `beside`: names at the left, else above; `axis`: the indices below; `legend`: ticks of a scale below
 */
export function createStrips(canvas, { beside = false, label = 22, strip = 26, gap = 8, axis = false, legend } = {}) {
  const surface = createSurface(canvas);
  const above = beside ? 0 : label;
  /** @type {Place} */
  const place = { columns: [], left: 0, wide: 1, strip, label, beside, onPaper: false };

  /**
   * Where each strip begins, and where all end.
   *
   * @param {Strip[]} strips
   */
  function topsOf(strips) {
    let y = beside ? FRAME : 0;
    const tops = strips.map((one) => (y += above + highOf(one, strip) + gap) - highOf(one, strip) - gap);
    return { tops, foot: y, tall: y + (axis ? AXIS : 0) + (legend ? LEGEND : 0) };
  }

  /**
   * @param {number} width
   * @param {Strip[]} strips of one length
   * @param {{
   *   chosen: number | null;
   *   lead?: Pick<Strip, "values">;
   *   start?: number;
   *   count?: number;
   *   key?: unknown[];
   * }} view
   *   `chosen`: the index that is marked; `lead`: the strip whose largest value a column shows, the last unless told;
   *   of `count` values from `start` on
   */
  function draw(
    width,
    strips,
    { chosen, lead = strips[strips.length - 1], start = 0, count = lead.values?.length ?? 0, key = [] },
  ) {
    const { tops, foot, tall } = topsOf(strips);
    const [left, wide] = beside ? [62, Math.max(60, width - 146)] : [0, width];
    /** @type {number[]} */
    const led = Array.prototype.slice.call(lead.values ?? [], start, start + count);
    const columns = poolColumns(led, Math.floor(wide)).map((i) => i + start);
    const onPaper = document.body.hasAttribute("data-paper");
    Object.assign(place, { left, wide, columns, onPaper });
    const all = [onPaper, start, count, ...strips.flatMap(({ name, values, limit }) => [name, values, limit]), ...key];
    surface(
      all,
      width,
      tall,
      (context) => {
        strips.forEach((one, i) => drawStrip(context, place, one, tops[i], width));
        if (legend) scaleBar(context, 1, foot, Math.min(260, width - 4), ink().signed, legend());
      },
      (context) => {
        if (!columns.length) return;
        if (axis) drawAxis(context, place, foot, chosen);
        if (chosen === null || chosen < start || chosen >= start + count) return;
        const each = wide / columns.length;
        const size = Math.max(5, each);
        const x = Math.max(0, Math.min(wide - size, (columnOf(columns, chosen) + 0.5) * each - size / 2));
        strips.forEach((one, i) => cross(context, left + x, tops[i], size, highOf(one, strip)));
      },
    );
  }

  /**
   * The index under a point.
   *
   * @param {number} x
   * @returns {number | null}
   */
  function find(x) {
    const { columns, left, wide } = place;
    const column = Math.floor(((x - left) / wide) * columns.length);
    return column < 0 || column > columns.length ? null : (columns[Math.min(column, columns.length - 1)] ?? null);
  }
  /**
   * How many of the strips' values a column stands for.
   *
   * @param {number} count of the values
   */
  const perColumn = (count) => Number((count / place.columns.length).toFixed(1));
  return { draw, find, perColumn };
}
