// With and without a cache: the same tokens written both ways on the server, timed and counted.

import { h, sample, shown } from "../../dom.js";
import { chartHeight, fit, ink } from "../../draw.js";
import { frame } from "../../frame.js";
import { oneText } from "../../parts.js";
import { axes, chartIn, dot, path, rule, xAt } from "../../plot.js";
import { inView, placeIn, widthOf } from "../../pointing.js";
import { reactive } from "../../reads.js";
import { shownIn } from "../../run-for.js";
import { times, whole } from "./format.js";
import { AT_ONCE, layerWeights, raceOf, totals } from "./race.js";
import { troubleText } from "./trouble.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("./race.js").Trace} Trace
 *
 * @typedef {import("./race.js").Step} Step
 *
 * @typedef {"time" | "work"} Kind
 *
 * @typedef {object} Quantity
 * @property {"cached_seconds" | "cached_work"} cached
 * @property {"full_seconds" | "full_work"} full
 * @property {number} scale to what the axis has
 */

const [LEFT, TOP, HIGH, BELOW] = [64, 30, 270, 50];
const ABOVE = 96; // the legend and a title of two lines
/**
 * A time in ms, never as a power of ten.
 *
 * @param {number} seconds
 */
export const milli = (seconds) => (seconds < 0.9995 ? shown(1000 * seconds, 3) : whole(Math.round(1000 * seconds)));
const million = (/** @type {number} */ count) => shown(count / 1e6, 4);
/** @type {Record<Kind, Quantity>} */
const CHARTS = {
  time: { cached: "cached_seconds", full: "full_seconds", scale: 1000 },
  work: { cached: "cached_work", full: "full_work", scale: 1e-6 },
};

/**
 * One chart: a line with the cache, one without, against the length of the text.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {Step[]} steps
 * @param {Quantity} quantity
 * @param {Step} at the one that is marked
 * @param {Say} text
 * @param {string} axis the text of its name
 */
function drawChart(canvas, width, steps, { cached, full, scale }, at, text, axis) {
  const tall = chartHeight(HIGH, ABOVE);
  const context = fit(canvas, width, tall);
  const most = Math.max(...steps.map((step) => Math.max(step[cached], step[full]))) * scale;
  const [first, last] = [steps[0].tokens, Math.max(steps[steps.length - 1].tokens, steps[0].tokens + 8)];
  const chart = chartIn(
    [width, tall],
    [LEFT, 12, TOP, BELOW],
    { low: first, high: last },
    { low: 0, high: most * 1.08 },
  );
  axes(context, chart, { xName: text("axis_tokens"), yName: text(axis) });
  const { colour } = ink();
  /** @type {[typeof full | typeof cached, string, number[]][]} */
  const lines = [
    [full, "output", [6, 4]],
    [cached, "accent", []],
  ];
  for (const [name, hue, dash] of lines) {
    path(
      context,
      chart,
      steps.map((step) => [step.tokens, step[name] * scale]),
      { colour: colour(hue), width: 2.5, dash },
    );
    dot(context, chart, at.tokens, at[name] * scale, colour(hue));
  }
  rule(context, chart, { x: at.tokens, colour: colour("muted"), dash: [2, 3] });
  return chart;
}

/**
 * The count of one step, written out.
 *
 * @param {Say} text
 * @param {Trace} trace
 * @param {Step} at
 * @returns {HTMLElement[]}
 */
function arithmetic(text, { model }, at) {
  const { n_layers, n_heads, head_dim, d_model, vocab_size } = model;
  const weights = layerWeights(model);
  const [head, n, each] = [vocab_size * d_model, at.tokens, n_layers * n_heads * 2 * head_dim];
  const pairs = (n * (n + 1)) / 2;
  const sum = (/** @type {number} */ fresh, /** @type {number} */ meeting, /** @type {number} */ work) =>
    `${whole(fresh)} × ${whole(weights)} + ${whole(head)} + ${whole(each)} × ${whole(meeting)} = ${whole(work)}`;
  const params = { weights: whole(weights), head: whole(head), layers: n_layers, heads: n_heads, head_dim };
  return [
    h("p.gp-note", null, text("work_formula", params)),
    h("p", null, text("work_cached", { n }), " ", sum(1, n, at.cached_work)),
    h("p", null, text("work_full", { n, m: n + 1, pairs: whole(pairs) }), " ", sum(n, pairs, at.full_work)),
  ];
}

/**
 * @param {import("./race.js").Race} race
 * @returns {(string | number)[][]}
 */
const table = (race) => [
  ["tokens", "token_id", "cached_seconds", "full_seconds", "cached_multiply_adds", "full_multiply_adds", "same_token"],
  ...race.steps.map((s) => [
    s.tokens,
    s.token_id,
    s.cached_seconds,
    s.full_seconds,
    s.cached_work,
    s.full_work,
    String(s.same),
  ]),
];

/**
 * The step whose text is nearest in length.
 *
 * @param {Step[]} steps
 * @param {number} tokens
 */
const nearestStep = (steps, tokens) =>
  steps.reduce((a, b) => (Math.abs(b.tokens - tokens) < Math.abs(a.tokens - tokens) ? b : a));

const ratioOf = (/** @type {number} */ a, /** @type {number} */ b) => times(b / a);

/**
 * The numbers of a step, as a program reads them.
 *
 * @param {Step} step
 */
const valueOf = ({ tokens, cached_seconds, full_seconds, cached_work, full_work, same }) =>
  [
    `tokens=${tokens} cached_seconds=${cached_seconds} full_seconds=${full_seconds}`,
    `cached_work=${cached_work} full_work=${full_work} same=${same}`,
  ].join(" ");

/**
 * The same for the text "read".
 *
 * @param {Step} step
 */
const readingOf = (step) => ({
  tokens: step.tokens,
  cached: milli(step.cached_seconds),
  full: milli(step.full_seconds),
  ratio: ratioOf(step.cached_seconds, step.full_seconds),
  cached_work: million(step.cached_work),
  full_work: million(step.full_work),
  work_ratio: ratioOf(step.cached_work, step.full_work),
});

/**
 * What all steps together took, whether both ways gave the same tokens, and one step written out.
 *
 * @param {Say} text
 * @param {Trace} trace
 * @param {Step[]} steps
 * @param {Step} at
 * @returns {HTMLElement[]}
 */
function sumsOf(text, trace, steps, at) {
  const sum = totals(steps);
  const all = {
    count: steps.length,
    cached: milli(sum.cached),
    full: milli(sum.full),
    ratio: ratioOf(sum.cached, sum.full),
    work_ratio: ratioOf(sum.cachedWork, sum.fullWork),
  };
  const differ = steps.filter(({ same }) => !same).length;
  const check = differ
    ? text("differ", { count: differ, all: steps.length, dtype: trace.model.dtype })
    : text("same", { count: steps.length });
  const floor = milli(Math.min(...steps.map(({ cached_seconds }) => cached_seconds)));
  const mark = h(`span.kv-check.${differ ? "is-open" : "is-equal"}`, null, check);
  return [
    h("p", null, h("strong", null, text("sum", all)), " ", mark),
    ...arithmetic(text, trace, at),
    h("p.gp-note", null, text("overhead", { floor })),
  ];
}

/**
 * What is under way, in words.
 *
 * @param {Glass} glass
 * @param {Say} text
 * @param {import("./race.js").Measured} race
 */
function statusOf(glass, text, { steps, running, trouble }) {
  if (trouble) return troubleText(glass, trouble);
  if (running) return text("running", { count: steps.length });
  return steps.length ? "" : text("ready", { count: AT_ONCE });
}

export const about = { namesChanges: false, absent: oneText };

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function kvRace(element, glass) {
  const state = shownIn(glass);
  const race = raceOf(glass);
  const panel = frame(element, glass, "kv-race", { csv: () => table(race), parts: ["what", "formula", "myth"] });
  const go = h("button.kv-button", { click: () => (race.running ? race.stop() : race.start(false)) });
  const anew = h("button.kv-button", { "data-text": "kv-race.again", click: () => race.start(true) });
  const status = h("span.gp-note", { role: "status" });
  const charts = /** @type {Kind[]} */ (Object.keys(CHARTS)).map((name) => {
    const title = h("h3.gp-subtitle");
    const canvas = h("canvas.gp-canvas", { role: "img", "data-text-label": `kv-race.chart_${name}` });
    const room = h("div", null, canvas);
    return { name, title, canvas, room, side: h("div", null, title, room) };
  });
  const stroke = (/** @type {string} */ name) => sample(`span.kv-stroke.is-${name}`, `kv-race.${name}`);
  const legend = h("div.gp-samples", null, stroke("cached"), stroke("full"));
  const sums = h("div.kv-sums");
  const results = h(
    "div",
    { hidden: "" },
    legend,
    h("div.gp-columns.kv-charts", null, ...charts.map(({ side }) => side)),
    sums,
  );
  panel.body.append(h("div.kv-bar", null, h("div.kv-player", null, go, anew, status)), results);
  const wide = widthOf(charts[0].room, glass);
  /** @type {{ hovered: Step | null }} */
  const view = reactive({ hovered: null }, glass.repaint);
  /** @type {ReturnType<typeof drawChart> | null} null until it is drawn */
  let chart = null;
  for (const { canvas } of charts) {
    canvas.addEventListener("pointermove", (event) => {
      view.hovered = chart && nearestStep(race.steps, xAt(chart, placeIn(event, canvas).x));
    });
    canvas.addEventListener("pointerleave", () => {
      view.hovered = null;
    });
  }

  return inView(element, function draw() {
    const { trace } = state;
    race.follow(trace);
    const { steps, running } = race;
    panel.title.textContent = panel.text("title");
    go.textContent = panel.text(running ? "stop" : steps.length ? "more" : "start");
    anew.hidden = running || !steps.length;
    go.disabled = trace.generating;
    status.textContent = statusOf(glass, panel.text, race);
    results.hidden = !steps.length;
    if (!steps.length) {
      panel.tell("none", "");
      return;
    }
    const width = wide(); // known once the results are in view
    if (width === 0) return;
    const at = view.hovered && steps.includes(view.hovered) ? view.hovered : steps[steps.length - 1];
    for (const { name, title, canvas } of charts) {
      title.textContent = panel.text(`${name}_title`, { device: `${trace.model.device}, ${trace.model.dtype}` });
      chart = drawChart(canvas, width, steps, CHARTS[name], at, panel.text, `axis_${name}`);
    }
    panel.tell(valueOf(at), panel.text("read", readingOf(at)));
    sums.replaceChildren(...sumsOf(panel.text, trace, steps, at));
  });
}
