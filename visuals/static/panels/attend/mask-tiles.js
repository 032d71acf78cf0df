// A tile for each mask: what it lets through of this text's pairs of query and key.

import { fit } from "../../draw.js";
import { h } from "../../dom.js";
import { bidirectional, causal, prefixed } from "../../readings/masks.js";
import { drawMask, frameRow } from "./mask-maps.js";

/** @typedef {import("../../readings/mask-kinds.js").MasksReading} MasksReading */
/**
 * @typedef {(
 *   context: CanvasRenderingContext2D,
 *   square: import("../../marks/cells.js").Square,
 *   of: MasksReading,
 * ) => void} Paint
 */

export const TILES = /** @type {const} */ ([
  "causal",
  "bidirectional",
  "prefix",
  "blank",
  "encoder_decoder",
  "sliding",
]);
const [APART, LEAST, MOST] = [16, 148, 190];

/** Both directions in one hue, causal in another. @param {number} part how many tokens see each other */
const roleFor = (part) => (/** @type {number} */ query, /** @type {number} */ key) =>
  query < part && key < part ? "k" : key < part ? "v" : "q";

/** @param {"causal" | "bidirectional" | "prefix" | "sliding"} kind @returns {Paint} */
const plain = (kind) => (context, square, reading) => {
  const { tokens, masks, selection } = reading;
  const part = kind === "bidirectional" ? tokens : kind === "prefix" ? selection.prefix : 0;
  const grid = { queries: tokens, keys: tokens, of: tokens };
  drawMask(context, square, grid, masks[kind], kind === "prefix" ? roleFor(part) : () => (part ? "k" : "q"));
  frameRow(context, square, tokens, selection.query, masks[kind](selection.query));
};

/** @type {Record<(typeof TILES)[number], Paint>} */
const PAINT = {
  causal: plain("causal"),
  bidirectional: plain("bidirectional"),
  prefix: plain("prefix"),
  sliding: plain("sliding"),
  blank(context, square, { tokens, selection: { prefix } }) {
    const all = tokens + 2;
    const grid = { queries: all, keys: all, of: all };
    drawMask(context, square, grid, prefixed(prefix + 1), roleFor(prefix + 1));
  },
  encoder_decoder(context, square, { source, target }) {
    const of = source + target + 1; // a line between the two texts
    const after = source + 1;
    drawMask(context, square, { queries: source, keys: source, of }, bidirectional(source), () => "k");
    drawMask(
      context,
      square,
      { queries: target, keys: source, from: [after, 0], of },
      () => [0, source],
      () => "v",
    );
    drawMask(context, square, { queries: target, keys: target, from: [after, after], of }, causal, () => "q");
  },
};

/** How many tiles stand beside each other, and how large their squares are. @param {number} width */
export function layoutTiles(width) {
  const columns = Math.max(2, Math.min(TILES.length, Math.floor((width + APART) / (LEAST + APART))));
  return { columns, size: Math.floor(Math.min(MOST, (width - (columns - 1) * APART) / columns)) };
}

export function createTiles() {
  const canvases = TILES.map((name) =>
    h("canvas.gp-canvas", { role: "img", "data-text-label": `mask-kinds.means_${name}` }),
  );
  /**
   * @param {number} size
   * @param {MasksReading} reading
   */
  function draw(size, reading) {
    TILES.forEach((name, i) => PAINT[name](fit(canvases[i], size, size), { x: 2, y: 2, size: size - 4 }, reading));
  }
  return { canvases, draw };
}
