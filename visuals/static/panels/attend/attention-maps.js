// The maps of all heads of a layer, in frames by the K/V head that they share. A hover repaints only the cross-hairs.

import { fillMap } from "../../compute.js";
import { cells, enlarge, fit, hatch, ink, pixelRatio, scaleBar, write } from "../../draw.js";
import { drawOff, headOff } from "../../off.js";
import { layoutMaps } from "./attention-layout.js";

const BUDGET = 6; // ms of computing a frame, so that a long prompt's maps never hold up the pointer
const ROWS = 8; // query rows between two looks at the clock
const TICKS = [0, 0.01, 0.1, 0.25, 0.5, 1].map((weight) => [Math.sqrt(weight), String(weight)]);

/**
 * Weights of all heads of a layer, made a few rows at a time.
 * @returns {{ block: number, side: number, images: HTMLCanvasElement[], work: (head: number) => boolean }}
 */
function makeWork(layer, model, block) {
  const tokens = layer.q.shape[1];
  const side = Math.ceil(tokens / block);
  const held = { block, side, images: [], maps: [], rows: 0 };
  /** Computes for at most BUDGET ms; whether something was finished since the last call. */
  held.work = (head) => {
    const end = performance.now() + BUDGET;
    const order = [head, ...Array.from({ length: model.n_heads }, (_, i) => i)];
    for (const one of order) {
      const state = (held.maps[one] ??= { map: new Float32Array(side * side), done: 0 });
      while (state.done < tokens) {
        if (performance.now() > end) return false;
        const to = Math.min(tokens, state.done + ROWS);
        fillMap(state.map, layer, model, one, block, state.done, to);
        state.done = to;
      }
      held.images[one] ??= imageOf(state.map, side);
      state.map = null;
    }
    return true;
  };
  return held;
}

/** Cells that the mask hides stay clear: the hatching behind shows through. */
function imageOf(map, side) {
  const seen = Float32Array.from(map, (weight, i) => (i % side > Math.floor(i / side) ? NaN : weight));
  return cells(seen, side, side, ink().magnitude, Math.sqrt);
}

/** @param {HTMLCanvasElement} canvas @param {object} glass @param {Function} text */
export function createMaps(canvas, glass, text) {
  const scene = document.createElement("canvas");
  const works = new WeakMap();
  let layout = null;
  let block = 1;
  let drawn = "";

  function workOf(layer, model) {
    block = Math.max(1, Math.ceil(layer.q.shape[1] / (layout.size * pixelRatio())));
    if (works.get(layer)?.block !== block) works.set(layer, makeWork(layer, model, block));
    return works.get(layer);
  }

  function drawFrames(context, model) {
    const { colour } = ink();
    for (const { kv, first, last, x, y, width, height } of layout.frames) {
      context.strokeStyle = colour("k");
      context.lineWidth = 1.5;
      context.strokeRect(x + 1, y + 1, width - 2, height - 2);
      const label = first === last ? "frame_one" : "frame";
      write(context, text(label, { kv, first, last }), x + 10, y + 20, {
        weight: 600,
        colour: colour("k"),
        most: width - 20,
      });
    }
  }

  /** Everything but the cross-hairs. */
  function drawScene(model, work, width) {
    const context = fit(scene, width, layout.height);
    const { colour } = ink();
    drawFrames(context, model);
    for (const { head, x, y } of layout.boxes) {
      write(context, text("head", { head }), x, y - 6, { colour: colour("text") });
      if (work.images[head]) {
        hatch(context, x, y, layout.size, layout.size);
        enlarge(context, work.images[head], x, y, layout.size, layout.size);
        if (headOff(glass.state.trace, glass.state.layer, head)) drawOff(context, x, y, layout.size, layout.size, glass.text("off.word"));
      } else {
        context.fillStyle = colour("raised"); // not computed yet
        context.fillRect(x, y, layout.size, layout.size);
      }
    }
    drawLegend(context, width);
  }

  function drawLegend(context, width) {
    const y = layout.legend;
    const bar = Math.min(260, width - 16);
    scaleBar(context, 1, y, bar, ink().magnitude, TICKS);
    const [left, line] = layout.narrow ? [1, y + 42] : [bar + 30, y];
    hatch(context, left, line, 18, 12);
    write(context, text("masked"), left + 24, line + 11, { colour: ink().colour("muted"), most: Math.max(0, width - left - 24) });
  }

  /** Blue: the query's row. Orange: the key's column. A frame around the selected head. */
  function drawCross(context, { head, query, key, trace }) {
    const { size } = layout;
    const cell = size / trace.T;
    const { colour } = ink();
    for (const { head: one, x, y } of layout.boxes) {
      context.fillStyle = colour("q");
      const middle = y + (query + 0.5) * cell;
      pointer(context, [x - 1, middle], [x - 8, middle - 5], [x - 8, middle + 5]);
      context.fillStyle = colour("k");
      const across = x + (key + 0.5) * cell;
      pointer(context, [across, y + size + 1], [across - 5, y + size + 8], [across + 5, y + size + 8]);
      outline(context, x, y + query * cell, (query + 1) * cell, cell);
      if (one !== head) continue;
      outline(context, x + key * cell, y + query * cell, cell, cell);
      context.strokeStyle = colour("accent");
      context.lineWidth = 3;
      context.strokeRect(x - 1.5, y - 1.5, size + 3, size + 3);
    }
  }

  /** @returns {boolean} whether all maps are there */
  function draw(width) {
    const { state } = glass;
    const { model } = state.trace;
    const layer = glass.layer();
    layout = layoutMaps(width, model);
    const work = workOf(layer, model);
    const done = work.work(state.head);
    const name = [
      state.trace.id,
      state.layer,
      width,
      layout.size * pixelRatio(),
      state.theme,
      state.language,
      work.images.filter(Boolean).length,
    ].join(" ");
    if (name !== drawn) drawScene(model, work, width);
    drawn = name;
    const context = fit(canvas, width, layout.height);
    context.drawImage(scene, 0, 0, width, layout.height);
    drawCross(context, state);
    return done;
  }

  /** The head, query and key under a point, or null; a masked cell gives its query's row. */
  function find(x, y) {
    const box = layout?.boxes.find((b) => x >= b.x && y >= b.y && x < b.x + layout.size && y < b.y + layout.size);
    if (!box) return null;
    const { T } = glass.state.trace;
    const [key, query] = [x - box.x, y - box.y].map((v) => Math.min(T - 1, Math.floor((v / layout.size) * T)));
    return { head: box.head, query, key: Math.min(key, query) };
  }
  /** Cells to a side of what one dot of a map stands for, once maps are drawn. */
  return { draw, find, block: () => block };
}

function pointer(context, ...corners) {
  context.beginPath();
  corners.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.fill();
}

/** White inside black, thin enough for small cells. */
function outline(context, x, y, width, height) {
  for (const [name, out] of [
    ["cross-edge", 1.5],
    ["cross", 0.5],
  ]) {
    context.strokeStyle = ink().colour(name);
    context.lineWidth = 1;
    context.strokeRect(x - out, y - out, width + 2 * out, height + 2 * out);
  }
}
