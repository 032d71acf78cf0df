// How far a circuit carries an answer by its number of parts: a small chart with axes.

import { h, svg } from "../../dom.js";

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [300, 130, 44, 12, 10, 30];

/**
 * Where shares and numbers of parts stand, in pixels. Below 0 and above 1 there is room for what is there.
 *
 * @param {[number, number][]} curve
 */
export function placesOf(curve) {
  const shares = curve.map(([, share]) => share);
  const [low, high] = [Math.min(0, ...shares), Math.max(1, ...shares)];
  const most = Math.max(...curve.map(([count]) => count));
  return {
    most,
    /** @param {number} count */
    x: (count) => LEFT + (count / most) * (WIDTH - LEFT - RIGHT),
    /** @param {number} share */
    y: (share) => TOP + ((high - share) / (high - low)) * (HEIGHT - TOP - BOTTOM),
  };
}

/**
 * @param {{ curve: [number, number][]; nodes: object[] }} circuit
 * @param {(name: string, params?: Record<string, string | number>) => string} text of the section "why"
 * @param {(share: number) => string} percent
 * @returns {HTMLElement}
 */
export function curveOf({ curve, nodes }, text, percent) {
  const { x, y, most } = placesOf(curve);
  /** @param {number} share */
  const line = (share) =>
    svg("line.wy-rule", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(share).toFixed(1), y2: y(share).toFixed(1) });
  /** @param {number} share */
  const tick = (share) =>
    svg("text", { x: LEFT - 6, y: y(share) + 4, "text-anchor": "end" }, `${Math.round(100 * share)}%`);
  /** @param {number} count */
  const below = (count) => svg("text", { x: x(count), y: HEIGHT - 14, "text-anchor": "middle" }, String(count));
  const points = curve.map(([count, share]) => `${x(count).toFixed(1)},${y(share).toFixed(1)}`).join(" ");
  const dots = curve.map(([count, share]) =>
    svg(
      count === nodes.length ? "circle.is-chosen" : "circle",
      { cx: x(count).toFixed(1), cy: y(share).toFixed(1), r: count === nodes.length ? 5 : 3 },
      svg("title", {}, text("curve_at", { count, share: percent(share) })),
    ),
  );
  const label = curve.map(([count, share]) => text("curve_at", { count, share: percent(share) })).join(" · ");
  const chart = svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, role: "img", "aria-label": label },
    ...[0, 0.9].flatMap((share) => [line(share), tick(share)]),
    ...[0, Math.round(most / 2), most].map(below),
    svg("text", { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 1, "text-anchor": "middle" }, text("curve_axis")),
    svg("polyline", { points }),
    ...dots,
  );
  return h("figure.wy-curve", null, chart, h("figcaption.gp-note", null, text("curve")));
}
