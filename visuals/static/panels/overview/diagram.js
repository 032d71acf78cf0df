// The diagram itself, in SVG: the residual stream from top to bottom, one layer expanded beside it, a row for each
// tensor.

import { poolColumns } from "../../arrays.js";
import { svg as s } from "../../dom.js";
import { cells, centred, ink } from "../../draw.js";
import { boxOf, flows, layoutOf, STREAM } from "./layout.js";

const MOST_COLUMNS = 512;
let made = 0; // diagrams

/**
 * @typedef {import("./layout.js").Layout} Layout
 *
 * @typedef {(values: ArrayLike<number>, columns: number) => number[]} Pool which value each column of a strip shows
 *
 * @typedef {{ address: string; columns: number[]; limit: number }} Strip a picture of a vector; `columns`: the
 *   index of the value in each
 *
 * @typedef {{
 *   hover: (key: string) => void;
 *   choose: (key: string) => void;
 *   open: (key: string) => void;
 *   channel: (key: string, index: number | null, lock: boolean) => void;
 * }} Acts
 *   what a row is told
 *
 * @typedef {ReturnType<typeof createDiagram>} Diagram
 */

/**
 * The parts of a row that change with the run.
 *
 * @typedef {{
 *   ground: SVGElement;
 *   mark: SVGElement;
 *   label: SVGElement;
 *   name: SVGElement;
 *   shape: SVGElement;
 *   size: SVGElement;
 *   limit: SVGElement;
 *   inner: SVGElement;
 *   channel: SVGElement;
 *   strip: SVGElement;
 *   place: { x: number; y: number; width: number; height: number };
 *   group: SVGElement;
 *   drawn: Strip | null;
 * }} Parts
 *   `place` of the strip, and what is `drawn` in it
 */

/**
 * A row's box or ⊕ with its name, which leads to its chapter.
 *
 * @param {import("../../readings/diagram-rows.js").Row} one
 * @param {Layout} layout
 * @param {Acts} act
 */
function makeMark(one, layout, act) {
  const { key, chapter } = one;
  const middle = layout.middle(layout.index(key));
  const label = s("text.ov-label");
  const mark = s("g.ov-mark");
  if (key.endsWith("_add")) {
    mark.append(
      s("circle.ov-add", { cx: STREAM, cy: middle, r: 11 }),
      s("path.ov-plus", { d: `M${STREAM - 6} ${middle} h12 M${STREAM} ${middle - 6} v12` }),
    );
    label.setAttribute("x", layout.wide ? "56" : "48");
    // clear of the line from the feed-forward
    label.setAttribute("y", String(layout.wide ? middle - 8 : middle + (layout.parallel ? 28 : -10)));
  } else {
    const { left, width } = boxOf(one, layout);
    mark.append(
      s("rect.ov-box", { x: left, y: middle - layout.box / 2, width, height: layout.box, rx: 6, "data-part": key }),
    );
    label.setAttribute("x", String(left + width / 2));
    label.setAttribute("y", String(middle + 5));
    label.classList.add("is-middle");
  }
  mark.append(label);
  if (chapter) {
    mark.classList.add("is-link");
    for (const [name, value] of Object.entries({ role: "button", tabindex: "0", "data-chapter": chapter }))
      mark.setAttribute(name, value);
    mark.addEventListener("click", (event) => {
      event.stopPropagation();
      act.open(key);
    });
    mark.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      act.open(key);
    });
  }
  return { mark, label };
}

/**
 * One row: its box or ⊕, its texts, its strip.
 *
 * @param {import("../../readings/diagram-rows.js").Row} one
 * @param {Layout} layout
 * @param {Acts} act
 * @returns {Parts}
 */
function makeRow(one, layout, act) {
  const { key } = one;
  const index = layout.index(key);
  const [y, middle] = [layout.y(index), layout.middle(index)];
  const { columns, wide } = layout;
  const ground = s("rect.ov-ground", {
    x: 0,
    y: y + 1,
    width: layout.width,
    height: layout.high + (one.inner && layout.wide ? 18 : 0) - 2,
    rx: 6,
  });
  const { mark, label } = makeMark(one, layout, act);
  const line = (/** @type {number} */ n) => (wide ? middle + (n === 0 ? -3 : 15) : y + 18 + 19 * n);
  const strip = { x: columns.strip, y: wide ? middle - 9 : y + 64, width: columns.end - columns.strip, height: 18 };
  /** @type {Parts} */
  const parts = {
    ground,
    mark,
    label,
    name: s("text.ov-name", { x: columns.name, y: line(0) }),
    shape: s("text.ov-shape", { x: columns.name, y: line(1) }),
    size: s("text.ov-size", wide ? { x: columns.size, y: middle + 5 } : { x: columns.size, y: line(2) }),
    limit: s(
      "text.ov-limit",
      wide
        ? { x: columns.limit, y: middle + 5, "text-anchor": "end" }
        : { x: columns.end, y: line(1), "text-anchor": "end" },
    ),
    inner: s("text.ov-inner", { x: columns.strip, y: strip.y + strip.height + 16 }),
    channel: s("rect.ov-channel", { y: 0, width: 3, height: 0 }),
    strip: s("image.ov-strip", { ...strip, preserveAspectRatio: "none" }),
    place: strip,
    group: s(`g.ov-row${one.inside ? ".is-inside" : ""}`, { "data-row": key }, ground, mark),
    drawn: null,
  };
  const { group } = parts;
  group.append(parts.name, parts.shape, parts.size, parts.limit, parts.strip, parts.channel, parts.inner);
  group.addEventListener("pointerenter", () => act.hover(key));
  group.addEventListener("click", () => act.choose(key));
  const find = (/** @type {MouseEvent} */ event) => indexAt(event, parts, layout);
  parts.strip.addEventListener("pointermove", (event) => act.channel(key, find(event), false));
  parts.strip.addEventListener("click", (event) => act.channel(key, find(event), true));
  return parts;
}

/**
 * Which of the values is under the pointer; null where none is drawn.
 *
 * @param {MouseEvent} event
 * @param {Parts} parts
 * @param {Layout} layout
 */
function indexAt({ clientX }, { drawn, place, group }, { width }) {
  const box = drawn && group.ownerSVGElement?.getBoundingClientRect();
  if (!drawn || !box) return null;
  const x = (clientX - box.left) * (width / box.width) - place.x;
  return drawn.columns[
    Math.max(0, Math.min(drawn.columns.length - 1, Math.floor((x / place.width) * drawn.columns.length)))
  ];
}

/**
 * A vector as one row of pixels, for an <image>.
 *
 * @param {ArrayLike<number>} values
 * @param {number} width
 * @param {boolean} positive on the scale of magnitudes, else on the one for both signs
 * @param {Pool} pool
 * @returns {Strip}
 */
function stripOf(values, width, positive, pool) {
  const columns = pool(values, Math.min(MOST_COLUMNS, Math.floor(width)));
  const picked = columns.map((i) => values[i]);
  const limit = picked.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  const place = (/** @type {number} */ x) => (positive ? Math.sqrt(x / (limit || 1)) : centred(x, limit));
  const image = cells(picked, columns.length, 1, positive ? ink().magnitude : ink().signed, place);
  return { address: image.toDataURL(), columns, limit };
}

/** @param {string} id */
const arrowHead = (id) =>
  s(
    "marker",
    {
      id,
      viewBox: "0 0 8 8",
      refX: 6,
      refY: 4,
      markerWidth: 8,
      markerHeight: 8,
      markerUnits: "userSpaceOnUse",
      orient: "auto",
    },
    s("path.ov-tip", { d: "M0 0 L8 4 L0 8 z" }),
  );

/**
 * Shows which index of a row is looked at, as a mark over its strip.
 *
 * @param {Parts} parts
 * @param {number | null} index
 */
function markChannel({ channel, drawn, place }, index) {
  if (!drawn || index === null) {
    channel.setAttribute("height", "0");
    return;
  }
  const each = place.width / drawn.columns.length;
  const x = place.x + nearest(drawn.columns, index) * each - Math.max(0, (3 - each) / 2);
  setAll(channel, { x, y: place.y - 3, width: Math.max(3, each), height: place.height + 6 });
}

/**
 * @param {SVGElement} element
 * @param {Record<string, string | number>} attributes
 */
function setAll(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
}

/**
 * @param {SVGElement} svg
 * @param {Acts} act
 */
export function createDiagram(svg, act) {
  const tip = `ov-head-${(made += 1)}`; // one in each diagram: what a hidden one holds cannot be used by another
  /** @type {{ layout: Layout; rows: Map<string, Parts> } | null} null until it is built */
  let built = null;
  const frame = { box: s("rect.ov-layer", { rx: 10 }), title: s("text.ov-title"), note: s("text.ov-shape") };
  const dot = s("circle.ov-dot", { r: 7, cx: 0, cy: 0 });

  function now() {
    if (!built) throw new Error("the diagram has to be built for a width and a network first");
    return built;
  }
  /** @param {string} key of a row that the network has */
  function row(key) {
    const found = now().rows.get(key);
    if (!found) throw new RangeError(`the diagram has no row ${key}`);
    return found;
  }

  /**
   * Lays everything out anew for a width and a network.
   *
   * @param {number} width
   * @param {import("../../types.d.ts").Model} model
   */
  function build(width, model) {
    const layout = layoutOf(width, model);
    const { total, y, high, gap, index, all } = layout;
    setAll(svg, { width, height: total, viewBox: `0 0 ${width} ${total}` });
    const [from, to] = [y(index("attn_norm")) - gap + 2, y(index("ffn_add")) + high + 4];
    setAll(frame.box, { x: 1, y: from, width: width - 2, height: to - from });
    setAll(frame.title, { x: layout.wide ? 56 : 46, y: from + 18 });
    setAll(frame.note, { x: layout.columns.name, y: from + 18 });
    const rows = new Map(all.map((one) => [one.key, makeRow(one, layout, act)]));
    built = { layout, rows };
    const every = [...rows.values()];
    svg.replaceChildren(
      s("defs", {}, arrowHead(tip)),
      frame.box,
      ...every.map(({ ground }) => ground),
      flows(layout, tip),
      frame.title,
      frame.note,
      ...every.map(({ group }) => group),
      dot,
    );
  }

  /**
   * The vector of a row as a strip, or an empty place where it is not here.
   *
   * @param {string} key
   * @param {ArrayLike<number> | null} values
   * @param {boolean} positive on the scale of magnitudes, else on the one for both signs
   * @param {Pool} pool
   */
  function drawStrip(key, values, positive, pool = poolColumns) {
    const parts = row(key);
    parts.drawn = values ? stripOf(values, parts.place.width, positive, pool) : null;
    if (parts.drawn) parts.strip.setAttribute("href", parts.drawn.address);
    else parts.strip.removeAttribute("href");
    return parts.drawn;
  }

  /**
   * Marks the row that is looked at, and puts the walker there.
   *
   * @param {string} key
   */
  function activate(key) {
    const { layout, rows } = now();
    for (const [name, { group, ground }] of rows)
      for (const element of [group, ground]) element.classList.toggle("is-active", name === key);
    const index = layout.index(key);
    const one = layout.all[index];
    const middle = layout.middle(index);
    dot.style.transform = `translate(${one.branch ? boxOf(one, layout).left : STREAM}px, ${middle}px)`;
  }
  return {
    build,
    drawStrip,
    markChannel: (/** @type {string} */ key, /** @type {number | null} */ index) => markChannel(row(key), index),
    activate,
    row,
    title: frame.title,
    note: frame.note,
    layout: () => now().layout,
  };
}

/**
 * The column of a strip that stands for an index.
 *
 * @param {number[]} columns
 * @param {number} index
 */
function nearest(columns, index) {
  let best = 0;
  columns.forEach((shown, at) => {
    if (Math.abs(shown - index) < Math.abs(columns[best] - index)) best = at;
  });
  return best;
}
