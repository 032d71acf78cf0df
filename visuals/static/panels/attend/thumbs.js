// The picture of all thumbnails, drawn once off the page: labels, K/V groups, and each map as soon as it is made.

import { cells, enlarge, fit, ink, write } from "../../draw.js";
import { drawOff, headOff } from "../../off.js";
import { jobsOf } from "./names.js";

/** @typedef {import("./thumbs-layout.js").Layout} Layout */

/** An orange line beside the heads that share a K/V head, where they do. @param {Layout} layout */
function markGroups(context, layout, { n_heads, n_kv_heads }, layer) {
  const groupSize = n_heads / n_kv_heads;
  context.fillStyle = ink().colour("k");
  for (let kv = 0; groupSize > 1 && kv < n_kv_heads; kv++) {
    const [from, to] = [layout.place(layer, kv * groupSize), layout.place(layer, (kv + 1) * groupSize - 1)];
    context.fillRect(from.x - 8, from.y, 3, to.y + layout.size - from.y);
  }
}

/** The mark of a head that has a job: a white corner, black all around, so that it shows on any map and on the page. */
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

/** @param {Function} text */
export function createThumbs(text) {
  const scene = document.createElement("canvas");
  let drawn = new Set();

  /** Labels of the layers above each line, of the heads at its left, and a plain square for every map to come. */
  function start(layout, model, width) {
    const { size, perLine, place } = layout;
    const context = fit(scene, width, layout.height);
    const { colour } = ink();
    const how = { colour: colour("muted"), base: "middle" };
    drawn = new Set();
    for (let layer = 0; layer < model.n_layers; layer++) {
      const at = place(layer, 0);
      const starts = layer % perLine === 0;
      if (starts) write(context, text("layer"), 0, at.y - 12, { ...how, most: 60 });
      const labelled = (layer % perLine) % Math.ceil(22 / size) === 0;
      if (labelled) write(context, String(layer), at.x + size / 2, at.y - 12, { ...how, align: "center" });
      for (let head = 0; head < model.n_heads; head++) {
        const { x, y } = place(layer, head);
        const named = starts && head % Math.ceil(16 / size) === 0;
        if (named) write(context, text("head", { head }), 0, y + size / 2, { ...how, most: 60 });
        context.fillStyle = colour("raised");
        context.fillRect(x, y, size, size);
      }
      if (starts) markGroups(context, layout, model, layer);
    }
  }

  /** Draws the maps that were finished since the last call. @returns {number} how many stand there now */
  function add({ size, place }, survey, names, trace) {
    const context = scene.getContext("2d");
    const { colour, magnitude } = ink();
    survey.heads.forEach((row, layer) =>
      row.forEach((one, head) => {
        if (!one.done || drawn.has(one)) return;
        drawn.add(one);
        const { x, y } = place(layer, head);
        context.fillStyle = colour("masked");
        context.fillRect(x, y, size, size);
        enlarge(context, cells(one.map, survey.side, survey.side, magnitude, Math.sqrt), x, y, size, size);
        if (headOff(trace, layer, head)) drawOff(context, x, y, size, size);
        if (jobsOf(names, layer, head).length) corner(context, x + size, y, Math.max(7, size / 6));
      }),
    );
    return drawn.size;
  }
  return { scene, start, add };
}
