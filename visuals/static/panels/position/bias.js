// A bias by distance in place of a rotation: a curve for each head, and the score of the chosen query and key with it.

import { biasAt, kvHead, rotatedHead, row, slopeOf } from "../../compute.js";
import { exact, h, line, sample, shown, strong } from "../../dom.js";
import { fit, ink, write } from "../../draw.js";
import { across, link, steer } from "../../pointing.js";
import { axes, chartIn, dot, path, rule, ticks, xAt, xOf, yOf } from "../../plot.js";
import { scoreLine } from "../attend/score-lines.js";

const [HIGH, LEFT, RIGHT, TOP, BELOW] = [320, 62, 84, 30, 46];
const NEAR = 14; // pixels within which a curve is taken for the one that is pointed at

/** A head's bias at every distance of the run. @returns {Float64Array} */
const curveOf = (model, head) => Float64Array.from({ length: model.parts.bias.shape[1] }, (_, distance) => biasAt(model, head, distance));

function chartOf(width, model) {
  const { data, shape: [, tokens] } = model.parts.bias;
  const [low, high] = [data.reduce((a, b) => Math.min(a, b), 0), data.reduce((a, b) => Math.max(a, b), 0)];
  const spare = (high - low || 1) * 0.05;
  return chartIn([width, HIGH], [LEFT, RIGHT, TOP, BELOW], { low: 0, high: Math.max(1, tokens - 1) }, { low: low - spare, high: high + spare });
}

/** What the chosen head, query and key have: q·k, the bias at their distance, and the score. */
function biasOf(layer, { trace: { model }, head, query, key }) {
  const width = model.head_dim;
  const [q, k] = [["q", head, query], ["k", kvHead(model, head), key]].map(([name, index, t]) => rotatedHead(layer, model, name, index).subarray(t * width, (t + 1) * width));
  const product = q.reduce((sum, x, i) => sum + x * k[i], 0);
  return { kv: kvHead(model, head), dot: product, distance: query - key, slope: slopeOf(model, head), bias: biasAt(model, head, query - key), score: row(layer, model, head, query).scores[key] };
}

/** @param {object} glass @param {Function} text @returns {{ element: HTMLElement, draw: Function, tell: Function, table: Function }} */
export function createBias(glass, text) {
  const { state } = glass;
  const canvas = h("canvas.gp-canvas", { "data-text-label": "rope.bias_chart" });
  const formula = h("div.gp-formula");
  const samples = h("div.gp-samples", null, sample("span.gp-stroke.is-k_after", "rope.bias_head", "accent"), sample("span.gp-stroke.is-k_after", "rope.bias_others", "muted"));
  const element = h("div", null, samples, canvas, formula, h("p.gp-note", { "data-text": "rope.bias_note" }));
  let wide = 1;
  link(canvas, glass, (x, y) => {
    const { trace: { model }, query } = state;
    const chart = chartOf(wide, model);
    const distance = Math.round(xAt(chart, x));
    if (distance < 0 || distance > query) return null;
    const away = (head) => Math.abs(yOf(chart, biasAt(model, head, distance)) - y);
    const [nearest] = Array.from({ length: model.n_heads }, (_, head) => head).sort((a, b) => away(a) - away(b));
    return { key: query - distance, ...(away(nearest) < NEAR ? { head: nearest } : {}) };
  });
  steer(canvas, glass, across("key"));

  function draw(held, width) {
    wide = width;
    const { trace: { model }, head, query } = state;
    const found = biasOf(held, state);
    const context = fit(canvas, width, HIGH);
    const { colour } = ink();
    const chart = chartOf(width, model);
    axes(context, chart, { xTicks: ticks(chart.x, Math.max(2, Math.floor(chart.width / 90))).filter(Number.isInteger), xName: text("distance_axis"), yName: text("bias_axis") });
    rule(context, chart, { y: 0, colour: colour("muted") });
    const last = chart.x.high;
    for (let other = 0; other < model.n_heads; other++) {
      if (other !== head) path(context, chart, Array.from(curveOf(model, other), (value, i) => [i, value]), { colour: colour("muted"), width: 1.2 });
    }
    const own = curveOf(model, head);
    rule(context, chart, { x: query, colour: colour("line"), dash: [4, 3] }); // farther keys there are not for this query
    path(context, chart, Array.from(own, (value, i) => [i, value]), { colour: colour("accent"), width: 3 });
    dot(context, chart, found.distance, found.bias, colour("accent"), 6);
    write(context, text("head", { head }), xOf(chart, last) + 8, yOf(chart, own.at(-1)), { base: "middle", weight: 600, colour: colour("accent"), most: RIGHT - 10 });
    return found;
  }
  /** What data-value holds, and the line under the title. */
  function tell({ dot: product, distance, slope, bias, score }) {
    const { trace: { model }, layer, head, query, key } = state;
    const lines = slope === null
      ? [line`b[${String(distance)}] = ${strong(bias)}`]
      : [line`${text("slope", { head })} = ${strong(slope)}`, line`b = ${text("slope_times")} = −${shown(slope, 5)} · (${String(query)} − ${String(key)}) = −${shown(slope, 5)} · ${String(distance)} = ${strong(bias)}`];
    formula.replaceChildren(...lines, scoreLine(model, { dot: product, score, head, query, key }, text), line`${text("without_bias")} ${shown(score - bias, 5)} → ${text("with_bias")} ${shown(score, 5)}`);
    const sloped = slope === null ? "" : ` slope=${exact(slope)}`;
    return [
      `layer ${layer} head ${head} query ${query} key ${key} distance ${distance}${sloped} bias=${exact(bias)} qk=${exact(product)} score=${exact(score)}`,
      text("read_bias", { head, distance, bias: shown(bias, 5), slope: slope === null ? "" : shown(slope, 5) }),
    ];
  }
  /** @returns {(string|number)[][]} every head's bias by distance */
  function table() {
    const { model } = state.trace;
    const heads = Array.from({ length: model.n_heads }, (_, head) => curveOf(model, head));
    return [["distance", ...heads.map((_, head) => `head_${head}`)], ...Array.from(heads[0], (_, distance) => [distance, ...heads.map((curve) => curve[distance])])];
  }
  return { element, draw, tell, table };
}
