// The maps of several heads on one canvas, each drawn as soon as it is made; of two runs the changes, all to one scale.

import { h } from "../dom.js";
import { hatch, ink, scaleBar } from "../draw.js";
import { drawOff, headOff } from "../off.js";
import { reactive } from "../reads.js";
import { makeMap, makeMaps, readHead } from "./attention-values.js";
import { blockFor, drawBlank, drawMap } from "./cells.js";
import { newest } from "./runs.js";
import { signedScale, WEIGHTS } from "./scales.js";
import { createSurface } from "./surface.js";

const SLICE = 6; // ms of a frame, or of the browser's idle time
const LEGEND = 40; // px for a scale where the layout leaves none
const [THUMB, PLAIN] = [90, 60]; // px under which a map has no words, and no hatching

/**
 * The box that a point is in; undefined where it is in none.
 *
 * @template {{ x: number; y: number }} Place
 * @param {Place[]} boxes
 * @param {number} width of each
 * @param {number} height
 * @param {number} x
 * @param {number} y
 * @returns {Place | undefined}
 */
export const boxAt = (boxes, width, height, x, y) =>
  boxes.find((box) => x >= box.x && x < box.x + width && y >= box.y && y < box.y + height);

/**
 * @typedef {{ layer: number; head: number; x: number; y: number }} Box
 *
 * @typedef {{ boxes: Box[]; size: number; height: number; legend?: number; aside?: number }} Layout `legend`: where
 *   the scale begins; `aside`: how far to the right, where that is not at the left edge
 *
 * @typedef {import("./runs.js").Run} Run
 *
 * @typedef {import("../decode.js").Model} Model
 *
 * @typedef {ReturnType<typeof makeMaps>} Maps
 */
/**
 * How the maps of a run are known and read.
 *
 * @template {Run} Of
 * @typedef {{
 *   of: (run: Of) => object;
 *   read?: (run: Of, layer: number, head: number) => import("./attention-values.js").Reader | null;
 * }} Source
 */
/**
 * @template {Layout} Shape
 * @template {Run} Of
 * @typedef {Source<Of> & {
 *   label: string;
 *   layout: (width: number, model: Model) => Shape;
 *   labels: (context: CanvasRenderingContext2D, layout: Shape, model: Model, width: number) => void;
 *   mark: (context: CanvasRenderingContext2D, layout: Shape) => void;
 *   asked?: (context: CanvasRenderingContext2D, layout: Shape) => void;
 *   corner?: (context: CanvasRenderingContext2D, box: Box, size: number) => void;
 *   urgent?: boolean;
 * }} What
 *   `of`: what all maps of a run depend on; `read`: one map, null while its layer is not here; `labels`: what stands
 *   around the maps; `mark`: what changes with a hover; `asked`: the same while the answer is covered; `corner`:
 *   what is drawn on a map; `urgent`: made a little with every frame, the selected head first, else while the
 *   browser is idle
 */

/**
 * A map of a run without anything said of how one is read: of its head, where the layer is here.
 *
 * @param {Run} run
 * @param {number} layer
 * @param {number} head
 */
function ofHead({ trace }, layer, head) {
  const held = trace.layers.get(layer);
  return held ? readHead(held, trace.model, head) : null;
}

/**
 * The maps of one run, or of A and B, with what is made of them so far: going back to a layer makes none again.
 *
 * @template {Run} Of
 * @param {Source<Of>} source
 * @returns {(runs: Of[], boxes: Box[], block: number) => Maps}
 */
function createMaps({ of, read = ofHead }) {
  /** @type {WeakMap<object, { first: object; block: number; which: string; maps: Maps }>} */
  const known = new WeakMap();
  return function mapsOf(runs, boxes, block) {
    const [first, last] = [of(runs[0]), of(newest(runs))];
    const found = known.get(last);
    const which = boxes.map(({ layer, head }) => `${layer}.${head}`).join(" ");
    if (found?.first === first && found.block === block && found.which === which) return found.maps;
    /** @type {Parameters<typeof makeMaps>[1]} */
    const make = (layer, head) => {
      const readers = runs.map((run) => read(run, layer, head)).filter((reader) => reader !== null);
      return readers.length < runs.length ? null : makeMap(readers, block);
    };
    const maps = makeMaps(boxes, make);
    known.set(last, { first, block, which, maps });
    return maps;
  };
}

/**
 * The maps that are made, what stands around them, and the scale.
 *
 * @template {Layout} Shape
 * @template {Run} Of
 * @param {CanvasRenderingContext2D} context
 * @param {What<Shape, Of>} what
 * @param {{
 *   layout: Shape;
 *   maps: Maps;
 *   runs: Of[];
 *   width: number;
 *   scale: import("./scales.js").Scale;
 *   limit: number;
 *   covered: boolean;
 * }} drawn
 * @param {import("../types.d.ts").Texts["text"]} text
 */
function drawGround(context, what, { layout, maps, runs, width, scale, limit, covered }, text) {
  const { colour } = ink();
  const { size, boxes } = layout;
  what.labels(context, layout, newest(runs).trace.model, width);
  for (const { layer, head, x, y } of boxes) {
    if (covered) {
      drawBlank(context, newest(runs).trace, { x, y, size });
      continue;
    }
    const map = maps.at(layer, head);
    if (map?.done && size >= PLAIN) hatch(context, x, y, size, size);
    else {
      context.fillStyle = colour(map?.done ? "masked" : "raised"); // raised: not computed yet
      context.fillRect(x, y, size, size);
    }
    if (!map?.done) continue;
    drawMap(context, map, { x, y, size }, scale, limit);
    if (runs.some(({ trace }) => headOff(trace, layer, head)))
      drawOff(context, x, y, size, size, size < THUMB ? "" : text("off.word"));
    what.corner?.(context, { layer, head, x, y }, size);
  }
  const { legend, aside = 1 } = layout;
  if (legend !== undefined && !covered)
    scaleBar(context, aside, legend, Math.min(260, width - aside - 15), ink()[scale.table], scale.ticks);
}

/**
 * @template {Layout} Shape
 * @template {Run} Of
 * @param {import("../types.d.ts").Glass} glass
 * @param {What<Shape, Of>} what
 */
export function createHeadGrid(glass, what) {
  const { state } = glass;
  const canvas = h("canvas.gp-canvas", { "data-text-label": what.label });
  const surface = createSurface(canvas);
  const mapsOf = createMaps(what);
  const work = reactive({ slices: 0 });
  /** @type {Shape | null} null until it is drawn, as `maps` */
  let layout = null;
  /** @type {Maps | null} */
  let maps = null;
  let [limit, scheduled] = [1, false];

  /** Goes on when the browser has nothing better to do. */
  function schedule() {
    if (scheduled) return;
    scheduled = true;
    (globalThis.requestIdleCallback ?? setTimeout)(() => {
      scheduled = false;
      maps?.work(performance.now() + SLICE, { layer: state.locked.layer });
      work.slices += 1;
      glass.repaint();
    });
  }

  /**
   * @param {Of[]} runs one, or A and B
   * @param {number} width
   * @returns {boolean} whether all maps that can be made are
   */
  function draw(runs, width) {
    const { trace } = newest(runs);
    const own = what.layout(width, trace.model);
    const placed =
      runs.length === 2 && own.legend === undefined
        ? { ...own, legend: own.height + 4, height: own.height + LEGEND }
        : own;
    const found = mapsOf(runs, placed.boxes, blockFor(trace.T, placed.size));
    [layout, maps] = [placed, found];
    const done = found.work(what.urgent ? performance.now() + SLICE : 0, state);
    if (!done) what.urgent ? glass.unfinished() : schedule();
    void work.slices; // of which each may have finished some
    const made = found.done();
    limit = runs.length === 1 ? 1 : made.reduce((most, map) => Math.max(most, map.limit), 0);
    const scale = runs.length === 1 ? WEIGHTS : signedScale(limit);
    const covered = state.covered === true;
    const drawn = { layout: placed, maps: found, runs, width, scale, limit, covered };
    surface(
      [found, made.length, limit, covered],
      width,
      placed.height,
      (context) => drawGround(context, what, drawn, glass.text),
      (context) => {
        if (covered) what.asked?.(context, placed);
        else what.mark(context, placed);
      },
    );
    return done;
  }
  /** The boxes whose maps are not made yet. */
  const missing = () => (layout?.boxes.length ?? 0) - (maps?.done().length ?? 0);
  /**
   * Dot by dot, of the maps that are drawn: layer, head, query, key, and the value in each run.
   *
   * @returns {number[][]}
   */
  const rows = () =>
    (layout?.boxes ?? []).flatMap(({ layer, head }) => {
      const map = maps?.at(layer, head);
      return map?.done ? map.rows().map((row) => [layer, head, ...row]) : [];
    });
  /** How many weights a side of a dot stands for. */
  const block = () => (layout && state.trace ? blockFor(state.trace.T, layout.size) : 1);
  return {
    element: canvas,
    draw,
    rows,
    block,
    missing,
    layout: () => layout,
    count: () => maps?.done().length ?? 0,
    limit: () => limit,
    same: () => missing() === 0 && limit === 0,
  };
}
