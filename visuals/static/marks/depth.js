// A map of rows (places in the network, the first below) × tokens: colours, labels, scale. Of two runs it shows the
// change.

import { labelsOf } from "../characters.js";
import { largest, strongest, subtract } from "../arrays.js";
import { h, signed } from "../dom.js";
import { cells, cross, enlarge, ink, inkOn, penOf, roomToDraw, scaleBar, textWidth, visible, write } from "../draw.js";
import { drawOff } from "../off.js";
import { across, bindPointer, bindArrowKeys, upright } from "../pointing.js";
import { memo } from "../reads.js";
import { axisOf, drawAxis, drawChosenName } from "./axis-names.js";
import { besideOf, drawBeside, drawChosenRow, drawRows, leftOf, rowsNamed } from "./depth-names.js";
import { createMemory, newest } from "./runs.js";
import { signedScale } from "./scales.js";
import { createSurface } from "./surface.js";

const [RIGHT, TOP] = [8, 2];
const LEAST = 13; // px of a row whose word stands beside the map
const BELOW = 72; // axis title and scale, under the tokens' names
const [LOW, HIGH, BOX] = [17, 22, 640]; // px of a row with words, and of the box that they are to fit in (gp-scroll)
const WORDS = 84; // px of what is said above and under it, where the room is low
const LINE = 22; // the name of the scale above it
const LIFT = 20; // by which the scale is higher where the axis title has room at its left, and room is scarce
const ROOM_FOR_TEXT = 34; // narrower columns show their colour alone
const UP = 8; // px from what says where later layers lie to the axis title
const AROUND = 6; // px beside a cell's word

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
 *   whole?: boolean;
 *   off?: (run: Of) => [number, number][];
 *   left?: number;
 *   cell?: (rows: number) => number;
 *   first?: number;
 *   short?: (row: number, run: Of) => string;
 *   names?: (rows: number, cell: number, run: Of) => [string, number][];
 *   apart?: (run: Of, single: boolean) => number[];
 * }} What
 *   `values` rows × T, row 0 at the bottom; `scale` of one run, `change` the name of the scale of two, none unless
 *   told; `at`: the selected place, row −1 for none; `pick`: the selection that a place stands for, `keep` and
 *   `hover` what else a click keeps and the pointer shows; `word` writes into the cells, `whole`: in all of them or
 *   in none, as cut it would say something else; `off`: rows that nothing uses, as [first, count]; `second`: names
 *   for a second line below the tokens' own, "" where there is none; `first`: the row of layer 0's first sub-layer,
 *   0 unless told. Where not every row has room for its name, rows are named from there on, an even number apart:
 *   then maps of two rows a layer all name the attention; `short`: a row's name while it is not selected; `names`:
 *   what is written instead, and how many rows above the lowest; `apart`: tokens that the scale is not measured by,
 *   a run's sinks: they are drawn cut off at its ends, and a line below says how large they are. They count in a
 *   run all of whose tokens they are; `single`: whether one run is drawn, not B − A
 */

/**
 * A word in each cell.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Size} size
 * @param {Pick<Shown, "values" | "place" | "table">} shown
 * @param {(row: number, token: number) => string} word
 */
function drawWords(context, { column, cell, rows, left, top, tokens }, { values, place, table }, word) {
  const colours = ink()[table];
  for (let row = 0; row < rows; row++) {
    for (let t = 0; t < tokens; t++) {
      const value = values[row * tokens + t];
      const colour = Number.isNaN(value) ? ink().colour("muted") : inkOn(colours, place(value));
      const y = top + (rows - row - 0.5) * cell;
      write(context, word(row, t), left + (t + 0.5) * column, y, {
        align: "center",
        base: "middle",
        colour,
        most: column - AROUND,
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
function drawScale(context, size, { table, ticks, name }) {
  const { width, left, above, lift } = size;
  const bar = barOf(width, left);
  const [from, y] = [width - RIGHT - bar, footOf(size) + above + 32 - lift];
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
 *   top: number;
 *   rows: number;
 *   tokens: number;
 *   cell: number;
 *   column: number;
 *   high: number;
 *   written: boolean;
 *   axis: import("./axis-names.js").Axis;
 *   named: [string, number][];
 *   beside: import("./depth-names.js").Beside | null;
 *   above: number;
 *   lift: number;
 * }} Size
 *   in pixels to draw in; `written`: there is room for words in the cells; `named`: the rows that are named, with the
 *   heights to draw at; `beside`: the room of the words of the selected row and column, which stand beside a map
 *   whose cells have none; `above`: px of the scale's name, where it stands above the scale; `lift`: px by which
 *   the scale is higher, beside the axis title
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
  const [token, down] = [Math.floor((x - size.left) / size.column), Math.floor((y - size.top) / size.cell)];
  return token < 0 || token >= size.tokens || down < 0 || down >= size.rows
    ? null
    : { token, row: size.rows - 1 - down };
}

/**
 * Whether the cells have room for their words.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Shown["word"]} word
 * @param {Pick<Size, "rows" | "tokens" | "column">} size
 * @param {boolean} [whole] whether none of them may be cut
 */
function isWritten(context, word, { rows, tokens, column }, whole = false) {
  if (!word || column < ROOM_FOR_TEXT) return false;
  const words = whole ? Array.from({ length: rows * tokens }, (_, i) => word(Math.floor(i / tokens), i % tokens)) : [];
  return words.every((one) => textWidth(context, one) <= column - AROUND);
}

/**
 * Sizes for a width.
 *
 * @template {Run} Of
 * @param {CanvasRenderingContext2D} context
 * @param {What<Of>} what
 * @param {Shown} shown
 * @param {Of} run
 * @param {{ width: number; rowed: boolean }} how `rowed`: whether a row is selected, as in some maps none ever is
 * @returns {Size}
 */
function measure(context, what, shown, run, { width, rowed }) {
  const tokens = shown.pieces.length;
  const rows = shown.values.length / tokens;
  const { left: most, name } = what;
  const left = leftOf(
    context,
    Array.from({ length: rows }, (_, row) => name(row, run)), // each in full, as any may be selected
    most,
  );
  const room = width - left - RIGHT;
  const written = isWritten(context, shown.word, { rows, tokens, column: room / tokens }, what.whole);
  const pieces = shown.pieces.map(visible);
  const second = shown.second?.map(visible);
  const lines = axisOf(context, pieces, room / tokens, second).tall;
  const plain = what.cell?.(rows) ?? Math.max(6, Math.min(16, Math.floor(320 / rows)));
  const free = width - RIGHT - barOf(width, left) - 16;
  const above = textWidth(context, shown.name) > free ? LINE : 0;
  const abreast = left + textWidth(context, shown.title) + 16 + textWidth(context, shown.name) <= free;
  const lift = abreast && roomToDraw() < Infinity ? LIFT : 0;
  const fitting = Math.floor((Math.min(BOX, roomToDraw() - WORDS) - TOP - BELOW - lines) / rows);
  const unwritten = written || roomToDraw() < Infinity ? undefined : shown.word;
  const cell = written
    ? Math.max(LOW, Math.min(HIGH, fitting))
    : Math.min(
        unwritten ? Math.max(LEAST, plain) : plain,
        Math.max(4, Math.floor((roomToDraw() - BELOW - lines) / rows)),
      );
  const beside = unwritten ? besideOf(context, unwritten, { rows, tokens, cell, room }) : null;
  const column = (room - (beside?.wide ?? 0)) / tokens;
  const axis = axisOf(context, pieces, column, second);
  const top = TOP + (beside && rowed ? beside.above.tall : 0);
  const named = rowsNamed({ rows, cell, top }, what, run);
  const high = cell * rows;
  return { width, left, top, rows, tokens, cell, column, high, written, axis, named, beside, above, lift };
}

/** Where the tokens' names end. @param {Size} size */
const footOf = ({ top, high, axis }) => top + high + axis.tall;

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
 *   title: string;
 * }} Shown
 *   `read`: the values of each run; `values`: those that are drawn; `same`: whether all of them are 0; `title`: of
 *   the axis; the others as in What
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
 * @param {import("../types.d.ts").Glass} glass
 * @returns {Shown}
 */
function shownOf(what, runs, { state, text }) {
  const run = newest(runs);
  const single = runs.length === 1;
  const read = runs.map((one) => what.values(one, state));
  const values = single ? read[0] : subtract(read[1], read[0]);
  const pieces = what.pieces?.(run) ?? labelsOf(run.trace.tokens.pieces);
  const found = [...new Set(runs.flatMap((one) => what.apart?.(one, single) ?? []))];
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
    title: what.axis?.() ?? text("marks.tokens"),
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
 * @param {boolean} covered its values are not told yet
 * @param {import("../types.d.ts").Texts["text"]} text
 */
function drawGround(context, size, shown, what, covered, text) {
  const { values, table, place, word } = shown;
  const { tokens, rows, left, top, column, cell, high, axis, named } = size;
  if (covered) drawEmpty(context, size);
  else {
    const image = cells(flipped(values, rows, tokens), tokens, rows, ink()[table], place);
    enlarge(context, image, left, top, tokens * column, high);
    for (const [row, count] of shown.off)
      drawOff(context, left, top + (rows - row - count) * cell, tokens * column, count * cell, text("off.word"));
    if (word && size.written) drawWords(context, size, shown, word);
    drawScale(context, size, shown);
  }
  drawRows(context, named, left);
  drawAxis(context, axis, { left, y: top + high });
  const room = left + column * tokens - textWidth(context, shown.title);
  const [start, y, muted] = [Math.max(0, Math.min(left, room)), footOf(size) + 22, ink().colour("muted")];
  write(context, shown.title, start, y, { colour: muted });
  const up = text("marks.layers"); // in the story's table they go down
  if (textWidth(context, up) <= start - UP) write(context, up, start - UP, y, { align: "right", colour: muted });
}

/**
 * Cells that are to be guessed.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Size} size
 */
function drawEmpty(context, { tokens, rows, left, top, column, cell }) {
  context.fillStyle = ink().colour("line");
  for (let row = 0; row < rows; row++)
    for (let token = 0; token < tokens; token++)
      context.fillRect(left + token * column, top + row * cell, column - 1, cell - 1);
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
 * The frame around the selected cell, or around the token's column where no row is selected; and the names of both.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Size} size
 * @param {{ row: number; token: number; name: string; word?: (row: number, token: number) => string }} chosen
 *   `name`: of the row; `word`: what stands beside the map, if that is told
 */
function drawMark(context, size, { row, token, name, word }) {
  const { left, top, rows, column, cell, high, axis, named, beside } = size;
  if (beside && word) drawBeside(context, size, beside, { row, token, word });
  drawChosenName(context, axis, { left, y: top + high }, { t: token, role: "text" });
  const x = left + token * column;
  if (row >= 0) {
    drawChosenRow(context, named, { left, y: top + (rows - row - 0.5) * cell }, name);
    return cross(context, x, top + (rows - 1 - row) * cell, column, cell);
  }
  context.strokeStyle = ink().colour("muted");
  context.lineWidth = 1.5;
  return context.strokeRect(x, top, column, high);
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
  const hint = h("p.gp-note", { hidden: "" });
  const element = h("div", null, hint, h("div.gp-scroll", null, canvas), note);
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

  const make = memo((/** @type {number} */ width, /** @type {boolean} */ rowed, /** @type {Of[]} */ runs) => {
    const shown = shownOf(what, runs, glass);
    made = { shown, size: measure(penOf(canvas), what, shown, newest(runs), { width, rowed }) };
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
    const { row, token = state.query } = what.at(state, last);
    make(width, row >= 0, remembered(runs));
    if (!made) return;
    const { size, shown } = made;
    const covered = state.covered === true;
    const chosen = { row, token, name: row < 0 ? "" : what.name(row, last), word: covered ? undefined : shown.word };
    surface(
      [shown, covered],
      width,
      footOf(size) + size.above - size.lift + BELOW,
      (context) => drawGround(context, size, shown, what, covered, glass.text),
      (context) => drawMark(context, size, chosen),
    );
    hint.textContent = size.beside ? glass.text(row < 0 ? "marks.beside_column" : "marks.beside") : "";
    hint.hidden = !size.beside;
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
