// One head's attention as a map: words that look back are rows, words that are looked at columns. A cell is told of
// while it is pointed at, and from a click on.

import { labelsOf } from "../characters.js";
import { attention } from "../compute.js";
import { stepper } from "../controls.js";
import { h, percent, svg, zoomOf } from "../dom.js";
import { ink, shade } from "../draw.js";
import { WEIGHTS } from "../marks/scales.js";
import { reactive } from "../reads.js";
import { kept } from "./kept.js";
import { lengthOf, named, onEdge } from "./words.js";

const [MOST, FEW, WIDE] = [20, 18, 500]; // how many words at most, and in a picture that is less wide, px
const CELL = 26; // px
const BOLD = 1.1; // times as long is a name where it is marked
const [LEAST, TITLE] = [13, 44]; // px of a cell in a low window, and of the scene's title over the map
const SMALL = 16; // px of a cell that is lower than a name
const UPRIGHT = 18; // px of a cell below which slanted names would run into each other
const SLANT = 60; // degrees
const SHADES = [0, 0.01, 0.1, 0.5, 1]; // weights whose shades are named

/**
 * @typedef {import("../decode.js").Trace} Trace
 *
 * @typedef {import("../decode.js").Layer} Layer
 *
 * @typedef {[query: number, key: number]} Cell
 *
 * @typedef {{ tokens: number[]; weights: number[][] }} Grid of the tokens that are shown, the weights row by row
 */

/**
 * The tokens that the map has: all, or of a long text the first, at which the first rows can look alone, the key,
 * and those that the query looks at most.
 *
 * @param {ArrayLike<number>} weights of the query
 * @param {number} query
 * @param {number} key
 * @param {number} most
 */
function tokensShown(weights, query, key, most) {
  const order = Array.from(weights, (_, t) => t).sort((a, b) => weights[b] - weights[a]);
  const wanted = new Set([...new Set([query, key, 0, ...order])].slice(0, most));
  return [...wanted].sort((a, b) => a - b);
}

/**
 * @param {Trace} trace
 * @param {Layer} layer
 * @param {number} head
 * @param {number} query
 * @param {number} key
 * @param {number} width
 * @returns {Grid}
 */
function gridOf({ model }, layer, head, query, key, width) {
  const tokens = tokensShown(attention(layer, model, head, query), query, key, width < WIDE ? FEW : MOST);
  return {
    tokens,
    weights: tokens.map((row) => tokens.map((key) => attention(layer, model, head, row)[key] ?? NaN)),
  };
}

/**
 * What the names of a map need around it, and how large its cells are then: all is to be seen at once.
 *
 * @param {string[]} words
 * @param {number} width
 * @param {number} height
 */
function roomFor(words, width, height) {
  const long = Math.max(...words.map(lengthOf));
  /**
   * @param {number} turn degrees that the names above stand up
   * @param {number} right px that the last of them leans over
   */
  function roomAt(turn, right) {
    const above = BOLD * long * Math.sin((turn * Math.PI) / 180);
    const low = Math.max(LEAST, (height - above) / words.length);
    const wide = (width - long - right) / words.length; // less than nothing on a page that is narrow for a moment
    return { left: long, above, right, cell: Math.max(1, Math.min(CELL, wide, low)), turn };
  }
  const slanted = roomAt(SLANT, long * Math.cos((SLANT * Math.PI) / 180)); // the last name leans over the map's edge
  return slanted.cell < UPRIGHT ? roomAt(90, 8) : slanted;
}

/**
 * The lines of the hatching in one cell, which go on in those beside it: from corner to corner, and halfway.
 *
 * @param {{ x: number; y: number; width: number }} square
 */
function hatchOf({ x, y, width }) {
  const [half, right, foot] = [width / 2, x + width, y + width];
  const lines = [
    [x, foot, right, y],
    [x, y + half, x + half, y],
    [x + half, foot, right, y + half],
  ];
  return lines.map(([fromX, fromY, toX, toY]) => `M${fromX} ${fromY}L${toX} ${toY}`).join("");
}

/**
 * What of a map is shown.
 *
 * @typedef {{ grid: Grid; pieces: string[]; width: number; height: number }} Shown
 * @param {Shown} shown
 * @returns {{ wide: number; high: number; parts: SVGElement[]; mark: (query: number, key: number) => void }} its
 *   cells with their names, how large all is, and what frames a cell and marks its two names
 */
function mapOf({ grid: { tokens, weights }, pieces, width, height }) {
  const words = tokens.map((t) => onEdge(labelsOf(pieces)[t]));
  const { left, above, right, cell, turn } = roomFor(words, width, height);
  const { magnitude } = ink();
  const square = (/** @type {number} */ row, /** @type {number} */ column) => ({
    x: left + column * cell,
    y: above + row * cell,
    width: cell,
    height: cell,
  });
  const cells = weights.flatMap((row, r) =>
    row.map((weight, c) => {
      const at = `${tokens[r]} ${tokens[c]}`;
      if (Number.isNaN(weight)) return svg("rect.st-masked", { ...square(r, c), "data-later": at });
      const fill = shade(magnitude, WEIGHTS.place(weight));
      return svg("rect", { ...square(r, c), fill, "data-at": at });
    }),
  );
  const hidden = weights.flatMap((row, r) => row.flatMap((weight, c) => (Number.isNaN(weight) ? square(r, c) : [])));
  const hatch = svg("path.st-hatch", { d: hidden.map(hatchOf).join("") });
  const middle = (/** @type {number} */ i) => i * cell + cell / 2 + 5;
  const style = cell < SMALL ? `font-size: ${cell - 1}px` : "";
  const rows = words.map((name, i) =>
    svg("text", { x: left - 8, y: above + middle(i), "text-anchor": "end", style }, name),
  );
  const columns = words.map((name, i) =>
    svg("text", { transform: `translate(${left + middle(i)} ${above - 8}) rotate(${-turn})`, style }, name),
  );
  const frame = svg("rect.st-mark");
  function mark(/** @type {number} */ query, /** @type {number} */ key) {
    const [r, c] = [tokens.indexOf(query), tokens.indexOf(key)];
    for (const [name, at] of Object.entries(square(r, c))) frame.setAttribute(name, String(at));
    rows.forEach((name, i) => name.classList.toggle("is-query", i === r));
    columns.forEach((name, i) => name.classList.toggle("is-key", i === c));
  }
  const size = tokens.length * cell;
  return {
    wide: left + size + right,
    high: above + size + 2,
    parts: [...cells, hatch, ...rows, ...columns, frame],
    mark,
  };
}

/** Which shade stands for which weight, and that what comes later has none. */
function createScale() {
  const shades = h("span.st-shades");
  const later = h("span.st-later", null, h("i"), h("span", { "data-text": "story.looks_ahead" }));
  function draw() {
    const { magnitude } = ink();
    const named = SHADES.map((weight) => {
      const colour = h("i", { style: `background: ${shade(magnitude, WEIGHTS.place(weight))}` });
      return h("span", null, colour, percent(weight));
    });
    shades.replaceChildren(...named);
  }
  return { element: h("p.st-note", null, shades, later), draw };
}

/**
 * The cell so many rows and columns on, as far as the grid goes, and no column further than its row sees.
 *
 * @param {{ grid: Grid; at: Cell }} from
 * @param {number} down
 * @param {number} on
 * @returns {Cell}
 */
function cellBeside({ grid: { tokens, weights }, at }, down, on) {
  const within = (/** @type {number} */ place, /** @type {number} */ last) => Math.max(0, Math.min(place, last));
  const row = within(tokens.indexOf(at[0]) + down, tokens.length - 1);
  const last = weights[row].findLastIndex((weight) => !Number.isNaN(weight));
  return [tokens[row], tokens[within(tokens.indexOf(at[1]) + on, last)]];
}

/** @type {Record<string, [down: number, on: number]>} */
const KEYS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/**
 * The cell that is told of by its row and its column, for fingers: the cells are smaller than they are.
 *
 * @param {(cell: Cell) => void} choose
 */
function createSteps(choose) {
  /** @type {{ grid: Grid; at: Cell } | null} */
  let now = null;
  const go = (/** @type {number} */ down, /** @type {number} */ on) => now && choose(cellBeside(now, down, on));
  const stepsOf = (/** @type {string} */ name, /** @type {(by: number) => void} */ move) =>
    stepper(move, { label: `marks.${name}`, back: `marks.${name}_back`, on: `marks.${name}_on` });
  const [rows, columns] = [stepsOf("query", (by) => go(by, 0)), stepsOf("key", (by) => go(0, by))];
  /**
   * @param {Grid} grid
   * @param {Cell} at the cell that is told of
   * @param {(t: number) => string} nameOf a token
   */
  function draw(grid, at, nameOf) {
    now = { grid, at };
    const { tokens, weights } = grid;
    const [r, c] = at.map((t) => tokens.indexOf(t));
    const isSeen = (/** @type {number} */ column) => !Number.isNaN(weights[r][column] ?? NaN);
    rows.show(nameOf(at[0]), r === 0, r === tokens.length - 1);
    columns.show(nameOf(at[1]), !isSeen(c - 1), !isSeen(c + 1));
  }
  return { element: h("div.st-steps", null, rows.element, columns.element), draw };
}

/** @param {import("./scene.js").Glass} glass */
export function createAttentionMap(glass) {
  const { text } = glass;
  const drawing = svg("svg.st-map", { role: "application", tabindex: 0 });
  const scale = createScale();
  const steps = createSteps((cell) => Object.assign(view, { at: null, kept: cell, later: null }));
  const view = reactive(
    /** @type {{ at: Cell | null; kept: Cell | null; later: Cell | null }} */ ({ at: null, kept: null, later: null }),
    glass.repaint,
  );
  const cellOf = (/** @type {Event} */ { target }, name = "data-at") => {
    const place = /** @type {SVGElement} */ (target).getAttribute?.(name);
    return place ? /** @type {Cell} */ (place.split(" ").map(Number)) : null;
  };
  drawing.addEventListener("pointermove", (event) => {
    const at = cellOf(event);
    if (String(at) !== String(view.at)) Object.assign(view, { at, later: null });
  });
  drawing.addEventListener("click", (event) => {
    view.kept = cellOf(event) ?? view.kept; // also of a finger, which has left by then
    view.later = cellOf(event, "data-later");
  });
  const leave = () => {
    view.at = null;
  };
  for (const event of ["pointerleave", "blur"]) drawing.addEventListener(event, leave);
  /** @type {{ grid: Grid; at: Cell } | null} */
  let shownAt = null; // what is told of
  drawing.addEventListener("keydown", (event) => {
    const way = KEYS[event.key];
    if (!shownAt || !(way || event.key === "Enter") || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    // a key may come before what the last one chose is drawn
    if (way) shownAt = { ...shownAt, at: cellBeside(shownAt, ...way) };
    Object.assign(view, way ? { at: shownAt.at, later: null } : { kept: shownAt.at });
  });
  glass.on("run", () => Object.assign(view, { at: null, kept: null, later: null }));

  const mapFor = kept((/** @type {Shown} */ shown, _theme) => mapOf(shown));
  /** @type {ReturnType<typeof mapOf> | null} */
  let drawn = null;
  /** @param {ReturnType<typeof mapOf>} map */
  function show(map) {
    if (map === drawn) return;
    drawn = map;
    drawing.setAttribute("viewBox", `0 0 ${map.wide} ${map.high}`);
    drawing.setAttribute("width", String(map.wide));
    drawing.replaceChildren(...map.parts);
    scale.draw();
  }
  return {
    element: drawing,
    scale: scale.element,
    steps: steps.element,
    /** The cell that was pressed last where its row does not see it, and nothing has been pointed at since. */
    later: () => view.later,
    /**
     * Draws the map; gives the cell that is told of: the one under the pointer, that is kept, or `own`.
     *
     * @param {Shown} shown
     * @param {Cell} own
     * @param {string} theme
     * @returns {Cell}
     */
    draw(shown, own, theme) {
      const map = mapFor(shown, theme);
      show(map);
      const { tokens } = shown.grid;
      const pointed = [view.at, view.kept].find((cell) => cell?.every((t) => tokens.includes(t)));
      const told = pointed ?? own;
      shownAt = { grid: shown.grid, at: told };
      map.mark(...told);
      steps.draw(shown.grid, told, (t) => named(text, shown.pieces, t));
      return told;
    },
  };
}

/**
 * @type {(trace: Trace, held: Layer, head: number, query: number, key: number, width: number) => Grid} the same
 *   grid for the same head
 */
export const gridFor = kept(gridOf);
/** @type {(grid: Grid, pieces: string[], width: number, height: number) => Shown} */
export const shownFor = kept((grid, pieces, width, height) => ({ grid, pieces, width, height }));

/**
 * What a window has for a map under its scene's title, once that is brought to the top, px.
 *
 * @param {Element} map
 */
export function heightFor(map) {
  const scene = map.closest(".st-scene");
  const above = scene ? parseFloat(getComputedStyle(scene).scrollMarginTop) : 0;
  return innerHeight / zoomOf(map) - above - TITLE;
}
