// A token's vector and what RMSNorm makes of it: another length, the same direction; and what γ makes of that.

import { strongest } from "../../arrays.js";
import { labelsOf } from "../../characters.js";
import { exact, h, svg } from "../../dom.js";
import { centres } from "../../parts.js";
import { memo } from "../../reads.js";
import { normVector } from "../../readings/norm.js";
import { rms } from "../../readings/norms.js";
import { readHere } from "../../run-for.js";
import { placeOf } from "../place.js";
import { createRows, limitOf } from "../strips.js";
import { few, fewOut, named, told } from "../words.js";

const [HIGH, EDGE, HEADED] = [190, 26, 16]; // px; a shorter arrow would be all head, and could point anywhere

/**
 * @typedef {import("../../readings/norm.js").VectorReading} VectorReading
 *
 * @typedef {import("../scene.js").Glass} Glass
 */

/** @typedef {{ name: string; role: string; at: [number, number]; end: string }} Arrow */

/**
 * Two channels of a vector, before and after the division, as arrows from one point.
 *
 * @param {number} width
 * @param {Arrow[]} arrows
 */
function arrowsOf(width, arrows) {
  const most = Math.max(...arrows.flatMap(({ at }) => at.map(Math.abs))) || 1;
  const [long] = arrows.map(({ at }) => at);
  const [x0, y0] = [width * (long[0] < 0 ? 0.7 : 0.3), long[1] < 0 ? EDGE : HIGH - EDGE];
  const scale = Math.min(0.5 * width, HIGH - 2 * EDGE) / most;
  const axis = (/** @type {number[]} */ [x1, y1, x2, y2]) => svg("line.st-axis", { x1, y1, x2, y2 });
  const size = (/** @type {Arrow} */ { at }) => Math.hypot(...at);
  const shorter = arrows.reduce((least, arrow) => (size(arrow) < size(least) ? arrow : least));
  const drawn = arrows.flatMap((arrow) => {
    const {
      name,
      role,
      at: [a, b],
      end,
    } = arrow;
    const [x, y] = [x0 + a * scale, y0 - b * scale];
    const side = a < 0 ? "end" : "start";
    const headed = Math.hypot(x - x0, y - y0) >= HEADED;
    const beside = b < 0 ? y0 - 8 : y0 + 20; // across the axis: at its end the longer arrow would go through it
    const look = { stroke: `var(--glass-${role})`, "marker-end": headed ? `url(#st-${end})` : "none" };
    return [
      svg("line.st-arrow", { x1: x0, y1: y0, x2: x, y2: y, ...look }),
      svg(
        "text",
        {
          x: x + (a < 0 ? -10 : 10),
          y: arrow === shorter ? beside : y + 5,
          "text-anchor": side,
          style: `fill: var(--glass-${role})`,
        },
        name,
      ),
    ];
  });
  return [axis([EDGE, y0, width - EDGE, y0]), axis([x0, EDGE / 2, x0, HIGH - EDGE / 2]), ...drawn];
}

/**
 * @param {string} id
 * @param {string} role
 */
const head = (id, role) =>
  svg(
    "marker",
    { id: `st-${id}`, viewBox: "0 0 10 10", refX: 8, refY: 5, markerWidth: 5, markerHeight: 5, orient: "auto" },
    svg("path", { d: "M0 0 L10 5 L0 10 z", fill: `var(--glass-${role})` }),
  );

/**
 * The channels in which γ is smallest and largest.
 *
 * @param {ArrayLike<number>} gamma
 */
function extremesOf(gamma) {
  const all = Array.from(gamma);
  return { low: all.indexOf(Math.min(...all)), high: all.indexOf(Math.max(...all)) };
}

/**
 * Where a vector's colours end, and its largest value, before and after the division by its size, in digits that
 * come out.
 *
 * @param {ArrayLike<number>} x
 * @param {number} divisor
 */
function dividedBy(x, divisor) {
  const { limit, most } = limitOf(x);
  const values = { limit, most, divisor, limitAfter: limit / divisor, mostAfter: most / divisor };
  /** @type {(a: number, b: number) => number} */
  const by = (a, b) => a / b;
  const said = fewOut(values, [
    ["limitAfter", ["limit", "divisor"], by],
    ["mostAfter", ["most", "divisor"], by],
  ]);
  const { limitAfter, mostAfter, ...before } = said;
  return { before, after: { limit: limitAfter, most: mostAfter } };
}

/**
 * What γ makes of the channels in which it is smallest and largest.
 *
 * @param {Glass} glass
 */
function createGamma({ text }) {
  const body = h("tbody");
  const caption = h("caption.gp-hidden", { "data-text": "story.norm_gamma" });
  const column = (/** @type {string} */ words) => h("th", { scope: "col" }, words);
  const named = (/** @type {string} */ key) => h("th", { scope: "col", "data-text": `story.norm_${key}` });
  const head = h("thead", null, h("tr", null, named("channel"), column("x / RMS(x)"), named("times"), named("gives")));
  const element = h("table.st-gamma", null, caption, head, body);
  /** @param {ArrayLike<number>} divided @param {ArrayLike<number>} gamma */
  function draw(divided, gamma) {
    const { low, high } = extremesOf(gamma);
    const rows = /** @type {const} */ ([
      ["least", low],
      ["most", high],
    ]);
    const number = (/** @type {number} */ x) => h("td", { title: exact(x, 6) }, few(x));
    body.replaceChildren(
      ...rows.map(([name, channel]) => {
        const [x, times] = [divided[channel], gamma[channel]];
        const words = text(`story.norm_${name}`, { channel });
        return h("tr", null, h("th", { scope: "row" }, words), number(x), number(times), number(x * times));
      }),
    );
  }
  return { element, draw };
}

/**
 * @param {Glass} glass
 * @returns {import("../scene.js").Scene}
 */
export function createNorm(glass) {
  const { state } = glass;
  const marks = svg("defs", {}, head("before", "muted"), head("after", "norm"));
  const drawing = svg("svg.st-arrows", { role: "img" });
  const [axes, about] = [h("p.st-note"), h("p.st-note")];
  const rows = createRows(glass, "story.norm_rows");
  const scaled = createGamma(glass);
  const element = h("div", null, drawing, axes, rows.element, scaled.element);
  /** @param {VectorReading} reading @param {number} width */
  function drawIn({ input: { x, divisor, gamma } }, width) {
    const [a, b] = strongest(x, 2);
    const divided = Float64Array.from(x, (value) => value / divisor);
    const names = { before: `x`, after: `x / RMS(x)`, normed: `RMSNorm(x) = γ ⊙ x / RMS(x)` };
    drawing.setAttribute("viewBox", `0 0 ${width} ${HIGH}`);
    drawing.setAttribute("aria-label", glass.text("story.norm_arrows", { a, b }));
    const arrows = /** @type {Arrow[]} */ ([
      { name: names.before, role: "muted", at: [x[a], x[b]], end: "before" },
      { name: names.after, role: "norm", at: [divided[a], divided[b]], end: "after" },
    ]);
    drawing.replaceChildren(marks, ...arrowsOf(width, arrows));
    axes.textContent = glass.text("story.norm_axes", { a, b, d: x.length });
    about.textContent = glass.text("story.norm_strips", { d: x.length });
    const said = dividedBy(x, divisor);
    /**
     * @type {(
     *   name: string,
     *   role: string,
     *   values: ArrayLike<number>,
     *   end?: import("../strips.js").Row["end"],
     * ) => import("../strips.js").Row}
     */
    const row = (name, role, values, end) => {
      const value = rms(values, 0);
      return { name, role, values, end, size: { value, words: glass.text("story.norm_size", { rms: few(value) }) } };
    };
    rows.paint(
      width,
      [
        row(names.before, "muted", x, said.before),
        row(names.after, "norm", divided, said.after),
        row(
          names.normed,
          "norm",
          divided.map((value, i) => value * gamma[i]),
        ),
      ],
      state.theme,
    );
    scaled.draw(divided, gamma);
  }
  /** @type {(reading: VectorReading, width: number, ...more: unknown[]) => void} */
  const paint = memo(drawIn);
  return {
    name: "norm",
    behind: ["norm", "norm-vector"],
    element,
    notes: about,
    has: (model) => !centres(model),
    draw(width) {
      const { trace, language, theme } = state;
      const place = placeOf(glass);
      if (!trace || !place) return null;
      const { layer, look, key, query } = place;
      const token = look ? key : query;
      const found = readHere(glass, normVector, { norm: "attn", layer, query: token, channel: null });
      if (!found) return null;
      paint(found, width, language, theme);
      const { divisor, x, gamma } = found.input;
      const extremes = extremesOf(gamma);
      const [low, high] = [gamma[extremes.low], gamma[extremes.high]];
      const size = rms(x, 0) / divisor; // which is not quite 1, by ε
      return {
        words: {
          word: named(glass.text, labelsOf(trace.tokens.pieces), token),
          d: String(x.length),
          layer: String(layer),
          rms: told(few(divisor), divisor),
          after: told(few(size), size),
          low: told(few(low), low),
          high: told(few(high), high),
        },
        select: { layer, query: token },
        value: `layer ${layer} token ${token} rms=${exact(divisor)} low=${exact(low)} high=${exact(high)}`,
      };
    },
  };
}
