// All heads of all layers as thumbnails, a column a layer and a row a head, on as many lines as the width asks for:
// labels, K/V groups, and each map as soon as it is made. A click shows that head.

import { cross, ink, write } from "../../draw.js";
import { cellUnder } from "../../marks/cells.js";
import { boxAt, createHeadGrid } from "../../marks/head-grid.js";
import { across, bindPointer, bindArrowKeys, upright } from "../../pointing.js";
import { reactive } from "../../reads.js";
import { shownIn } from "../../run-for.js";
import { jobsOf, namesOf } from "./known.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../types.d.ts").Model} Model
 *
 * @typedef {{ layer: number; head: number }} Head
 */

const [LEFT, TOP, GAP, BETWEEN] = [72, 24, 3, 10];
const GROUP = 6; // between heads that read different K/V heads, where heads share them
const [LEAST, MOST, TALLEST] = [26, 84, 520];

/**
 * @typedef {{
 *   boxes: { layer: number; head: number; x: number; y: number }[];
 *   size: number;
 *   perLine: number;
 *   height: number;
 *   place: (layer: number, head: number) => { x: number; y: number };
 * }} Layout
 */

/**
 * @param {number} width
 * @param {{ n_layers: number; n_heads: number; n_kv_heads: number }} model
 * @returns {Layout}
 */
export function layoutThumbs(width, { n_layers, n_heads, n_kv_heads }) {
  const groupSize = n_heads / n_kv_heads;
  const apart = groupSize > 1 ? GROUP : 0;
  const room = Math.max(1, width - LEFT);
  const fitting = Math.max(1, Math.floor(room / (LEAST + GAP)));
  const lines = Math.ceil(n_layers / fitting);
  const perLine = Math.ceil(n_layers / lines);
  const tall = Math.max(LEAST, Math.floor(TALLEST / n_heads) - GAP);
  const size = Math.max(8, Math.min(MOST, tall, Math.floor(room / perLine) - GAP));
  const lineHeight = TOP + n_heads * (size + GAP) + (n_kv_heads - 1) * apart + BETWEEN;
  /** @type {Layout["place"]} */
  const place = (layer, head) => ({
    x: LEFT + (layer % perLine) * (size + GAP),
    y: Math.floor(layer / perLine) * lineHeight + TOP + head * (size + GAP) + Math.floor(head / groupSize) * apart,
  });
  const heads = Array.from({ length: n_layers * n_heads }, (_, i) => ({
    layer: Math.floor(i / n_heads),
    head: i % n_heads,
  }));
  const boxes = heads.map((box) => ({ ...box, ...place(box.layer, box.head) }));
  return { boxes, size, perLine, height: lines * lineHeight - BETWEEN, place };
}

/**
 * @param {Pick<Layout, "size" | "boxes">} layout
 * @param {number} x
 * @param {number} y
 * @returns {Head | null} the thumbnail under a point
 */
export function thumbAt({ size, boxes }, x, y) {
  const box = boxAt(boxes, size + GAP, size + GAP, x, y);
  return box ? { layer: box.layer, head: box.head } : null;
}

/**
 * An orange line beside the heads that share a K/V head, where they do.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Layout} layout
 * @param {Model} model
 * @param {number} layer
 */
function markGroups(context, layout, { n_heads, n_kv_heads }, layer) {
  const groupSize = n_heads / n_kv_heads;
  context.fillStyle = ink().colour("k");
  for (let kv = 0; groupSize > 1 && kv < n_kv_heads; kv++) {
    const [from, to] = [layout.place(layer, kv * groupSize), layout.place(layer, (kv + 1) * groupSize - 1)];
    context.fillRect(from.x - 8, from.y, 3, to.y + layout.size - from.y);
  }
}

/**
 * The mark of a head that has a job: a white triangle in the corner, black all around, so that it shows on any map
 * and on the page.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} size
 */
function corner(context, x, y, size) {
  const { colour } = ink();
  context.fillStyle = colour("cross");
  context.strokeStyle = colour("cross-edge");
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(x - 1, y + 1);
  context.lineTo(x - size - 2, y + 1);
  context.lineTo(x - 1, y + size + 2);
  context.closePath();
  context.fill();
  context.stroke();
}

/**
 * Labels of the layers above each line, of the heads at its left.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Layout} layout
 * @param {Model} model
 * @param {Say} text
 */
function labels(context, layout, model, text) {
  const { size, perLine, place } = layout;
  /** @type {Parameters<typeof write>[4]} */
  const how = { colour: ink().colour("muted"), base: "middle" };
  for (let layer = 0; layer < model.n_layers; layer++) {
    const at = place(layer, 0);
    const starts = layer % perLine === 0;
    if ((layer % perLine) % Math.ceil(22 / size) === 0)
      write(context, String(layer), at.x + size / 2, at.y - 12, { ...how, align: "center" });
    if (!starts) continue;
    write(context, text("layer"), 0, at.y - 12, { ...how, most: 60 });
    markGroups(context, layout, model, layer);
    for (let head = 0; head < model.n_heads; head += Math.ceil(16 / size)) {
      write(context, text("head", { head }), 0, place(layer, head).y + size / 2, { ...how, most: 60 });
    }
  }
}

/**
 * The frame around the selected map, as far as its neighbours, whose corners it leaves whole.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Layout} layout
 * @param {Head} head
 */
function frameSelected(context, { place, size }, { layer, head }) {
  const { x, y } = place(layer, head);
  cross(context, x, y, size, size, [
    ["cross-edge", 6],
    ["cross", 4],
    ["accent", 2],
  ]);
}

/**
 * @param {Glass} glass
 * @param {string} label the key of its name
 * @param {import("../../marks/head-grid.js").Source<import("../../marks/runs.js").Run>["read"]} [read]
 */
export function createThumbs(glass, label, read) {
  const state = shownIn(glass);
  const names = () => namesOf(glass);
  const grid = createHeadGrid(glass, {
    label,
    read,
    of: ({ trace }) => trace,
    layout: layoutThumbs,
    labels: (context, layout, model) =>
      labels(context, layout, model, (name, params) => glass.text(`heads.${name}`, params)),
    corner(context, { layer, head, x, y }, size) {
      if (jobsOf(names(), layer, head).length) corner(context, x + size, y, Math.max(7, size / 6));
    },
    mark: (context, layout) => frameSelected(context, layout, state),
  });
  /** @type {Head | null} */
  let hovered = null;
  /** @type {{ query: number | null; key: number | null }} of the cell under the pointer: a thumbnail has no words */
  const view = reactive({ query: null, key: null }, glass.repaint);
  const point = (/** @type {{ query: number; key: number } | null} */ cell) =>
    Object.assign(view, { query: cell?.query ?? null, key: cell?.key ?? null });
  grid.element.addEventListener("pointerleave", () => point(null));
  bindPointer(grid.element, glass, (x, y) => {
    const layout = grid.layout();
    hovered = layout && thumbAt(layout, x, y);
    point(
      layout &&
        hovered &&
        cellUnder({ ...layout.place(hovered.layer, hovered.head), size: layout.size }, state.trace, x, y),
    );
    if (hovered) glass.expect(hovered.layer);
    return hovered && state.trace.layers.has(hovered.layer) ? hovered : null; // there is nothing else to preview
  });
  grid.element.addEventListener("click", () => {
    if (hovered) glass.select(hovered); // for a layer that has not arrived, this fetches it
  });
  bindArrowKeys(grid.element, glass, { ...across("layer"), ...upright("head", -1) });
  const pointed = () => (view.query === null || view.key === null ? null : { query: view.query, key: view.key });
  return { ...grid, pointed };
}
