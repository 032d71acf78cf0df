// The maps of all heads of a layer, in frames by the K/V head that they share. A hover repaints only the cross-hairs.

import { hatch, ink, roomToDraw, write } from "../../draw.js";
import { cellUnder, markCell } from "../../marks/cells.js";
import { createHeadGrid } from "../../marks/head-grid.js";
import { OVER_CELLS, link, steer } from "../../pointing.js";
import { layoutMaps } from "./attention-layout.js";

function drawFrames(context, { frames }, text) {
  const colour = ink().colour("k");
  for (const { kv, first, last, x, y, width, height } of frames) {
    context.strokeStyle = colour;
    context.lineWidth = 1.5;
    context.strokeRect(x + 1, y + 1, width - 2, height - 2);
    write(context, text(first === last ? "frame_one" : "frame", { kv, first, last }), x + 10, y + 20, { weight: 600, colour, most: width - 20 });
  }
}

/** What the mask's hatching means, beside the scale or under it. */
function drawMasked(context, { legend, narrow }, width, text) {
  const [left, line] = narrow ? [1, legend + 42] : [Math.min(260, width - 16) + 30, legend];
  hatch(context, left, line, 18, 12);
  write(context, text("masked"), left + 24, line + 11, { colour: ink().colour("muted"), most: Math.max(0, width - left - 24) });
}

/** Blue: the query's row. Orange: the key's column. A frame around the selected head. */
function mark(context, { boxes, size }, state) {
  for (const { head, x, y } of boxes) {
    const chosen = head === state.head;
    markCell(context, { x, y, size }, state, 7, chosen);
    if (!chosen) continue;
    context.strokeStyle = ink().colour("accent");
    context.lineWidth = 3;
    context.strokeRect(x - 1.5, y - 1.5, size + 3, size + 3);
  }
}

/** @param {object} glass @param {string} label the key of its name */
export function createMaps(glass, label) {
  const { state } = glass;
  const text = (name, params) => glass.text(`attention.${name}`, params);
  const grid = createHeadGrid(glass, {
    label,
    urgent: true,
    of: ({ held }) => held,
    layout(width, model) {
      const { boxes, ...layout } = layoutMaps(width, model, roomToDraw());
      return { ...layout, boxes: boxes.map((box) => ({ ...box, layer: state.layer })) };
    },
    labels(context, layout, model, width) {
      drawFrames(context, layout, text);
      for (const { head, x, y } of layout.boxes) write(context, text("head", { head }), x, y - 6);
      const { causal, prefix } = model.parts;
      if (causal !== false && !(prefix >= state.trace.T)) drawMasked(context, layout, width, text);
    },
    mark: (context, layout) => mark(context, layout, state),
  });

  /** The head, query and key under a point, or null. */
  function find(x, y) {
    const { boxes, size } = grid.layout() ?? { boxes: [] };
    const box = boxes.find((b) => x >= b.x && y >= b.y && x < b.x + size && y < b.y + size);
    return box ? { head: box.head, ...cellUnder({ ...box, size }, state.trace, x, y) } : null;
  }
  link(grid.element, glass, find);
  steer(grid.element, glass, OVER_CELLS);
  return grid;
}
