// One map of queries × keys on a canvas: cells, the masked half hatched, marks at the query's row and the key's column,
// and a scale. Of two runs it shows the change.

import { largest } from "../arrays.js";
import { h } from "../dom.js";
import { hatch, ink, roomToDraw, scaleBar, write } from "../draw.js";
import { drawOff } from "../off.js";
import { OVER_CELLS, bindPointer, bindArrowKeys } from "../pointing.js";
import { makeMap } from "./attention-values.js";
import { blockFor, cellUnder, drawMap, markCell } from "./cells.js";
import { rootScale, signedScale, WEIGHTS } from "./scales.js";
import { createSurface } from "./surface.js";

const [LEFT, BELOW, LEAST, MOST] = [10, 56, 120, 420];
const BUDGET = 3; // ms of a frame
const KEPT = 24; // maps that are kept

/** @typedef {import("./attention-values.js").CellMap} CellMap */
/** @type {{ key: any[]; map: CellMap }[]} the maps that were looked at last */
const recent = [];

/**
 * The map that was made for this key, else a new one.
 *
 * @param {any[]} key
 * @param {() => import("./attention-values.js").Reader[]} readers
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
 * @returns {CellMap | null}
 */
function mapApart(map, first) {
  if (map.block > 1) return null;
  if (changes.get(map)?.first !== first) {
    const values = map.values.map((value, i) => value - first.values[i]);
    changes.set(map, { first, made: { ...map, values, limit: largest(values) } });
  }
  return changes.get(map).made;
}

/**
 * The scale of a map's colours.
 *
 * @param {CellMap | null} shown
 * @param {boolean} single whether it is of one run, not of two
 */
function scaleOf(shown, view, single) {
  const limit = shown?.limit || 1;
  if (single && view === "weights") return WEIGHTS;
  return single && view === "weighted" ? rootScale(limit) : signedScale(limit);
}

/**
 * @typedef {{
 *   label: string;
 *   view?: () => string;
 *   read: (run, view: string) => import("./attention-values.js").Reader | null;
 *   on: (run, view: string) => any[];
 *   off?: (run) => boolean;
 *   between?: object[];
 * }} What
 *   `label`: the key of its name; `view`: which scale, weights unless told; `read`: null while something is missing;
 *   `on`: what the map of a run is known by; `off`: whether nothing uses it; `between`: two maps that were drawn
 *   before this, which shows what the first has more than the second
 * @param {What} what
 */
export function createMap(glass, what) {
  const { state } = glass;
  const canvas = h("canvas.gp-canvas", { "data-text-label": what.label });
  const surface = createSurface(canvas);
  const place = { x: LEFT, y: 0, size: 0 };
  const find = (x, y) => cellUnder(place, state.trace, x, y);
  bindPointer(canvas, glass, find);
  bindArrowKeys(canvas, glass, OVER_CELLS);
  let map = null;

  function drawGround(context, scale, shown, off) {
    const { colour } = ink();
    const { x, y, size } = place;
    if (!shown) {
      context.fillStyle = colour("raised");
      context.fillRect(x, y, size, size);
      return write(context, glass.text("cell.coming"), x + size / 2, size / 2, {
        align: "center",
        colour: colour("muted"),
        most: size,
      });
    }
    hatch(context, x, y, size, size);
    drawMap(context, shown, place, scale, shown.limit || 1);
    if (off) drawOff(context, x, y, size, size, glass.text("off.word"));
    return scaleBar(context, x, size + 18, size - 1, ink()[scale.table], scale.ticks);
  }

  /** The map of these runs; null while something of it is missing. */
  function mapOf(runs, view, block) {
    const readers = runs.map((run) => what.read(run, view));
    if (readers.includes(null)) return null;
    return mapFor([view, ...runs.flatMap((run) => what.on(run, view))], () => readers, block);
  }

  /**
   * @param {object[]} runs one, or A and B
   * @returns {boolean} whether the map is complete, or nothing of it can be made
   */
  function draw(runs, width, end = performance.now() + BUDGET) {
    place.size = Math.min(width - LEFT - 2, MOST, Math.max(LEAST, Math.floor(roomToDraw()) - BELOW));
    const view = what.view?.() ?? "weights";
    const single = runs.length === 1;
    map = mapOf(runs, view, blockFor(state.trace.T, place.size));
    const apart = what.between?.map((one) => one.map());
    const ready = apart?.every((one) => one?.done) ?? false;
    if (map && ready) map = mapApart(...apart) ?? map;
    const waits = apart && !ready && map?.block === 1; // then it comes with them
    const done = !map || map.done || (!waits && map.work(end));
    const shown = done ? map : null;
    const scale = scaleOf(shown, view, single);
    const off = single && Boolean(what.off?.(runs[0]));
    surface(
      [shown, view, off],
      place.size + LEFT + 2,
      place.size + BELOW,
      (context) => drawGround(context, scale, shown, off),
      (context) => markCell(context, place, state, 8),
    );
    return done;
  }
  /** Cells to a side of what one dot stands for. */
  const block = () => map?.block ?? 1;
  const same = () => Boolean(map?.done) && map.limit === 0;
  return { element: canvas, draw, block, same, map: () => map, rows: () => (map?.done ? map.rows() : []) };
}
