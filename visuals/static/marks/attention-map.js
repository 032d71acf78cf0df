// One map of queries × keys on a canvas: cells, the masked half hatched, marks at the query's row and the key's column,
// and a scale. Of two runs it shows the change.

import { h } from "../dom.js";
import { cells, enlarge, hatch, ink, inside, pixelRatio, scaleBar, write } from "../draw.js";
import { drawOff } from "../off.js";
import { OVER_CELLS, link, steer } from "../pointing.js";
import { mapApart, mapFor } from "./attention-values.js";
import { rootScale, signedScale, WEIGHTS } from "./scales.js";
import { createSurface } from "./surface.js";

const [LEFT, BELOW, MOST] = [10, 56, 420];
const BUDGET = 3; // ms of a frame

/** How many tokens a dot of a map stands for, in each direction. */
export const blockFor = (tokens, size) => Math.max(1, Math.ceil(tokens / (size * pixelRatio())));

const images = new WeakMap();
/** A map's cells in colour; drawn once while its scale stays. */
function imageOf(map, { table, place }, limit) {
  const name = `${table} ${limit}`;
  if (images.get(map)?.name !== name) images.set(map, { name, image: cells(map.values, map.side, map.side, ink()[table], place) });
  return images.get(map).image;
}

/** A complete map in a square. @param {import("./scales.js").Scale} scale @param {number} limit of the scale */
export function drawMap(context, map, { x, y, size }, scale, limit) {
  const covered = (map.side * map.block * size) / map.tokens; // the last dots may reach past the text
  inside(context, x, y, size, size, () => enlarge(context, imageOf(map, scale, limit), x, y, covered, covered));
}

/** A frame white inside black, thin enough for small cells. */
function outline(context, x, y, width, height) {
  for (const [name, out] of [["cross-edge", 1.5], ["cross", 0.5]]) {
    context.strokeStyle = ink().colour(name);
    context.lineWidth = 1;
    context.strokeRect(x - out, y - out, width + 2 * out, height + 2 * out);
  }
}

function pointer(context, role, ...corners) {
  context.fillStyle = ink().colour(role);
  context.beginPath();
  corners.forEach((corner) => context.lineTo(...corner));
  context.fill();
}

/** Blue: the query's row. Orange: the key's column. @param {number} long of the pointers, in px @param {boolean} cell whether the cell itself is framed */
export function markCell(context, { x, y, size }, { query, key, trace }, long, cell = true) {
  const step = size / trace.T;
  const [middle, across, half] = [y + (query + 0.5) * step, x + (key + 0.5) * step, long > 7 ? 6 : 5];
  pointer(context, "q", [x - 1, middle], [x - 1 - long, middle - half], [x - 1 - long, middle + half]);
  pointer(context, "k", [across, y + size + 1], [across - half, y + size + 1 + long], [across + half, y + size + 1 + long]);
  outline(context, x, y + query * step, (query + 1) * step, step);
  if (cell) outline(context, x + key * step, y + query * step, step, step);
}

/** The cell of a square under a point; a masked one gives its query's row. @returns {{ query: number, key: number }|null} */
export function cellUnder({ x, y, size }, tokens, pointX, pointY) {
  const [key, query] = [pointX - x, pointY - y].map((v) => Math.floor((v / size) * tokens));
  return query < 0 || query >= tokens || key < 0 || key >= tokens ? null : { query, key: Math.min(key, query) };
}

/**
 * @typedef {{ label: string, view?: () => string, read: (run, view: string) => import("./attention-values.js").Reader|null,
 *             on: (run, view: string) => any[], off?: (run) => boolean, between?: object[] }} What
 * `label`: the key of its name; `view`: which scale, weights unless told; `read`: null while something is missing; `on`:
 * what the map of a run is known by; `off`: whether nothing uses it; `between`: two maps that were drawn before this, which
 * shows what the first has more than the second
 * @param {What} what
 */
export function createMap(glass, what) {
  const { state } = glass;
  const canvas = h("canvas.gp-canvas", { "data-text-label": what.label });
  const surface = createSurface(canvas);
  const place = { x: LEFT, y: 0, size: 0 };
  const find = (x, y) => cellUnder(place, state.trace.T, x, y);
  link(canvas, glass, find);
  steer(canvas, glass, OVER_CELLS);
  let map = null;

  function drawGround(context, scale, shown, off) {
    const { colour } = ink();
    const { x, y, size } = place;
    if (!shown) {
      context.fillStyle = colour("raised");
      context.fillRect(x, y, size, size);
      return write(context, glass.text("cell.coming"), x + size / 2, size / 2, { align: "center", colour: colour("muted"), most: size });
    }
    hatch(context, x, y, size, size);
    drawMap(context, shown, place, scale, shown.limit || 1);
    if (off) drawOff(context, x, y, size, size, glass.text("off.word"));
    return scaleBar(context, x, size + 18, size - 1, ink()[scale.table], scale.ticks);
  }

  /** @param {object[]} runs one, or A and B @returns {boolean} whether the map is complete, or nothing of it can be made */
  function draw(runs, width, end = performance.now() + BUDGET) {
    place.size = Math.min(width - LEFT - 2, MOST);
    const view = what.view?.() ?? "weights";
    const readers = runs.map((run) => what.read(run, view));
    const block = blockFor(state.trace.T, place.size);
    map = readers.includes(null) ? null : mapFor([view, ...runs.flatMap((run) => what.on(run, view))], () => readers, block);
    const apart = what.between?.map((one) => one.map());
    const ready = apart?.every((one) => one?.done) ?? false;
    if (map && ready) map = mapApart(...apart) ?? map;
    const waits = apart && !ready && map?.block === 1; // then it comes with them
    const done = !map || map.done || (!waits && map.work(end));
    const shown = done ? map : null;
    const limit = shown?.limit || 1;
    const scale = runs.length === 1 && view === "weights" ? WEIGHTS : runs.length === 1 && view === "weighted" ? rootScale(limit) : signedScale(limit);
    const off = runs.length === 1 && Boolean(what.off?.(runs[0]));
    surface([shown, view, off], place.size + LEFT + 2, place.size + BELOW, (context) => drawGround(context, scale, shown, off), (context) => markCell(context, place, state, 8));
    return done;
  }
  /** Cells to a side of what one dot stands for. */
  const block = () => map?.block ?? 1;
  const same = () => Boolean(map?.done) && map.limit === 0;
  return { element: canvas, draw, block, same, map: () => map, rows: () => (map?.done ? map.rows() : []) };
}
