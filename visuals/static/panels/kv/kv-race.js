// With and without a cache: the same tokens written both ways on the server, timed and counted.

import { h, sample, shown } from "../../dom.js";
import { chartHeight, fit, ink } from "../../draw.js";
import { frame } from "../../frame.js";
import { oneText } from "../../parts.js";
import { axes, chartIn, dot, path, rule, xAt } from "../../plot.js";
import { inView, placeIn, widthOf } from "../../pointing.js";
import { reactive } from "../../reads.js";
import { times, whole } from "./format.js";
import { AT_ONCE, layerWeights, raceOf, totals } from "./race.js";
import { troubleText } from "./trouble.js";

const [LEFT, TOP, HIGH, BELOW] = [64, 30, 270, 50];
const ABOVE = 96; // the legend and a title of two lines
/** A time in ms, never as a power of ten. */
export const milli = (seconds) => (seconds < 0.9995 ? shown(1000 * seconds, 3) : whole(Math.round(1000 * seconds)));
const million = (count) => shown(count / 1e6, 4);
const CHARTS = {
  time: { cached: "cached_seconds", full: "full_seconds", scale: 1000 },
  work: { cached: "cached_work", full: "full_work", scale: 1e-6 },
};

/** One chart: a line with the cache, one without, against the length of the text. */
function drawChart(canvas, width, steps, { cached, full, scale }, at, text, axis) {
  const tall = chartHeight(HIGH, ABOVE);
  const context = fit(canvas, width, tall);
  const most = Math.max(...steps.map((step) => Math.max(step[cached], step[full]))) * scale;
  const [first, last] = [steps[0].tokens, Math.max(steps.at(-1).tokens, steps[0].tokens + 8)];
  const chart = chartIn(
    [width, tall],
    [LEFT, 12, TOP, BELOW],
    { low: first, high: last },
    { low: 0, high: most * 1.08 },
  );
  axes(context, chart, { xName: text("axis_tokens"), yName: text(axis) });
  const { colour } = ink();
  for (const [name, hue, dash] of [
    [full, "output", [6, 4]],
    [cached, "accent", []],
  ]) {
    path(
      context,
      chart,
      steps.map((step) => [step.tokens, step[name] * scale]),
      { colour: colour(hue), width: 2.5, dash },
    );
    if (at) dot(context, chart, at.tokens, at[name] * scale, colour(hue));
  }
  if (at) rule(context, chart, { x: at.tokens, colour: colour("muted"), dash: [2, 3] });
  return chart;
}

/**
 * The count of one step, written out.
 *
 * @returns {HTMLElement[]}
 */
function arithmetic(panel, { model }, at) {
  const { n_layers, n_heads, head_dim, d_model, vocab_size } = model;
  const weights = layerWeights(model);
  const [head, n, each] = [vocab_size * d_model, at.tokens, n_layers * n_heads * 2 * head_dim];
  const pairs = (n * (n + 1)) / 2;
  const sum = (fresh, meeting, work) =>
    `${whole(fresh)} × ${whole(weights)} + ${whole(head)} + ${whole(each)} × ${whole(meeting)} = ${whole(work)}`;
  const params = { weights: whole(weights), head: whole(head), layers: n_layers, heads: n_heads, head_dim };
  return [
    h("p.gp-note", null, panel.text("work_formula", params)),
    h("p", null, panel.text("work_cached", { n }), " ", sum(1, n, at.cached_work)),
    h("p", null, panel.text("work_full", { n, m: n + 1, pairs: whole(pairs) }), " ", sum(n, pairs, at.full_work)),
  ];
}

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

/** The step whose text is nearest in length. */
const nearestStep = (steps, tokens) =>
  steps.reduce((a, b) => (Math.abs(b.tokens - tokens) < Math.abs(a.tokens - tokens) ? b : a));

const ratioOf = (a, b) => times(b / a);

/** The numbers of a step, as a program reads them. */
const valueOf = ({ tokens, cached_seconds, full_seconds, cached_work, full_work, same }) =>
  [
    `tokens=${tokens} cached_seconds=${cached_seconds} full_seconds=${full_seconds}`,
    `cached_work=${cached_work} full_work=${full_work} same=${same}`,
  ].join(" ");

/** The same for the text "read". */
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
 * @returns {HTMLElement[]}
 */
function sumsOf(panel, trace, steps, at) {
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
    ? panel.text("differ", { count: differ, all: steps.length, dtype: trace.model.dtype })
    : panel.text("same", { count: steps.length });
  const floor = milli(Math.min(...steps.map(({ cached_seconds }) => cached_seconds)));
  const mark = h(`span.kv-check.${differ ? "is-open" : "is-equal"}`, null, check);
  return [
    h("p", null, h("strong", null, panel.text("sum", all)), " ", mark),
    ...arithmetic(panel, trace, at),
    h("p.gp-note", null, panel.text("overhead", { floor })),
  ];
}

/** What is under way, in words. */
function statusOf(glass, text, { steps, running, trouble }) {
  if (trouble) return troubleText(glass, trouble);
  if (running) return text("running", { count: steps.length });
  return steps.length ? "" : text("ready", { count: AT_ONCE });
}

export const about = { namesChanges: false, absent: oneText };

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function kvRace(element, glass) {
  const { state } = glass;
  const race = raceOf(glass);
  const panel = frame(element, glass, "kv-race", { csv: () => table(race), parts: ["what", "formula", "myth"] });
  const go = h("button.kv-button", { click: () => (race.running ? race.stop() : race.start(false)) });
  const anew = h("button.kv-button", { "data-text": "kv-race.again", click: () => race.start(true) });
  const status = h("span.gp-note", { role: "status" });
  const charts = Object.keys(CHARTS).map((name) => ({
    name,
    title: h("h3.gp-subtitle"),
    canvas: h("canvas.gp-canvas", { role: "img", "data-text-label": `kv-race.chart_${name}` }),
  }));
  const side = ({ title, canvas }) => h("div", null, title, h("div", null, canvas));
  const stroke = (name) => sample(`span.kv-stroke.is-${name}`, `kv-race.${name}`);
  const legend = h("div.gp-samples", null, stroke("cached"), stroke("full"));
  const sums = h("div.kv-sums");
  const results = h("div", { hidden: "" }, legend, h("div.gp-columns.kv-charts", null, ...charts.map(side)), sums);
  panel.body.append(h("div.kv-bar", null, h("div.kv-player", null, go, anew, status)), results);
  const wide = widthOf(charts[0].canvas.parentElement, glass);
  const view = reactive({ hovered: null }, glass.repaint);
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
    if (!steps.length) return panel.tell("none", "");
    const width = wide(); // known once the results are in view
    if (width === 0) return undefined;
    const at = steps.includes(view.hovered) ? view.hovered : steps.at(-1);
    for (const { name, title, canvas } of charts) {
      title.textContent = panel.text(`${name}_title`, { device: `${trace.model.device}, ${trace.model.dtype}` });
      chart = drawChart(canvas, width, steps, CHARTS[name], at, panel.text, `axis_${name}`);
    }
    panel.tell(valueOf(at), panel.text("read", readingOf(at)));
    sums.replaceChildren(...sumsOf(panel, trace, steps, at));
  });
}
