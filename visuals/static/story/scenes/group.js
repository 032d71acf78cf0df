// Grouped queries: how many heads ask, how many sets of keys and values are kept for them, and what that saves.

import { kvHead } from "../../compute.js";
import { h, svg } from "../../dom.js";
import { memo } from "../../reads.js";
import { placeOf } from "../place.js";
import { bold, count } from "../words.js";

const [HIGH, TOP, BELOW] = [160, 38, 122]; // px, and the middles of those that ask and of what is kept
const [NODE, CELL] = [15, 32]; // px: the radius of a head, and the side of a cell
const BYTES = { float32: 4, bfloat16: 2, float16: 2 }; // of a number

/** @typedef {import("../../types.d.ts").Model} Model */

/**
 * Bytes of K and V of one token over all layers, where so many heads keep them.
 *
 * @param {Model} model
 * @param {number} heads
 */
export const bytesOf = ({ n_layers, head_dim, dtype }, heads) =>
  2 * n_layers * heads * head_dim * (BYTES[/** @type {keyof typeof BYTES} */ (dtype)] ?? 4);

/**
 * Where one of some stands.
 *
 * @param {number} i
 * @param {number} of how many
 * @param {number} width
 */
const middleOf = (i, of, width) => ((i + 0.5) * width) / of;

/**
 * The radius of a head, or the side of one of two cells, where so many stand beside each other.
 *
 * @param {number} of how many
 * @param {number} width
 * @param {number} most px
 */
const reachOf = (of, width, most) => Math.min(most, width / of / 2 - 1);

/**
 * One head that asks, as a node.
 *
 * @param {number} i which one
 * @param {{ of: number; width: number; on: boolean }} how of how many, in which width, and whether it is marked
 */
function asking(i, { of, width, on }) {
  const [x, r] = [middleOf(i, of, width), reachOf(of, width, NODE)];
  return svg(
    `g.st-head${on ? ".is-on" : ""}`,
    { style: "--hue: var(--glass-q)" },
    svg("circle", { cx: x, cy: TOP, r }),
    ...(r > 10 ? [svg("text", { x, y: TOP + 5, "text-anchor": "middle" }, String(i))] : []),
  );
}

/**
 * One set of keys and values that is kept, as two cells side by side.
 *
 * @param {number} i which one
 * @param {{ of: number; width: number; on: boolean }} how
 */
function keeping(i, { of, width, on }) {
  const [x, wide] = [middleOf(i, of, width), reachOf(of, width, CELL)];
  return /** @type {const} */ (["k", "v"]).map((role, at) =>
    svg(
      `g.st-set${on ? ".is-on" : ""}`,
      { style: `--hue: var(--glass-${role})` },
      svg("rect", { x: x + (at - 1) * wide, y: BELOW - CELL / 2, width: wide, height: CELL }),
      ...(wide > 24
        ? [svg("text", { x: x + (at - 0.5) * wide, y: BELOW + 5, "text-anchor": "middle" }, `${role}${i}`)]
        : []),
    ),
  );
}

/**
 * The heads that ask, those that are kept, and who reads which.
 *
 * @param {Model} model
 * @param {number} head the one that is marked
 * @param {number} width
 */
function headsOf(model, head, width) {
  const { n_heads: heads, n_kv_heads: kept } = model;
  const every = (/** @type {number} */ length) => Array.from({ length }, (_, i) => i);
  const reads = (/** @type {number} */ i) =>
    svg(`line.st-share${i === head ? ".is-on" : ""}`, {
      x1: middleOf(i, heads, width),
      y1: TOP + reachOf(heads, width, NODE),
      x2: middleOf(kvHead(model, i), kept, width),
      y2: BELOW - CELL / 2,
    });
  return [
    ...every(heads).map(reads),
    ...every(heads).map((i) => asking(i, { of: heads, width, on: i === head })),
    ...every(kept).flatMap((i) => keeping(i, { of: kept, width, on: i === kvHead(model, head) })),
  ];
}

/** The ending of the texts. @param {Model} model */
const formOf = ({ n_heads, n_kv_heads }) => (n_kv_heads === n_heads ? "_mha" : n_kv_heads === 1 ? "_mqa" : "");

/**
 * @param {import("../scene.js").Glass} glass
 * @returns {import("../scene.js").Scene}
 */
export function createGroup(glass) {
  const { state, text } = glass;
  const drawing = svg("svg.st-group", { role: "img" });
  const formula = h("p.st-formula");
  const element = h("div", null, drawing, formula);
  /** @type {(model: Model, head: number, width: number, language: string) => void} */
  const paint = memo((model, head, width, language) => {
    const { n_layers: L, head_dim: dim, n_heads: heads, n_kv_heads: kept } = model;
    drawing.setAttribute("viewBox", `0 0 ${width} ${HIGH}`);
    drawing.setAttribute("aria-label", text("story.group_drawing", { heads, kept }));
    drawing.replaceChildren(
      svg("text.st-role", { x: 0, y: 14, style: "fill: var(--glass-q)" }, text("story.group_q")),
      svg("text.st-role", { x: 0, y: HIGH - 4, style: "fill: var(--glass-k)" }, text("story.group_kv")),
      ...headsOf(model, head, width),
    );
    const each = bytesOf(model, 1) / (2 * L * dim);
    const bytes = count(bytesOf(model, kept), language);
    formula.textContent = text("story.group_product", { layers: L, kept, dim, each, bytes });
  });
  return {
    name: "group",
    behind: ["kv", "kv-live"],
    element,
    has: ({ parts: { latent, stack } }) => !latent && !stack,
    called: formOf,
    asks: () => ({ form: state.trace ? formOf(state.trace.model) : "" }),
    draw(width) {
      const { trace, language } = state;
      const place = placeOf(glass);
      if (!trace) return null;
      const { model } = trace;
      const { n_heads, n_kv_heads } = model;
      paint(model, place?.head ?? -1, width, language); // none is marked until it is known
      const [bytes, all] = [bytesOf(model, n_kv_heads), bytesOf(model, n_heads)];
      return {
        ...(place && { select: { layer: place.layer, head: place.head } }),
        form: formOf(model),
        words: {
          heads: bold(String(n_heads)),
          kept: bold(String(n_kv_heads)),
          size: String(n_heads / n_kv_heads),
          bytes: bold(count(bytes, language)),
          all: count(all, language),
        },
        value: `heads ${n_heads} kv ${n_kv_heads} bytes ${bytes} of ${all}`,
      };
    },
  };
}
