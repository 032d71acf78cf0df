// A map of rows (places in the network, the first below) × tokens: colours, labels, scale. Of two runs it shows the
// change.

import { labelsOf } from "../characters.js";
import { largest, strongest, subtract } from "../arrays.js";
import { h, signed } from "../dom.js";
import { cells, cross, enlarge, ink, inkOn, penOf, roomToDraw, scaleBar, textWidth, visible, write } from "../draw.js";
import { drawOff } from "../off.js";
import { across, bindPointer, bindArrowKeys, upright } from "../pointing.js";
import { memo } from "../reads.js";
import { createMemory, newest } from "./runs.js";
import { signedScale } from "./scales.js";
import { createSurface } from "./surface.js";

const [RIGHT, TOP] = [8, 2];
const BELOW = 92; // token labels, axis title and scale
const [LOW, HIGH, BOX] = [17, 22, 640]; // px of a row with words, and of the box that they are to fit in (gp-scroll)
const WORDS = 84; // px of what is said above and under it, where the room is low
const LINE = 22; // a second line of token labels
const LABEL = 14; // height of a row's name
const ROOM_FOR_TEXT = 34; // narrower columns show their colour alone

/**
 * @typedef {{ row: number; token: number }} Place
 *
 * @typedef {import("./runs.js").Run} Run
 *
 * @typedef {import("../store.js").State} State
 *
 * @typedef {import("./scales.js").Scale & { name: string }} NamedScale
 */
/**
 * @template {Run} Of
 * @typedef {{
 *   label: string;
 *   values: (run: Of, state: State) => ArrayLike<number>;
 *   scale: (values: ArrayLike<number>, run: Of) => NamedScale;
 *   change?: () => string;
 *   name: (row: number, run: Of) => string;
 *   at: (state: State, run: Of) => { row: number; token?: number };
 *   pick: (place: Place, state: State, run: Of) => Partial<import("../selection.js").Selection> | null;
 *   keep?: (place: Place, run: Of) => void;
 *   hover?: (place: Place | null, run: Of) => void;
 *   moves?: Parameters<typeof bindArrowKeys>[2];
 *   pieces?: (run: Of) => string[];
 *   second?: (run: Of) => string[] | null;
 *   axis?: () => string;
 *   word?: (run: Of) => (row: number, token: number) => string;
 *   off?: (run: Of) => [number, number][];
 *   left?: number;
 *   cell?: (rows: number) => number;
 *   first?: number;
 *   names?: (rows: number, cell: number, run: Of) => [string, number][];
 *   apart?: (run: Of) => number[];
 * }} What
 *   `values` rows × T, row 0 at the bottom; `scale` of one run, `change` the name of the scale of two, none unless
 *   told; `at`: the selected place, row −1 for none; `pick`: the selection that a place stands for, `keep` and
 *   `hover` what else a click keeps and the pointer shows; `word` writes into the cells; `off`: rows that nothing
 *   uses, as [first, count]; `second`: names for a second line below the tokens' own, "" where there is none;
 *   `first`: the row of layer 0's first sub-layer, 0 unless told. Where not every row has room for its name, rows
 *   are named from there on, an even number apart: then maps of two rows a layer all name the attention; `names`:
 *   what is written instead, and how many rows above the lowest; `apart`: tokens that the scale is not measured by,
 *   a run's sinks: they are drawn cut off at its ends, and a line below says how large they are. They count in a
 *   run all of whose tokens they are
 */

/**
 * The rows that are named, for their height in pixels to draw in: all, or row 0 and some from `first` on.
 *
 * @param {number} rows how many
 * @param {number} cell height of each
 * @param {number} [first]
 * @returns {number[]}
 */
export function namedRows(rows, cell, first = 0) {
  const all = Array.from({ length: rows }, (_, row) => row);
  if (cell >= LABEL) return all;
  const every = 2 * Math.ceil(LABEL / (2 * cell));
  return all.filter((row) => row === 0 || (row * cell >= LABEL && row >= first && (row - first) % every === 0));
}

/**
 * Names, in any order, with the heights to draw at, from the lowest up: the highest is kept inside the canvas, and
 * one that it would touch then is left out.
 *
 * @param {[string, number][]} named names, and how many rows above the lowest they stand
 * @param {number} rows
 * @param {number} cell height of each
 * @returns {[string, number][]}
 */
export const placedNames = (named, rows, cell) =>
  [...named]
    .sort(([, a], [, b]) => a - b)
    .map(([words, high]) => /** @type {[string, number]} */ ([words, Math.max(TOP + (rows - high) * cell, 9)]))
    .filter(([, y], i, all) => i + 1 === all.length || y - all[i + 1][1] >= LABEL);

/**
 * The rows' names, at the left.
 *
 * @template {Run} Of
 * @param {CanvasRenderingContext2D} context
 * @param {Pick<Size, "cell" | "rows" | "left">} size
 * @param {What<Of>} what
 * @param {Of} run
 */
function drawRowLabels(context, { cell, rows, left }, { name, first, names }, run) {
  /** @type {Parameters<typeof write>[4]} */
  const how = { align: "right", base: "middle", colour: ink().colour("muted"), most: left - 12 };
  /** @param {number} row */
  const nameAt = (row) => /** @type {[string, number]} */ ([name(row, run), row + 0.5]);
  const named = names?.(rows, cell, run) ?? namedRows(rows, cell, first).map(nameAt);
  for (const [words, y] of placedNames(named, rows, cell)) write(context, words, left - 8, y, how);
}

/**
 * The tokens' names below, and what the axis is.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Size} size
 * @param {string[]} pieces
 * @param {string} axis
 * @param {string[] | null | undefined} second
 */
function drawTokenLabels(context, { column, high, left, lines }, pieces, axis, second) {
  const colour = ink().colour("muted");
  const apart = Math.ceil(46 / column);
  for (let t = 0; t < pieces.length; t += apart) {
    /** @type {Parameters<typeof write>[4]} */
    const how = { align: "center", most: apart * column - 6, colour };
    write(context, visible(pieces[t]), left + (t + 0.5) * column, high + 20, how);
    if (second) write(context, visible(second[t]), left + (t + 0.5) * column, high + 20 + LINE, how);
  }
  const room = left + column * pieces.length - textWidth(context, axis);
  write(context, axis, Math.max(0, Math.min(left, room)), high + lines + 44, { colour });
}

/**
 * A word in each cell.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Size} size
 * @param {Pick<Shown, "values" | "place" | "table">} shown
 * @param {(row: number, token: number) => string} word
 */
function drawWords(context, { column, cell, rows, left, tokens }, { values, place, table }, word) {
  const colours = ink()[table];
  for (let row = 0; row < rows; row++) {
    for (let t = 0; t < tokens; t++) {
      const colour = inkOn(colours, place(values[row * tokens + t]));
      const y = TOP + (rows - row - 0.5) * cell;
      write(context, word(row, t), left + (t + 0.5) * column, y, {
        align: "center",
        base: "middle",
        colour,
        most: column - 6,
      });
    }
  }
}

/**
 * How wide the scale is.
 *
 * @param {number} width of the canvas
 * @param {number} left
 */
const barOf = (width, left) => Math.min(320, width - left - 24);

/**
 * The colours with their name: at the left, or above them where it would be cut there.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Size} size
 * @param {NamedScale} scale
 */
function drawScale(context, { width, left, high, lines, above }, { table, ticks, name }) {
  const bar = barOf(width, left);
  const [from, y] = [width - RIGHT - bar, high + lines + above + 52];
  scaleBar(context, from, y, bar, ink()[table], ticks);
  const [x, base] = above ? [width - RIGHT, y - 8] : [from - 8, y + 10];
  write(context, name, x, base, { align: "right", colour: ink().colour("muted"), most: x - 8 });
}

/**
 * The values upside down, as cells are drawn from the top.
 *
 * @param {ArrayLike<number>} values rows × tokens
 * @param {number} rows
 * @param {number} tokens
 */
function flipped(values, rows, tokens) {
  return Float64Array.from(
    { length: rows * tokens },
    (_, i) => values[(rows - 1 - Math.floor(i / tokens)) * tokens + (i % tokens)],
  );
}

/**
 * @typedef {{
 *   width: number;
 *   left: number;
 *   rows: number;
 *   tokens: number;
 *   cell: number;
 *   column: number;
 *   high: number;
 *   written: boolean;
 *   lines: number;
 *   above: number;
 * }} Size
 *   in pixels to draw in; `written`: there is room for words in the cells
 */

/**
 * What is under a point.
 *
 * @param {Size} size
 * @param {number} x
 * @param {number} y
 * @returns {Place | null}
 */
function placeAt(size, x, y) {
  const [token, down] = [Math.floor((x - size.left) / size.column), Math.floor((y - TOP) / size.cell)];
  return token < 0 || token >= size.tokens || down < 0 || down >= size.rows
    ? null
    : { token, row: size.rows - 1 - down };
}

/**
 * Sizes for a width.
 *
 * @template {Run} Of
 * @param {CanvasRenderingContext2D} context
 * @param {What<Of>} what
 * @param {Shown} shown
 * @param {number} width
 * @returns {Size}
 */
function measure(context, what, shown, width) {
  const { left = 112 } = what;
  const tokens = shown.pieces.length;
  const rows = shown.values.length / tokens;
  const column = (width - left - RIGHT) / tokens;
  const written = Boolean(shown.word) && column >= ROOM_FOR_TEXT;
  const lines = shown.second ? LINE : 0;
  const plain = what.cell?.(rows) ?? Math.max(6, Math.min(16, Math.floor(320 / rows)));
  const fitting = Math.floor((Math.min(BOX, roomToDraw() - WORDS) - TOP - BELOW - lines) / rows);
  const cell = written
    ? Math.max(LOW, Math.min(HIGH, fitting))
    : Math.min(plain, Math.max(4, Math.floor((roomToDraw() - BELOW - lines) / rows)));
  const beside = width - RIGHT - barOf(width, left) - 16;
  const above = textWidth(context, shown.name) > beside ? LINE : 0;
  return { width, left, rows, tokens, cell, column, high: cell * rows, written, lines, above };
}

/**
 * @typedef {NamedScale & {
 *   read: ArrayLike<number>[];
 *   values: ArrayLike<number>;
 *   pieces: string[];
 *   word?: (row: number, token: number) => string;
 *   off: [number, number][];
 *   second?: string[] | null;
 *   same: boolean;
 *   apart: number[];
 * }} Shown
 *   `read`: the values of each run; `values`: those that are drawn; `same`: whether all of them are 0; the others as
 *   in What
 */
/**
 * The values of all tokens but those that stand apart.
 *
 * @param {ArrayLike<number>} values rows × tokens
 * @param {number} tokens
 * @param {number[]} apart
 * @returns {ArrayLike<number>}
 */
export const without = (values, tokens, apart) =>
  apart.length ? Array.prototype.filter.call(values, (_, i) => !apart.includes(i % tokens)) : values;

/**
 * What is drawn of one run, or of A and B, and what was read for it.
 *
 * @template {Run} Of
 * @param {What<Of>} what
 * @param {Of[]} runs
 * @param {State} state
 * @returns {Shown}
 */
function shownOf(what, runs, state) {
  const run = newest(runs);
  const single = runs.length === 1;
  const read = runs.map((one) => what.values(one, state));
  const values = single ? read[0] : subtract(read[1], read[0]);
  const pieces = what.pieces?.(run) ?? labelsOf(run.trace.tokens.pieces);
  const found = [...new Set(runs.flatMap((one) => what.apart?.(one) ?? []))];
  const apart = found.length < pieces.length ? found : [];
  const scaled = without(values, pieces.length, apart);
  const scale = single ? what.scale(scaled, run) : { ...signedScale(largest(scaled)), name: what.change?.() ?? "" };
  return {
    read,
    values,
    pieces,
    apart,
    ...scale,
    word: single ? what.word?.(run) : undefined,
    off: (single && what.off?.(run)) || [],
    second: what.second?.(run),
    same: Array.prototype.every.call(
      values,
      (value, i) => value === 0 || (Number.isNaN(value) && read.every((one) => Number.isNaN(one[i]))),
    ),
  };
}

/**
 * All but the mark of the selected place.
 *
 * @template {Run} Of
 * @param {CanvasRenderingContext2D} context
 * @param {Size} size
 * @param {Shown} shown
 * @param {What<Of>} what
 * @param {{ run: Of; covered: boolean }} of `covered`: its values are not told yet
 * @param {import("../types.d.ts").Texts["text"]} text
 */
function drawGround(context, size, shown, what, { run, covered }, text) {
  const { values, table, place, pieces, word, second } = shown;
  const { tokens, rows, left, column, cell, high } = size;
  if (covered) drawEmpty(context, size);
  else {
    const image = cells(flipped(values, rows, tokens), tokens, rows, ink()[table], place);
    enlarge(context, image, left, TOP, tokens * column, high);
    for (const [row, count] of shown.off)
      drawOff(context, left, TOP + (rows - row - count) * cell, tokens * column, count * cell, text("off.word"));
    if (word && size.written) drawWords(context, size, shown, word);
    drawScale(context, size, shown);
  }
  drawRowLabels(context, size, what, run);
  drawTokenLabels(context, size, pieces, what.axis?.() ?? text("marks.tokens"), second);
}

/**
 * Cells that are to be guessed.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Size} size
 */
function drawEmpty(context, { tokens, rows, left, column, cell }) {
  context.fillStyle = ink().colour("line");
  for (let row = 0; row < rows; row++)
    for (let token = 0; token < tokens; token++)
      context.fillRect(left + token * column, TOP + row * cell, column - 1, cell - 1);
}

/**
 * What is said of the tokens that stand apart.
 *
 * @param {Shown} shown
 * @param {import("../types.d.ts").Texts["text"]} text
 */
function apartText({ values, pieces, apart }, text) {
  const sizes = apart.map((token) => {
    const column = Array.prototype.filter.call(values, (_, i) => i % pieces.length === token);
    const value = signed(column[strongest(column, 1)[0]], 3);
    return text("marks.apart_token", { token, piece: visible(pieces[token]), value });
  });
  return sizes.length ? text("marks.apart", { tokens: sizes.join(text("why.list")), count: sizes.length }) : "";
}

/**
 * The frame around the selected cell, or around the token's column where no row is selected.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Size} size
 * @param {{ row: number; token?: number }} place
 * @param {number} query the selected token
 */
function drawMark(context, size, { row, token: own }, query) {
  const token = own ?? query;
  const x = size.left + token * size.column;
  if (row >= 0) return cross(context, x, TOP + (size.rows - 1 - row) * size.cell, size.column, size.cell);
  context.strokeStyle = ink().colour("muted");
  context.lineWidth = 1.5;
  return context.strokeRect(x, TOP, size.column, size.high);
}

/**
 * @template {Run} Of
 * @param {import("../types.d.ts").Glass} glass
 * @param {What<Of>} what
 */
export function createDepthMap(glass, what) {
  const { state } = glass;
  const canvas = h("canvas.gp-canvas", { "data-text-label": what.label });
  const note = h("p.gp-note.gp-apart", { hidden: "" });
  const element = h("div", null, h("div.gp-scroll", null, canvas), note);
  const surface = createSurface(canvas);
  /** @type {(runs: Of[]) => Of[]} */
  const remembered = createMemory();
  /** @type {{ size: Size; shown: Shown } | null} null until it is drawn */
  let made = null;
  /** @type {Of | null} the last run */
  let run = null;
  /** @type {Place | null} what the pointer is on */
  let under = null;

  // Before bindPointer's own listener, which draws.
  canvas.addEventListener("pointerleave", () => {
    under = null;
    if (run) what.hover?.(under, run);
  });
  bindPointer(canvas, glass, (/** @type {number} */ x, /** @type {number} */ y) => {
    if (!made || !run) return null;
    under = placeAt(made.size, x, y);
    what.hover?.(under, run);
    return under && what.pick(under, state, run);
  });
  canvas.addEventListener("click", () => {
    if (under && run) what.keep?.(under, run);
  });
  bindArrowKeys(canvas, glass, { ...across("query"), ...(what.moves ?? upright("layer", 1)) });

  const make = memo((/** @type {number} */ width, /** @type {Of[]} */ runs) => {
    const shown = shownOf(what, runs, state);
    made = { shown, size: measure(penOf(canvas), what, shown, width) };
  });

  /**
   * The map is drawn once for what it shows; a hover moves the frame around one cell.
   *
   * @param {Of[]} runs one, or A and B
   * @param {number} width
   * @param {boolean} [fresh] whether the run is another
   */
  function draw(runs, width, fresh) {
    const last = newest(runs);
    run = last;
    if (fresh) what.hover?.((under = null), last);
    make(width, remembered(runs));
    if (!made) return;
    const { size, shown } = made;
    const covered = state.covered === true;
    surface(
      [shown, covered],
      width,
      size.high + size.lines + size.above + BELOW,
      (context) => drawGround(context, size, shown, what, { run: last, covered }, glass.text),
      (context) => drawMark(context, size, what.at(state, last), state.query),
    );
    note.textContent = apartText(shown, glass.text);
    note.hidden = !note.textContent;
  }
  /** Whether two runs show no difference: a value that only one of them has is one, too. */
  const same = () => Boolean(made?.shown.same);
  /**
   * Row, token and the value in each run.
   *
   * @returns {[number, number, ...number[]][]} none until it is drawn
   */
  function rows() {
    if (!made) return [];
    const { tokens } = made.size;
    const { read, values } = made.shown;
    return Array.from(values, (_, i) => [Math.floor(i / tokens), i % tokens, ...read.map((one) => one[i])]);
  }
  /** @type {(row: number) => string} */
  const name = (row) => (run ? what.name(row, run) : "");
  /** Whether the cells have room for words. */
  const written = () => Boolean(made?.size.written);
  return { element, canvas, draw, same, rows, name, written };
}
