// The maps of all heads of a layer, in frames by the K/V head that they share, as many beside each other as fit. A
// hover repaints only the cross-hairs.

import { strongest } from "../../arrays.js";
import { attention } from "../../compute.js";
import { cross, hatch, ink, penOf, roomToDraw, textWidth, visible, write } from "../../draw.js";
import { drawChosen, drawChosenAt, drawNames, drawSide, namesAll, namesMost, roomFor } from "../../marks/cell-names.js";
import { cellUnder, markCell } from "../../marks/cells.js";
import { boxAt, createHeadGrid } from "../../marks/head-grid.js";
import { OVER_CELLS, bindPointer, bindArrowKeys } from "../../pointing.js";
import { shownIn } from "../../run-for.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../types.d.ts").Shown} State
 *
 * @typedef {import("../../difference/face.js").LayerRun} LayerRun
 */

const [PAD, GAP, TOP, CAPTION] = [6, 8, 28, 24];
const MARK = 6; // px between the mark under a map and the caption of the one below it
const NARROW = 480; // below this the legend takes one line more for what is not its scale
const [LEAST, MOST] = [92, 240]; // side of a map, unless even one does not fit
const SMALLEST = 48; // of all, where the room is low
const [FOOT, NARROW_FOOT] = [52, 92]; // the legend with what is above it
const [ROOM, BESIDE] = [66, 72]; // of a word above a column; of one beside a row, with the mark between them
const WORDED = 84; // side of the smallest map with words
const BOLD = 1.1; // a bold word to a plain one
const KEPT = 0.7; // of its size, a map whose columns have words in a lesson
const [ASIDE, SCALE, LINE] = [206, 190, 18]; // px beside maps for the legend, with what is before it; of a line there
const UNDER = 26; // px under a map for the chosen column's word, where columns have none above

/**
 * @typedef {{ kv: number; first: number; last: number; x: number; y: number; width: number; height: number }} Frame
 *
 *
 * @typedef {{
 *   boxes: { head: number; x: number; y: number; leads: boolean }[];
 *   frames: Frame[];
 *   size: number;
 *   above: number;
 *   rowed: number;
 *   legend: number;
 *   aside?: number;
 *   narrow: boolean;
 *   height: number;
 * }} Layout
 *   `size`: side of a map; `above`: px above it for the words of the text, 0 where there is no room for them;
 *   `rowed`: px beside the maps where the rows alone have words, and the chosen column its own below it; else 0;
 *   `legend`: where the scale starts, and `aside`, how far to the right where it stands beside the maps; all in
 *   pixels to draw in. `leads` of a box: whether it is the first of its line, whose rows have words
 *
 * @typedef {{ left: number; above: number; least: number }} Words px for words beside a line of maps and above each
 *   map, and the side of the smallest map
 *
 * @typedef {(frames: number, columns: number) => number} SizeFor how wide the maps of a frame's line are together
 */

/** @type {Words} */
const WITHOUT = { left: 0, above: 0, least: LEAST };

/**
 * How tall the frames are that hold so many lines of maps.
 *
 * @param {number} size
 * @param {number} lines
 * @param {number} above px for words above each map
 */
const frameHeight = (size, lines, above) => TOP + lines * (size + above + CAPTION + MARK) - MARK + PAD;

/**
 * Columns of maps in a frame and frames in a row, so that maps are at least so wide where that can be; where they
 * would be taller than the room, so that they are as large as they fit it.
 *
 * @param {number} width
 * @param {number} groups
 * @param {number} groupSize
 * @param {number} room
 * @param {Words} words
 */
function arrange(width, groups, groupSize, room, words) {
  const { left, least } = words;
  /** @type {SizeFor} */
  const sizeFor = (frames, columns) => (width - (frames - 1) * GAP) / frames - 2 * PAD - (columns - 1) * GAP - left;
  if (room < Infinity) return arrangeIn(room, groups, groupSize, sizeFor, words);
  for (let frames = groups; frames > 1; frames--) {
    const size = sizeFor(frames, groupSize) / groupSize;
    if (size >= least) return { frames, columns: groupSize, size };
  }
  const most = Math.max(1, Math.min(groupSize, Math.floor((width - 2 * PAD - left + GAP) / (least + GAP))));
  const columns = Math.ceil(groupSize / Math.ceil(groupSize / most)); // as many in each line
  return { frames: 1, columns, size: sizeFor(1, columns) / columns };
}

/**
 * @param {number} room
 * @param {number} groups
 * @param {number} groupSize
 * @param {SizeFor} sizeFor
 * @param {Words} words
 */
function arrangeIn(room, groups, groupSize, sizeFor, { above }) {
  let best = { frames: 1, columns: 1, size: 0 };
  for (let frames = 1; frames <= groups; frames++) {
    for (let columns = 1; columns <= groupSize; columns++) {
      const [rows, lines] = [Math.ceil(groups / frames), Math.ceil(groupSize / columns)];
      const high = (room / rows - GAP - frameHeight(0, lines, above)) / lines;
      const size = Math.max(SMALLEST, Math.min(sizeFor(frames, columns) / columns, high));
      if (size > best.size) best = { frames, columns, size };
    }
  }
  return best;
}

/**
 * @param {number} width CSS pixels
 * @param {{ n_heads: number; n_kv_heads: number }} model
 * @param {number} [room] how tall all of it may be
 * @param {number} [word] px of the longest word
 * @returns {Layout}
 */
export function layoutMaps(width, model, room = Infinity, word = ROOM) {
  const groupSize = model.n_heads / model.n_kv_heads;
  const narrow = width < NARROW;
  const below = narrow ? NARROW_FOOT : FOOT;
  const arranged = (/** @type {Words} */ words) => arrange(width, model.n_kv_heads, groupSize, room - below, words);
  const beside = { left: word + BESIDE - ROOM, above: word, least: WORDED };
  const withWords = arranged(beside);
  const worded = withWords.size >= WORDED;
  const { left, above } = worded ? beside : WITHOUT;
  const { frames: across, columns, size: wide } = worded ? withWords : arranged(WITHOUT);
  const size = Math.floor(Math.min(wide, MOST));
  const inside = left + columns * size + (columns - 1) * GAP;
  // or its title is cut
  const frameWidth = narrow ? Math.floor((width - (across - 1) * GAP) / across) : inside + 2 * PAD;
  const high = frameHeight(size, Math.ceil(groupSize / columns), above);
  const frames = Array.from({ length: model.n_kv_heads }, (_, kv) => ({
    kv,
    first: kv * groupSize,
    last: (kv + 1) * groupSize - 1,
    width: frameWidth,
    height: high,
    x: (kv % across) * (frameWidth + GAP),
    y: Math.floor(kv / across) * (high + GAP),
  }));
  const boxes = Array.from({ length: model.n_heads }, (_, head) => {
    const { x, y, first } = frames[Math.floor(head / groupSize)];
    const [column, line] = [(head - first) % columns, Math.floor((head - first) / columns)];
    return {
      head,
      x: x + (frameWidth - inside) / 2 + left + column * (size + GAP),
      y: y + TOP + line * (size + above + CAPTION + MARK) + CAPTION + above - 4,
      leads: column === 0,
    };
  });
  const foot = Math.ceil(model.n_kv_heads / across) * (high + GAP);
  return { boxes, frames, size, above, rowed: 0, legend: foot + 14, narrow, height: foot + below };
}

/**
 * How tall a frame is whose maps have a word under each. @type {(size: number, lines: number, above: number) =>
 * number}
 */
const groupHeight = (size, lines, above) => frameHeight(size, lines, above) + lines * UNDER;

/**
 * The heads of one K/V head alone, in as many lines as make them largest. The rows of a line have their words once,
 * and each map has room for one under it.
 *
 * @param {number} width CSS pixels
 * @param {{ n_heads: number; n_kv_heads: number }} model
 * @param {{ kv: number; room: number; word: number; above?: number; aside?: boolean }} how which K/V head; `room`
 *   and `word` as in `layoutMaps`; `above`: px for words above each map; `aside`: whether the legend stands beside
 *   the maps
 * @returns {Layout}
 */
export function layoutGroup(width, { n_heads, n_kv_heads }, { kv, room, word, above = 0, aside = false }) {
  const heads = n_heads / n_kv_heads;
  const narrow = width < NARROW;
  const below = aside ? 0 : narrow ? NARROW_FOOT : FOOT;
  const left = word + BESIDE - ROOM;
  let [columns, size] = [heads, 0];
  for (let lines = 1; lines <= heads; lines++) {
    const across = Math.ceil(heads / lines);
    const wide = (width - (aside ? ASIDE : 0) - 2 * PAD - (across - 1) * GAP - left) / across;
    const tall = (room - below - GAP - groupHeight(0, lines, above)) / lines;
    const found = Math.floor(Math.min(MOST, wide, Math.max(SMALLEST, tall)));
    if (found > size) [columns, size] = [across, found];
  }
  const high = groupHeight(size, Math.ceil(heads / columns), above);
  const first = kv * heads;
  const inside = left + columns * size + (columns - 1) * GAP;
  const boxes = Array.from({ length: heads }, (_, i) => ({
    head: first + i,
    x: PAD + left + (i % columns) * (size + GAP),
    y: TOP + Math.floor(i / columns) * (size + above + UNDER + CAPTION + MARK) + CAPTION + above - 4,
    leads: i % columns === 0,
  }));
  const frame = { kv, first, last: first + heads - 1, x: 0, y: 0, height: high };
  const frames = [{ ...frame, width: narrow ? width : 2 * PAD + inside }]; // or its title is cut
  const foot = high + GAP;
  const laid = { boxes, frames, size, above, rowed: word, narrow, height: foot + below };
  return aside
    ? { ...laid, legend: boxes[0].y, aside: frames[0].width + ASIDE - SCALE }
    : { ...laid, legend: foot + 14 };
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Pick<Layout, "frames" | "rowed">} layout
 * @param {{ layer: number; heads: number }} of what they are of, which is said where it is not all of it
 * @param {Say} text
 */
function drawFrames(context, { frames, rowed }, of, text) {
  const colour = ink().colour("k");
  for (const { kv, first, last, x, y, width, height } of frames) {
    cross(context, x + 1, y + 1, width - 2, height - 2, [["k", 1.5]]);
    const name = rowed ? "frame_of" : first === last ? "frame_one" : "frame";
    write(context, text(name, { kv, first, last, ...of }), x + 10, y + 20, {
      weight: 600,
      colour,
      most: width - 20,
    });
  }
}

/**
 * A text in lines that are no wider than that, parted between words or Chinese characters.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {string} said
 * @param {number} most px
 */
function linesOf(context, said, most) {
  const lines = [""];
  for (const part of said.match(/\p{Script=Han}\p{P}?|[^\s\p{Script=Han}]+\s*|\s+/gu) ?? []) {
    const longer = (lines.at(-1) ?? "") + part;
    if (lines.at(-1) && textWidth(context, longer.trimEnd()) > most) lines.push(part);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

/**
 * What is to be known beside the scale, or under it: what the mask's hatching means, and where the words are that
 * the maps have no room for.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Pick<Layout, "legend" | "narrow" | "aside">} layout
 * @param {number} width
 * @param {string[]} says texts of the panel
 * @param {Say} text
 */
function drawKey(context, { legend, narrow, aside }, width, says, text) {
  const under = narrow || aside !== undefined;
  const [left, line] = under ? [aside ?? 1, legend + 42] : [Math.min(260, width - 16) + 30, legend];
  let y = line;
  for (const name of says) {
    const hatched = name === "masked";
    if (hatched) hatch(context, left, y, 18, 12);
    const x = left + (hatched ? 24 : 0);
    const most = Math.max(0, width - x);
    for (const said of aside === undefined ? [text(name)] : linesOf(context, text(name), most)) {
      write(context, said, x, y + 11, { colour: ink().colour("muted"), most });
      y += LINE;
    }
  }
}

/**
 * The word of the query's row, beside each line of maps.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Pick<Layout, "boxes" | "size" | "rowed">} layout
 * @param {State} state
 */
function nameRow(context, { boxes, size, rowed }, { query, trace }) {
  if (!rowed) return;
  const { pieces } = trace.tokens;
  const side = { pieces, step: size / pieces.length, above: false, room: rowed };
  for (const { x, y, leads } of boxes) if (leads) drawChosenAt(context, { x, y, size }, side, { t: query, role: "q" });
}

/**
 * A word under the mark of its column, no further to either side than the map.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {string} word
 * @param {{ middle: number; y: number; from: number; size: number }} place `from`, `size`: of the map, in px
 */
function drawUnder(context, word, { middle, y, from, size }) {
  const half = Math.min(size, BOLD * textWidth(context, word)) / 2;
  const x = Math.max(from + half, Math.min(middle, from + size - half));
  write(context, word, x, y, { align: "center", colour: ink().colour("k"), weight: 600, most: size });
}

/**
 * Blue: the query's row. Orange: the key's column, both with their words. A frame around the selected head. Where
 * the columns have no words, another head's is the one at which its own row looks most.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Pick<Layout, "boxes" | "size" | "above" | "rowed">} layout
 * @param {State} state
 * @param {ReturnType<Glass["layer"]>} held
 */
function mark(context, layout, state, held) {
  const { boxes, size, above, rowed } = layout;
  const { query } = state;
  const { pieces } = state.trace.tokens;
  const step = size / pieces.length;
  nameRow(context, layout, state);
  for (const { head, x, y, leads } of boxes) {
    const chosen = head === state.head;
    const own = rowed > 0 && held !== null && !chosen;
    const key = own ? strongest(attention(held, state.trace.model, head, query), 1)[0] : state.key;
    if (rowed)
      drawUnder(context, visible(pieces[key]), { middle: x + (key + 0.5) * step, y: y + size + 28, from: x, size });
    if (above && !rowed) drawChosen(context, { x, y, size }, { query, key, pieces }, { room: above, rows: leads });
    markCell(context, { x, y, size }, { ...state, query, key }, 7, chosen);
    if (chosen) cross(context, x - 1.5, y - 1.5, size + 3, size + 3, [["accent", 3]]);
  }
}

/**
 * @param {Glass} glass
 * @param {string} label the key of its name
 */
export function createMaps(glass, label) {
  const state = shownIn(glass);
  /** @type {Say} */
  const text = (name, params) => glass.text(`attention.${name}`, params);
  /**
   * All heads; in a lesson those of the chosen head's K/V head, which are larger, and show the same on every
   * screen. Where words above the columns take the room of the legend, that stands beside the maps.
   *
   * @param {number} width
   * @param {import("../../decode.js").Model} model
   * @param {number} word px of the longest
   */
  function layoutFor(width, model, word) {
    const room = roomToDraw();
    const size = model.n_heads / model.n_kv_heads;
    if (!state.presenting || size === 1) return layoutMaps(width, model, room, word);
    const how = { kv: Math.floor(state.head / size), room, word };
    const [below, beside] = [false, width >= NARROW].map((aside) =>
      layoutGroup(width, model, { ...how, above: word, aside }),
    );
    const worded = beside.size > below.size ? beside : below;
    const plain = layoutGroup(width, model, how);
    const isNamed = namesMost(worded.size / state.trace.T, state.trace.tokens.pieces);
    return isNamed && worded.size >= KEPT * plain.size ? worded : plain;
  }
  const grid = createHeadGrid(glass, {
    label,
    urgent: true,
    of: (/** @type {Pick<LayerRun, "trace" | "held">} */ { held }) => held,
    layout(width, model) {
      const { pieces } = state.trace.tokens;
      const word = roomFor(penOf(grid.element), pieces, ROOM);
      const { boxes, ...layout } = layoutFor(width, model, word);
      const isNamed = (layout.above || layout.rowed) && namesAll(layout.size / state.trace.T, pieces);
      grid.element.toggleAttribute("data-crowded", state.presenting === true && !isNamed);
      return { ...layout, boxes: boxes.map((box) => ({ ...box, layer: state.layer })) };
    },
    labels(context, layout, model, width) {
      drawFrames(context, layout, { layer: state.layer, heads: model.n_heads }, text);
      const { above, size } = layout;
      const { pieces } = state.trace.tokens;
      const step = size / pieces.length;
      const named = above && namesMost(step, pieces); // words or, in `mark`, those of the chosen cell alone
      for (const { head, x, y, leads } of layout.boxes) {
        write(context, text("head", { head }), x, y - above - 6);
        if (layout.rowed && leads)
          drawSide(context, { x, y, size }, { pieces, step, above: false, room: layout.rowed });
        if (named) drawNames(context, { x, y, size }, pieces, { room: above, rows: leads && !layout.rowed });
      }
      const { causal, prefix } = model.parts;
      const masks = causal !== false && !((prefix ?? 0) >= state.trace.T);
      drawKey(
        context,
        layout,
        width,
        [
          ...(masks && !state.covered ? ["masked"] : []),
          ...(layout.rowed && !state.covered ? ["order_most"] : named ? [] : ["order"]),
        ],
        text,
      );
    },
    mark: (context, layout) => mark(context, layout, state, glass.layer()),
    asked: (context, layout) => nameRow(context, layout, state),
  });

  /**
   * The head, query and key under a point, or null.
   *
   * @param {number} x
   * @param {number} y
   */
  function find(x, y) {
    const { boxes, size } = grid.layout() ?? { boxes: [], size: 0 };
    const box = boxAt(boxes, size, size, x, y);
    return box ? { head: box.head, ...cellUnder({ ...box, size }, state.trace, x, y) } : null;
  }
  bindPointer(grid.element, glass, find);
  bindArrowKeys(grid.element, glass, OVER_CELLS);
  const heads = () => (grid.layout()?.boxes ?? []).map(({ head }) => head);
  return { ...grid, heads };
}
