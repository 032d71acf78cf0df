// Where the diagram's rows, columns and boxes stand, and its lines of flow.

import { svg as s } from "../../dom.js";
import { indexOf, rowsOf, sideBySide } from "../../readings/diagram-rows.js";

/**
 * @typedef {import("../../readings/diagram-rows.js").Row} Row
 *
 * @typedef {ReturnType<typeof layoutOf>} Layout
 */

const [WIDE, MARGIN] = [760, 8];
export const STREAM = 30; // where the residual stream stands

/**
 * Where columns and rows are, for a width in pixels.
 *
 * @param {number} width
 * @param {import("../../types.d.ts").Model} model
 */
export function layoutOf(width, model) {
  const wide = width >= WIDE;
  const parallel = sideBySide(model);
  const [high, diagram] = wide ? [44, 300] : [90, parallel ? 226 : 148];
  const all = rowsOf(model);
  const index = (/** @type {string} */ key) => indexOf(model, key);
  const top = 12;
  const gap = 26; // above and below the expanded layer: its name, and air
  const before = index("attn_norm");
  const after = index("ffn_add");
  // Attention and FFN name what they hold inside, on a line of its own where there is room.
  const taller = (/** @type {number} */ at) => (wide ? 18 * all.slice(0, at).filter(({ inner }) => inner).length : 0);
  const y = (/** @type {number} */ at) =>
    top + at * high + taller(at) + (at >= before ? gap : 0) + (at > after ? 12 : 0);
  const middle = (/** @type {number} */ at) => y(at) + high / 2;
  const columns = wide
    ? { name: diagram + 16, size: diagram + 176, strip: diagram + 326, end: width - 84, limit: width - 12 }
    : { name: diagram + 8, size: diagram + 8, strip: diagram + 8, end: width - MARGIN, limit: width - MARGIN };
  return {
    width,
    wide,
    parallel,
    all,
    index,
    high,
    diagram,
    gap,
    y,
    middle,
    columns,
    total: y(all.length) + 4,
    box: wide ? 34 : 38,
  };
}

/**
 * The frame of a row's box: on the stream, or beside it; of two parts side by side, attention to the right of the
 * feed-forward.
 *
 * @param {Row} row
 * @param {Layout} layout
 */
export function boxOf({ key, branch }, { wide, parallel, diagram, index }) {
  const left = branch ? (wide ? 92 : 46) : MARGIN;
  const width = diagram - left;
  if (!branch || !parallel || (key === "attn_norm" && index("ffn_norm") < 0)) return { left, width };
  const half = (width - 8) / 2;
  return { left: key.startsWith("attn") ? left + half + 8 : left, width: half };
}

/**
 * Lines of flow: the stream, and its way out to norm, attention, FFN and back to what is added.
 *
 * @param {Layout} layout
 * @param {string} tip the id of the arrow's head
 */
export function flows(layout, tip) {
  const { all, index, box } = layout;
  const middle = (/** @type {string} */ key) => layout.middle(index(key));
  const group = s("g.ov-flow");
  const path = (/** @type {string} */ d) => group.append(s("path.ov-line", { d, "marker-end": `url(#${tip})` }));
  group.append(s("path.ov-line.is-stream", { d: `M${STREAM} ${middle("ids")} V${layout.middle(all.length - 1)}` }));
  for (const part of ["attn", "cross", "ffn"].filter((one) => index(one) >= 0)) {
    const { left, width } = boxOf(all[index(part)], layout);
    const across = left + width / 2;
    const own = index(`${part}_norm`) >= 0;
    const norm = own ? `${part}_norm` : "attn_norm";
    if (own) path(`M${STREAM} ${middle(norm)} H${boxOf(all[index(norm)], layout).left - 3}`);
    path(`M${across} ${middle(norm) + box / 2} V${middle(part) - box / 2 - 3}`);
    const end = index(`${part}_add`) >= 0 ? `${part}_add` : "ffn_add";
    path(`M${across} ${middle(part) + box / 2} V${middle(end)} H${STREAM + 14}`);
  }
  return group;
}
