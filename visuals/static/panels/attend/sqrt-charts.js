// Two charts: how hard one row gets by what q·k is divided by, and how far q·k is spread by how many channels it sums.

import { h, sample } from "../../dom.js";
import { chartHeight, fit, ink, write } from "../../draw.js";
import { axes, chartIn, dot, path, rule, xAt, xOf } from "../../plot.js";

const [HIGH, LEFT, RIGHT, TOP, BELOW] = [240, 44, 20, 30, 46];

/** @typedef {import("../../readings/sqrt-d.js").SqrtReading} SqrtReading */
/** @typedef {(name: string, params?: Record<string, unknown>) => string} Text */

/**
 * The largest weight and the gradient's size by the divisor, from 1 to head_dim.
 *
 * @param {Text} text of the panel
 */
export function createHardness(text) {
  const canvas = h("canvas.gp-canvas", { "data-text-label": "sqrt-d.hard_chart" });
  const legend = h(
    "div.gp-samples",
    null,
    sample("span.gp-stroke", "sqrt-d.line_largest", "k"),
    sample("span.gp-stroke.is-dashed", "sqrt-d.line_gradient", "gate"),
  );
  /** @type {import("../../plot.js").Chart | null} */
  let chart = null;
  /** The power of head_dim under the pointer. */
  const powerAt = (/** @type {number} */ x) =>
    chart ? Math.max(0, Math.round((Math.log(xAt(chart, x)) / Math.log(chart.x.high)) * 100) / 100) : null;

  /**
   * @param {number} width
   * @param {SqrtReading} reading
   */
  function draw(width, { curve, divisors, width: channels, hard }) {
    const high = chartHeight(HIGH);
    const context = fit(canvas, width, high);
    chart = chartIn(
      [width, high],
      [LEFT, RIGHT, TOP, BELOW],
      { low: 1 / channels ** 0.03, high: channels, log: true }, // the first dot stands clear of the ticks' texts
      { low: 0, high: 1 },
    );
    axes(context, chart, { xName: text("divisor_axis"), yName: text("hard_axis"), yTicks: [0, 0.25, 0.5, 0.75, 1] });
    const { colour } = ink();
    rule(context, chart, { x: divisors.root, colour: colour("accent"), dash: [5, 4], width: 2 });
    write(context, "√d", xOf(chart, divisors.root) + 4, chart.top + 14, { colour: colour("accent"), weight: 600 });
    const points = curve();
    for (const [name, role, dash] of /** @type {["largest" | "gradient", string, number[]][]} */ ([
      ["largest", "k", []],
      ["gradient", "gate", [7, 4]],
    ])) {
      path(
        context,
        chart,
        points.map((point) => [point.divisor, point[name]]),
        { colour: colour(role), width: 2.5, dash },
      );
      dot(context, chart, divisors.set, hard.set[name], colour(role), 6);
    }
  }
  return { canvas, legend, draw, powerAt };
}

/**
 * The products' standard deviation by the number of channels, and what independent entries would give.
 *
 * @param {Text} text of the panel
 */
export function createSpread(text) {
  const canvas = h("canvas.gp-canvas", { role: "img", "data-text-label": "sqrt-d.spread_chart" });
  const legend = h(
    "div.gp-samples",
    null,
    sample("span.gp-stroke", "sqrt-d.line_spread", "q"),
    sample("span.gp-stroke.is-dashed", "sqrt-d.line_expected", "muted"),
  );
  /**
   * @param {number} width
   * @param {SqrtReading} reading
   */
  function draw(width, { spread: { spread, expected }, width: channels }) {
    const high = chartHeight(HIGH);
    const context = fit(canvas, width, high);
    const most = Math.max(...spread, ...expected) * 1.08 || 1;
    const chart = chartIn([width, high], [LEFT, RIGHT, TOP, BELOW], { low: 0, high: channels }, { low: 0, high: most });
    axes(context, chart, { xName: text("channels_axis"), yName: text("spread_axis") });
    const { colour } = ink();
    const lines = /** @type {[Float64Array, string, number[]][]} */ ([
      [expected, "muted", [7, 4]],
      [spread, "q", []],
    ]);
    const last = channels - 1;
    for (const [values, role, dash] of lines) {
      /** @type {[number, number][]} */
      const points = Array.from(values, (value, i) => [i + 1, value]);
      path(context, chart, [[0, 0], ...points], { colour: colour(role), width: 2.5, dash });
      dot(context, chart, channels, values[last], colour(role));
    }
  }
  return { canvas, legend, draw };
}
