// The diagram itself, in SVG: the residual stream from top to bottom, one layer expanded beside it, a row for each
// tensor.

import { svg as s } from "../../dom.js";
import { cells, centred, ink } from "../../draw.js";
import { boxOf, flows, layoutOf, STREAM } from "./layout.js";
import { columnsOf } from "./rows.js";

const MOST_COLUMNS = 512;
let made = 0; // diagrams

/**
 * The parts of a row that change with the run.
 *
 * @typedef {{
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
 *   drawn: ReturnType<typeof stripOf> | null;
 * }} Parts
 *   `place` of the strip, and what is `drawn` in it
 */

/**
 * One row: its box or ⊕, its texts, its strip.
 *
 * @returns {Parts}
 */
function makeRow(one, layout, act) {
  const { key, chapter } = one;
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
  const label = s("text.ov-label");
  const mark = s("g.ov-mark");
  if (key.endsWith("_add")) {
    mark.append(
      s("circle.ov-add", { cx: STREAM, cy: middle, r: 11 }),
      s("path.ov-plus", { d: `M${STREAM - 6} ${middle} h12 M${STREAM} ${middle - 6} v12` }),
    );
    label.setAttribute("x", wide ? "56" : "48");
    // clear of the line from the feed-forward
    label.setAttribute("y", String(wide ? middle - 8 : middle + (layout.parallel ? 28 : -10)));
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
  const line = (n) => (wide ? middle + (n === 0 ? -3 : 15) : y + 18 + 19 * n);
  const strip = { x: columns.strip, y: wide ? middle - 9 : y + 64, width: columns.end - columns.strip, height: 18 };
  const parts = {
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
  const find = (event) => indexAt(event, parts, layout);
  parts.strip.addEventListener("pointermove", (event) => act.channel(key, find(event), false));
  parts.strip.addEventListener("click", (event) => act.channel(key, find(event), true));
  return parts;
}

/** Which of the values is under the pointer; null where none is drawn. */
function indexAt({ clientX, currentTarget }, { drawn, place }, { width }) {
  if (!drawn) return null;
  const box = currentTarget.ownerSVGElement.getBoundingClientRect();
  const x = (clientX - box.left) * (width / box.width) - place.x;
  return drawn.columns[
    Math.max(0, Math.min(drawn.columns.length - 1, Math.floor((x / place.width) * drawn.columns.length)))
  ];
}

/**
 * A vector as one row of pixels, for an <image>.
 *
 * @returns {{ address: string; columns: number[]; limit: number }}
 */
function stripOf(values, width, positive, pool) {
  const columns = pool(values, Math.min(MOST_COLUMNS, Math.floor(width)));
  const picked = columns.map((i) => values[i]);
  const limit = picked.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  const place = positive ? (x) => Math.sqrt(x / (limit || 1)) : (x) => centred(x, limit);
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

/** Shows which index of a row is looked at, as a mark over its strip. */
function markChannel({ channel, drawn, place }, index) {
  const at = drawn && index !== null ? nearest(drawn.columns, index) : -1;
  channel.setAttribute("height", at < 0 ? 0 : place.height + 6);
  if (at < 0) return;
  const each = place.width / drawn.columns.length;
  channel.setAttribute("width", Math.max(3, each));
  channel.setAttribute("x", place.x + at * each - Math.max(0, (3 - each) / 2));
  channel.setAttribute("y", place.y - 3);
}

/**
 * @param {SVGElement} svg
 * @param {object} act hover(key), choose(key), open(key), channel(key, index, lock)
 */
export function createDiagram(svg, act) {
  const tip = `ov-head-${(made += 1)}`; // one in each diagram: what a hidden one holds cannot be used by another
  let layout = null;
  let rows = new Map();
  const frame = { box: s("rect.ov-layer", { rx: 10 }), title: s("text.ov-title"), note: s("text.ov-shape") };
  const dot = s("circle.ov-dot", { r: 7, cx: 0, cy: 0 });

  /** Lays everything out anew for a width and a network. */
  function build(width, model) {
    layout = layoutOf(width, model);
    const { total, y, high, gap, index, all } = layout;
    for (const [name, value] of Object.entries({ width, height: total, viewBox: `0 0 ${width} ${total}` }))
      svg.setAttribute(name, value);
    const [from, to] = [y(index("attn_norm")) - gap + 2, y(index("ffn_add")) + high + 4];
    for (const [name, value] of Object.entries({ x: 1, y: from, width: width - 2, height: to - from }))
      frame.box.setAttribute(name, String(value));
    frame.title.setAttribute("x", layout.wide ? "56" : "46");
    frame.title.setAttribute("y", String(from + 18));
    frame.note.setAttribute("x", String(layout.columns.name));
    frame.note.setAttribute("y", String(from + 18));
    rows = new Map(all.map((one) => [one.key, makeRow(one, layout, act)]));
    const marks = [...rows.values()].map(({ group }) => group);
    const grounds = marks.map((group) => group.querySelector(".ov-ground"));
    svg.replaceChildren(
      s("defs", {}, arrowHead(tip)),
      frame.box,
      ...grounds,
      flows(layout, tip),
      frame.title,
      frame.note,
      ...marks,
      dot,
    );
  }

  /**
   * The vector of a row as a strip, or an empty place where it is not here.
   *
   * @param {ArrayLike<number> | null} values
   * @param {boolean} positive on the scale of magnitudes, else on the one for both signs
   * @param {(values, columns: number) => number[]} pool which value each column shows
   */
  function drawStrip(key, values, positive, pool = (all, columns) => columnsOf(all, columns, key)) {
    const parts = rows.get(key);
    parts.drawn = values ? stripOf(values, parts.place.width, positive, pool) : null;
    if (parts.drawn) parts.strip.setAttribute("href", parts.drawn.address);
    else parts.strip.removeAttribute("href");
    return parts.drawn;
  }

  /** Marks the row that is looked at, and puts the walker there. */
  function activate(key) {
    for (const [name, { group }] of rows) group.classList.toggle("is-active", name === key);
    for (const ground of svg.querySelectorAll(".ov-ground")) ground.classList.remove("is-active");
    const index = layout.index(key);
    svg.querySelectorAll(".ov-ground")[index]?.classList.add("is-active");
    const one = layout.all[index];
    const middle = layout.middle(index);
    dot.style.transform = `translate(${one.branch ? boxOf(one, layout).left : STREAM}px, ${middle}px)`;
  }
  return {
    build,
    drawStrip,
    markChannel: (key, index) => markChannel(rows.get(key), index),
    activate,
    row: (key) => rows.get(key),
    title: frame.title,
    note: frame.note,
    layout: () => layout,
  };
}

/** The column of a strip that stands for an index. */
function nearest(columns, index) {
  let best = 0;
  columns.forEach((shown, at) => {
    if (Math.abs(shown - index) < Math.abs(columns[best] - index)) best = at;
  });
  return best;
}
