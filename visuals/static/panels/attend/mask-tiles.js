// A tile for each mask: what it lets through of this text's pairs of query and key.

import { fit } from "../../draw.js";
import { h } from "../../dom.js";
import { bidirectional, causal, prefixed } from "../../readings/masks.js";
import { bindPointer } from "../../pointing.js";
import { reactive } from "../../reads.js";
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
const [APART, LEAST, MOST, EDGE] = [16, 148, 190, 2];

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

/** @typedef {{ query: string; key: string; sees: boolean }} Pair two tokens by their words */

/** @param {import("../../readings/masks.js").Span} span @param {number} key */
const within = ([from, to], key) => key >= from && key < to;

/**
 * The words along a tile's sides, in the order of its rows, null where none stands; and whether one sees another.
 *
 * @param {(typeof TILES)[number]} kind
 * @param {MasksReading} reading
 * @returns {{ names: (string | null)[]; sees: (query: number, key: number) => boolean | null }} `sees`: null where
 *   two are in no mask together
 */
function sidesOf(kind, { masks, words, selection: { prefix } }) {
  const { own, source, target } = words;
  if (kind === "encoder_decoder") {
    const after = source.length + 1;
    /** @param {number} query @param {number} key */
    const sees = (query, key) => {
      if (key < source.length) return true;
      return query < after ? null : within(causal(query - after), key - after);
    };
    return { names: [...source, null, ...target], sees };
  }
  if (kind !== "blank") return { names: own, sees: (query, key) => within(masks[kind](query), key) };
  const names = [...own.slice(0, prefix), "[MASK]", "[START]", ...own.slice(prefix)];
  return { names, sees: (query, key) => within(prefixed(prefix + 1)(query), key) };
}

/**
 * The two tokens of a tile's cell, and whether the one sees the other; null where there is no cell.
 *
 * @param {(typeof TILES)[number]} kind
 * @param {MasksReading} reading
 * @param {number} across where the cell is, as a part of the tile's side
 * @param {number} down
 * @returns {Pair | null}
 */
export function pairAt(kind, reading, across, down) {
  const { names, sees } = sidesOf(kind, reading);
  const [key, query] = [across, down].map((part) => Math.floor(part * names.length));
  const [asks, asked] = [names[query] ?? null, names[key] ?? null];
  const seen = sees(query, key);
  return asks === null || asked === null || seen === null ? null : { query: asks, key: asked, sees: seen };
}

/** How many tiles stand beside each other, and how large their squares are. @param {number} width */
export function layoutTiles(width) {
  const columns = Math.max(2, Math.min(TILES.length, Math.floor((width + APART) / (LEAST + APART))));
  return { columns, size: Math.floor(Math.min(MOST, (width - (columns - 1) * APART) / columns)) };
}

/** @param {import("../../types.d.ts").Glass} glass */
export function createTiles(glass) {
  const canvases = TILES.map((name) =>
    h("canvas.gp-canvas", { role: "img", "data-text-label": `mask-kinds.means_${name}` }),
  );
  const nowhere = { query: "", key: "", sees: false };
  /** @type {{ kind: (typeof TILES)[number] | null } & Pair} under the pointer: a tile has no words */
  const view = reactive({ kind: null, ...nowhere }, glass.repaint);
  let side = 1;
  /** @type {MasksReading | null} null until it is drawn */
  let drawn = null;
  TILES.forEach((kind, i) => {
    bindPointer(canvases[i], glass, (x, y) => {
      const pair = drawn && pairAt(kind, drawn, (x - EDGE) / side, (y - EDGE) / side);
      Object.assign(view, { kind: pair && kind, ...(pair ?? nowhere) });
      return pair && {};
    });
    canvases[i].addEventListener("pointerleave", () => {
      view.kind = null;
    });
  });
  /**
   * @param {number} size
   * @param {MasksReading} reading
   */
  function draw(size, reading) {
    [side, drawn] = [size - 2 * EDGE, reading];
    TILES.forEach((name, i) => PAINT[name](fit(canvases[i], size, size), { x: EDGE, y: EDGE, size: side }, reading));
  }
  const pointed = () => {
    const { kind, query, key, sees } = view;
    return kind && { kind, query, key, sees };
  };
  return { canvases, draw, pointed };
}
