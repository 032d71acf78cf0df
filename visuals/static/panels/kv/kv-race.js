// With and without a cache: the same tokens written both ways on the server, timed and counted.

import { h, shown } from "../../dom.js";
import { fitChart, ink } from "../../draw.js";
import { frame } from "../../frame.js";
import { oneLine } from "../../one-line.js";
import { oneText } from "../../parts.js";
import { axes, chartIn, dot, path, rule, xAt } from "../../plot.js";
import { inView, placeIn, widthOf } from "../../pointing.js";
import { pairsOf, readRace } from "../../readings/kv-race.js";
import { reactive } from "../../reads.js";
import { shownIn } from "../../run-for.js";
import { html, nothing, render } from "../../vendor/lit-html.js";
import { milli, toThree, whole } from "./format.js";
import { AT_ONCE, raceOf } from "./race.js";
import { troubleText } from "./trouble.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("./race.js").Trace} Trace
 *
 * @typedef {import("../../readings/kv-race.js").RaceReading} Reading
 *
 * @typedef {import("../../readings/kv-race.js").Step} Step
 *
 * @typedef {"time" | "work"} Kind
 *
 * @typedef {object} Quantity
 * @property {"cached_seconds" | "cached_work"} cached
 * @property {"full_seconds" | "full_work"} full
 * @property {number} scale to what the axis has
 */

const [LEFT, TOP, HIGH, BELOW] = [64, 30, 270, 50];
const ABOVE = 62; // in a lesson: what all of it took, under the charts
const LEAST = 8; // tokens that an axis reaches
const million = (/** @type {number} */ count) => shown(count / 1e6, 4);
/** @type {Record<Kind, Quantity>} */
const CHARTS = {
  time: { cached: "cached_seconds", full: "full_seconds", scale: 1000 },
  work: { cached: "cached_work", full: "full_work", scale: 1e-6 },
};

/**
 * The axes of one chart, before its lines are known or told.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {{ first: number; last: number; most: number | null; text: Say; axis: string }} how `first`, `last`:
 *   tokens of the text; `most`: of what is drawn, null while it is not known; `axis`: the text of its name
 */
function drawAxes(canvas, width, { first, last, most, text, axis }) {
  const { context, tall } = fitChart(canvas, width, HIGH, ABOVE);
  const chart = chartIn(
    [width, tall],
    [LEFT, 12, TOP, BELOW],
    { low: first, high: Math.max(last, first + LEAST) },
    { low: 0, high: 1.08 * (most ?? 1) },
  );
  axes(context, chart, { xName: text("axis_tokens"), yName: text(axis), ...(most === null && { yTicks: [] }) });
  return { context, chart };
}

/**
 * One chart: a line with the cache, one without, against the length of the text.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {Step[]} steps
 * @param {Quantity} quantity
 * @param {{ at: Step; covered: boolean; text: Say; axis: string }} how `at`: the step that is marked; `covered`:
 *   the lines are not told yet; `axis`: the text of its name
 */
function drawChart(canvas, width, steps, { cached, full, scale }, { at, covered, text, axis }) {
  const most = Math.max(...steps.map((step) => Math.max(step[cached], step[full]))) * scale;
  const [first, last] = [steps[0].tokens, steps[steps.length - 1].tokens];
  const { context, chart } = drawAxes(canvas, width, { first, last, most, text, axis });
  if (covered) return chart;
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
 * The step whose text is nearest in length.
 *
 * @param {Step[]} steps
 * @param {number} tokens
 */
const nearestStep = (steps, tokens) =>
  steps.reduce((a, b) => (Math.abs(b.tokens - tokens) < Math.abs(a.tokens - tokens) ? b : a));

const ratioOf = (/** @type {number} */ a, /** @type {number} */ b) => toThree(b / a);

/**
 * What is read of a step.
 *
 * @param {Step} step
 */
const said = (step) => ({
  tokens: step.tokens,
  cached: milli(step.cached_seconds),
  full: milli(step.full_seconds),
  ratio: ratioOf(step.cached_seconds, step.full_seconds),
  cached_work: million(step.cached_work),
  full_work: million(step.full_work),
  work_ratio: ratioOf(step.cached_work, step.full_work),
});

/**
 * The count of one step, written out.
 *
 * @param {Say} text
 * @param {Trace["model"]} model
 * @param {Step} step
 * @param {Reading["parts"]} parts
 */
function arithmetic(text, { n_layers, n_heads, head_dim }, step, { weights, head, each }) {
  const { tokens: n, cached_work: cached, full_work: full } = step;
  const pairs = pairsOf(n);
  const sum = (/** @type {number} */ fresh, /** @type {number} */ meeting, /** @type {number} */ work) =>
    `${whole(fresh)} × ${whole(weights)} + ${whole(head)} + ${whole(each)} × ${whole(meeting)} = ${whole(work)}`;
  const line = (/** @type {string} */ words, /** @type {string} */ sums) =>
    html`<p .textContent=${oneLine([words, sums])}></p>`;
  const params = { weights: whole(weights), head: whole(head), layers: n_layers, heads: n_heads, head_dim };
  return html`<p class="gp-note" .textContent=${text("work_formula", params)}></p>
    ${line(text("work_cached", { n }), sum(1, n, cached))}
    ${line(text("work_full", { n, m: n + 1, pairs: whole(pairs) }), sum(n, pairs, full))}`;
}

/**
 * What all steps together took, whether both ways gave the same tokens, and one step written out.
 *
 * @param {Say} text
 * @param {Trace["model"]} model
 * @param {Reading} reading
 */
function sumsView(text, model, { steps, step, sums, differ, floor, parts }) {
  const all = {
    count: steps.length,
    cached: milli(sums.cached),
    full: milli(sums.full),
    ratio: ratioOf(sums.cached, sums.full),
    work_ratio: ratioOf(sums.cachedWork, sums.fullWork),
  };
  const check = differ
    ? text("differ", { count: differ, all: steps.length, dtype: model.dtype })
    : text("same", { count: steps.length });
  return html`<p>
      <strong data-result .textContent=${text("sum", all)}></strong>
      <span class=${`kv-check is-${differ ? "open" : "equal"}`} .textContent=${check}></span>
    </p>
    ${step ? arithmetic(text, model, step, parts) : nothing}
    <p class="gp-note" .textContent=${text("overhead", { floor: milli(floor) })}></p>`;
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

/**
 * The charts, over which the pointer leads from step to step.
 *
 * @param {() => Step[]} steps
 * @param {(step: Step | null) => void} hover
 */
function createCharts(steps, hover) {
  /** @type {ReturnType<typeof drawChart> | null} null until it is drawn */
  let chart = null;
  const kinds = /** @type {Kind[]} */ (Object.keys(CHARTS));
  /** Of both, which are as wide as each other; a lesson shows the second alone (lessons/style.css). */
  const canvases = kinds.map((name) => {
    const canvas = h("canvas.gp-canvas", {
      role: "img",
      "data-text-label": `kv-race.chart_${name}`,
      "data-answer": "drawn",
    });
    canvas.addEventListener("pointermove", (event) =>
      hover(chart && nearestStep(steps(), xAt(chart, placeIn(event, canvas).x))),
    );
    canvas.addEventListener("pointerleave", () => hover(null));
    return { name, canvas, room: h("div", null, canvas) };
  });

  /**
   * @param {number} width
   * @param {Reading} reading
   * @param {{ covered: boolean; text: Say }} how
   */
  function draw(width, { steps: all, step: at }, how) {
    if (!at) return;
    for (const { name, canvas } of canvases)
      chart = drawChart(canvas, width, all, CHARTS[name], { ...how, at, axis: `axis_${name}` });
  }
  /**
   * What a class draws its guess on while the lines are measured.
   *
   * @param {number} width
   * @param {number} first tokens of the text before the first step
   * @param {Say} text
   */
  function drawEmpty(width, first, text) {
    chart = null;
    const last = first + AT_ONCE - 1;
    for (const { name, canvas } of canvases)
      drawAxes(canvas, width, { first, last, most: null, text, axis: `axis_${name}` });
  }
  /** @param {(name: Kind) => string} title */
  const view = (title) =>
    canvases.map(
      ({ name, room }) =>
        html`<div>
          <h3 class="gp-subtitle" .textContent=${title(name)}></h3>
          ${room}
        </div>`,
    );
  return { room: canvases[1].room, draw, drawEmpty, view };
}

export const about = { namesChanges: false, absent: oneText };

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function kvRace(element, glass) {
  const state = shownIn(glass);
  const race = raceOf(glass);
  const panel = frame(element, glass, "kv-race", { parts: ["what", "formula", "myth"] });
  const { text } = panel;
  /** @type {{ hovered: Step | null }} */
  const shows = reactive({ hovered: null }, glass.repaint);
  const charts = createCharts(
    () => race.steps,
    (step) => {
      shows.hovered = step;
    },
  );
  const wide = widthOf(charts.room, glass);
  const stroke = (/** @type {string} */ name) =>
    html`<span class="gp-sample"
      ><span class=${`kv-stroke is-${name}`}></span><span .textContent=${text(name)}></span
    ></span>`;

  /** In a lesson: how high the lines go is not known yet, so a class sees them, and their sums, once they are whole. */
  const isUnfinished = () => state.presenting === true && race.running;

  /** @param {Reading | null} reading null before there is a run */
  function view(reading) {
    const { steps, running } = race;
    const device = reading ? `${state.trace.model.device}, ${state.trace.model.dtype}` : "";
    const unfinished = isUnfinished(); // sums beside empty charts would tell of no picture
    const go = () => (running ? race.stop() : race.start(false));
    return html`<div class="kv-bar" ?data-underway=${unfinished}>
        <div class="kv-player">
          <button
            class="kv-button"
            ?disabled=${state.trace?.generating}
            .textContent=${text(running ? "stop" : steps.length ? "more" : "start")}
            @click=${go}
          ></button>
          <button
            class="kv-button"
            ?hidden=${running || !steps.length}
            .textContent=${text("again")}
            @click=${() => race.start(true)}
          ></button>
          <span class="gp-note" role="status" .textContent=${statusOf(glass, text, race)}></span>
        </div>
      </div>
      <div ?hidden=${!reading?.step && !unfinished}>
        <div class="gp-samples">${stroke("cached")} ${stroke("full")}</div>
        <p class="gp-note kv-trembles" .textContent=${text("trembles")}></p>
        <div class="gp-columns kv-charts">${charts.view((name) => text(`${name}_title`, { device }))}</div>
        <div class="kv-sums" data-answer="beside">
          ${reading?.step && !unfinished ? sumsView(text, state.trace.model, reading) : nothing}
        </div>
      </div>`;
  }
  render(view(null), panel.body);

  /** In a lesson it needs no button: whoever presents has a clicker, and a worksheet's picture nobody at all. */
  function beginInLesson() {
    const { steps, running, trouble } = race;
    if (state.presenting && !state.trace.generating && !steps.length && !running && !trouble) race.start(false);
  }

  return inView(element, function draw() {
    const { trace } = state;
    race.follow(trace);
    beginInLesson();
    const reading = readRace(trace.model, race.steps, shows.hovered);
    const { step } = reading;
    const width = step || isUnfinished() ? wide() : 0; // known once the results are in view
    if (width && isUnfinished()) charts.drawEmpty(width, trace.nPrompt, text);
    else if (width) charts.draw(width, reading, { covered: state.covered === true, text });
    return () => {
      panel.title.textContent = text("title");
      render(view(reading), panel.body);
      panel.show(reading, step ? text("read", said(step)) : "");
    };
  });
}
