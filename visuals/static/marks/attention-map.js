// One map of queries × keys on a canvas: cells, the masked half hatched, the words of the text at rows and columns,
// marks at the query's row and the key's column, and a scale. Of two runs it shows the change.

import { largest } from "../arrays.js";
import { h } from "../dom.js";
import { hatch, ink, penOf, roomToDraw, scaleBar, write } from "../draw.js";
import { drawOff } from "../off.js";
import { OVER_CELLS, bindPointer, bindArrowKeys } from "../pointing.js";
import { makeMap } from "./attention-values.js";
import { drawChosen, drawNames, heightOf, LEFT, LOW, namesAll, roomFor } from "./cell-names.js";
import { blockFor, cellUnder, drawBlank, drawMap, markCell } from "./cells.js";
import { newest } from "./runs.js";
import { rootScale, signedScale, WEIGHTS } from "./scales.js";
import { createSurface } from "./surface.js";

const [BELOW, LEAST, MOST] = [56, 120, 420]; // px
const [FOOT, SCALE] = [14, 180]; // px below a map, and beside it, whose scale stands there, as the room is low
const BUDGET = 3; // ms of a frame
const KEPT = 24; // maps that are kept

/**
 * @typedef {import("./attention-values.js").CellMap} CellMap
 *
 * @typedef {import("./attention-values.js").Reader} Reader
 *
 * @typedef {import("./scales.js").Scale} Scale
 */
/** @type {{ key: unknown[]; map: CellMap }[]} the maps that were looked at last */
const recent = [];

/**
 * The map that was made for this key, else a new one.
 *
 * @param {unknown[]} key
 * @param {() => Reader[]} readers
 * @param {number} block cells to a side of what one dot stands for
 * @returns {CellMap}
 */
export function mapFor(key, readers, block) {
  const all = [block, ...key];
  const at = recent.findIndex((one) => one.key.length === all.length && one.key.every((value, i) => value === all[i]));
  const [found] = at < 0 ? [{ key: all, map: makeMap(readers(), block) }] : recent.splice(at, 1);
  recent.push(found);
  if (recent.length > KEPT) recent.shift();
  return found.map;
}

/** @type {WeakMap<CellMap, { first: CellMap; made: CellMap }>} the last change to each map */
const changes = new WeakMap();

/**
 * What a complete map has more than another; null where a dot stands for several cells: the largest change is
 * another than that of the largest.
 *
 * @param {CellMap} map
 * @param {CellMap} first
 * @returns {CellMap | null}
 */
function mapApart(map, first) {
  if (map.block > 1) return null;
  let change = changes.get(map);
  if (change?.first !== first) {
    const values = map.values.map((value, i) => value - first.values[i]);
    change = { first, made: { ...map, values, limit: largest(values) } };
    changes.set(map, change);
  }
  return change.made;
}

/**
 * The scale of a map's colours.
 *
 * @param {CellMap | null} shown
 * @param {string} view
 * @param {boolean} single whether it is of one run, not of two
 */
function scaleOf(shown, view, single) {
  const limit = shown?.limit || 1;
  if (single && view === "weights") return WEIGHTS;
  return single && view === "weighted" ? rootScale(limit) : signedScale(limit);
}

/**
 * The side of a map under words so tall. A panel that is being put on a stage is narrower than them for a moment.
 *
 * @param {number} width px
 * @param {number} room px for the map and the words
 * @returns {(above: number) => number}
 */
const sizeIn = (width, room) => (above) => Math.max(1, Math.min(width, MOST, Math.max(LEAST, room - above)));

/**
 * @template Of
 * @typedef {{
 *   label: string;
 *   view?: () => string;
 *   read: (run: Of, view: string) => Reader | null;
 *   on: (run: Of, view: string) => unknown[];
 *   off?: (run: Of) => boolean;
 *   pieces?: (run: Of) => string[];
 *   between?: { map: () => CellMap | null }[];
 * }} What
 *   `label`: the key of its name; `view`: which scale, weights unless told; `read`: null while something is missing;
 *   `on`: what the map of a run is known by; `off`: whether nothing uses it; `pieces`: the words at its rows and
 *   columns, the shown run's unless told; `between`: two maps that were drawn before this, which shows what the
 *   first has more than the second
 */
/**
 * @template Of what is drawn of a run
 * @param {import("../types.d.ts").Glass} glass
 * @param {What<Of>} what
 */
export function createMap(glass, what) {
  const { state } = glass;
  const canvas = h("canvas.gp-canvas", { "data-text-label": what.label });
  const surface = createSurface(canvas);
  const place = { x: LEFT, y: LOW, size: 0, beside: 0 };
  /** @type {(x: number, y: number) => { query: number; key: number } | null} */
  const find = (x, y) => state.trace && cellUnder(place, state.trace, x, y);
  bindPointer(canvas, glass, find);
  bindArrowKeys(canvas, glass, OVER_CELLS);
  /** @type {CellMap | null} null until it is drawn, and while something of it is missing */
  let map = null;

  /**
   * The map with its scale; the word for "coming" in its place.
   *
   * @param {CanvasRenderingContext2D} context
   * @param {Scale} scale
   * @param {CellMap | null} shown
   * @param {boolean} off whether nothing uses it
   * @param {string[]} pieces
   */
  function drawGround(context, scale, shown, off, pieces) {
    const { colour } = ink();
    const { x, y, size, beside } = place;
    if (!shown) {
      context.fillStyle = colour("raised");
      context.fillRect(x, y, size, size);
      return write(context, glass.text("marks.coming"), x + size / 2, y + size / 2, {
        align: "center",
        colour: colour("muted"),
        most: size,
      });
    }
    drawNames(context, place, pieces);
    if (state.covered && state.trace) return drawBlank(context, state.trace, place);
    hatch(context, x, y, size, size);
    drawMap(context, shown, place, scale, shown.limit || 1);
    if (off) drawOff(context, x, y, size, size, glass.text("off.word"));
    const [from, top, long] = beside ? [x + size + 24, y + size - 34, SCALE - 48] : [x, y + size + 18, size - 1];
    return scaleBar(context, from, top, long, ink()[scale.table], scale.ticks);
  }

  /**
   * The map of these runs; null while something of it is missing.
   *
   * @param {Of[]} runs
   * @param {string} view
   * @param {number} block
   */
  function mapOf(runs, view, block) {
    const readers = runs.map((run) => what.read(run, view)).filter((reader) => reader !== null);
    if (readers.length < runs.length) return null;
    return mapFor([view, ...runs.flatMap((run) => what.on(run, view))], () => readers, block);
  }

  /**
   * Makes the map, or takes what the two of `between` differ by.
   *
   * @param {Of[]} runs
   * @param {string} view
   * @param {number} block
   * @returns {boolean} whether it waits for these two, with which it comes
   */
  function make(runs, view, block) {
    map = mapOf(runs, view, block);
    if (!what.between) return false;
    const [own, other] = what.between.map((one) => one.map());
    if (!own?.done || !other?.done) return map?.block === 1;
    if (map) map = mapApart(own, other) ?? map;
    return false;
  }

  /**
   * @param {Of[]} runs one, or A and B
   * @param {number} width
   * @param {number} [end] the time until which it may go on
   * @returns {boolean} whether the map is complete, or nothing of it can be made
   */
  function draw(runs, width, end = performance.now() + BUDGET) {
    const { trace } = state;
    if (!trace) return true;
    place.beside = roomToDraw() < Infinity && width > LEFT + LEAST + SCALE ? SCALE : 0;
    const below = place.beside ? FOOT : BELOW;
    const room = Math.floor(roomToDraw()) - below;
    const pieces = what.pieces?.(newest(runs)) ?? trace.tokens.pieces;
    const sizeUnder = sizeIn(width - LEFT - place.beside - 2, room);
    const above = heightOf(roomFor(penOf(canvas), pieces), sizeUnder, pieces);
    place.y = room - above < LEAST ? LOW : Math.max(LOW + 1, above);
    place.size = sizeUnder(place.y);
    canvas.toggleAttribute("data-crowded", state.presenting === true && !namesAll(place.size / trace.T, pieces));
    const view = what.view?.() ?? "weights";
    const single = runs.length === 1;
    const waits = make(runs, view, blockFor(trace.T, place.size));
    const done = !map || map.done || (!waits && map.work(end));
    const shown = done ? map : null;
    const scale = scaleOf(shown, view, single);
    const off = single && Boolean(what.off?.(runs[0]));
    surface(
      [shown, view, off, pieces, state.covered],
      place.size + LEFT + place.beside + 2,
      place.size + place.y + below,
      (context) => drawGround(context, scale, shown, off, pieces),
      (context) => {
        if (state.covered) return;
        drawChosen(context, place, { query: state.query, key: state.key, pieces });
        markCell(context, place, { query: state.query, key: state.key, trace }, 8);
      },
    );
    return done;
  }
  /** Cells to a side of what one dot stands for. */
  const block = () => map?.block ?? 1;
  const same = () => map !== null && map.done && map.limit === 0;
  const limit = () => (map?.done ? map.limit : 0);
  const rows = () => (map?.done ? map.rows() : []);
  return { element: canvas, draw, block, same, limit, map: () => map, rows };
}
