// Ways to stretch RoPE to longer contexts: their frequencies side by side, and what each makes of the run's scores.

import { count, h, shown } from "../../dom.js";
import { fitChart, ink, cellNames } from "../../draw.js";
import { frame } from "../../frame.js";
import { notTurned, turningForms } from "../../parts.js";
import { axes, chartIn, dot, path, spread } from "../../plot.js";
import { inWidth, widthOf } from "../../pointing.js";
import { methodReader, rowNamed, scalingReader } from "../../readings/rope-scaling.js";
import { wavelength } from "../../rotation.js";
import { readHere, shownIn } from "../../run-for.js";
import { html, nothing, render } from "../../vendor/lit-html.js";
import { adjust, afterQuery, turnText } from "./place.js";
import { createScalingControls, DASHES, factorOf, legendOf, makeTable, settingsOf } from "./scaling-controls.js";
import { createFar, linkPairs } from "./score-charts.js";

const KIND = "rope-scaling";
const HIGH = 270;
const ABOVE = 44; // px of a line above the chart in a lesson, and around both; the legend stands above the panel's body

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../readings/rope-scaling.js").MethodRow} MethodRow
 *
 * @typedef {import("../../readings/rope-scaling.js").Stretched} Reading
 */

/**
 * The methods whose lines are drawn: all, and in a lesson beside the chosen one only that which slows all pairs
 * alike.
 *
 * @param {MethodRow[]} rows
 * @param {string} chosen
 * @param {boolean} inLesson
 */
const drawnOf = (rows, chosen, inLesson) =>
  inLesson ? rows.filter(({ name }) => ["none", "linear", chosen].includes(name)) : rows;

/**
 * Each method's frequency as a share of the unscaled one, pair by pair.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {MethodRow[]} rows
 * @param {{ chosen: string; pair: number; inLesson: boolean; covered: boolean; text: Say }} how `covered`: what the
 *   methods change is not told yet
 */
function drawShares(canvas, width, rows, { chosen, pair, inLesson, covered, text }) {
  const { context, tall } = fitChart(canvas, width, HIGH, ABOVE);
  const { colour } = ink();
  const plain = rowNamed(rows, "none").frequencies.inv_freq;
  /** @type {(row: MethodRow) => [number, number][]} */
  const share = ({ frequencies: { inv_freq } }) => Array.from(inv_freq, (f, i) => [i, f / plain[i]]);
  const slowest = share(rowNamed(rows, chosen))[plain.length - 1][1];
  const chart = chartIn(
    [width, tall],
    [60, 12, 30, 46],
    { low: -0.5, high: plain.length - 0.5 },
    { low: 0, high: 1.06 },
  );
  axes(context, chart, {
    xTicks: spread(plain.length, Math.max(4, width / 42)),
    xName: text("pairs"),
    yName: text("shares"),
    ...(inLesson && { yTicks: covered ? [0, 1] : [0, slowest, 1] }), // how slow the slow ones become is the answer
  });
  if (covered) return path(context, chart, share(rowNamed(rows, "none")), { colour: colour("text"), width: 2 });
  for (const row of rows) {
    if (row.name === "none" || row.name === chosen) continue;
    path(context, chart, share(row), { colour: colour("muted"), dash: DASHES[row.name], width: 1.5 });
  }
  const main = rowNamed(rows, chosen);
  path(context, chart, share(main), { colour: colour("accent"), dash: [], width: 3 });
  return inLesson ? undefined : dot(context, chart, pair, share(main)[pair][1], colour("accent"), 6);
}

/**
 * What the panel is set to.
 *
 * @param {Glass} glass
 * @param {number | null} [pointed] the distance under the pointer
 * @returns {import("../../readings/rope-scaling.js").ScalingAsked}
 */
function select(glass, pointed = null) {
  const { layer, head, query, key, pair } = shownIn(glass);
  const set = settingsOf(glass);
  return { layer, head, query, key, pair, ...set, distance: pointed ?? set.distance };
}

/** @type {import("../../frame.js").About} */
export const about = {
  tensors: ["q", "k", "scores"],
  difference: {
    reader: methodReader,
    select,
    points: "distance",
    keep: (glass, distance) => adjust(glass, { reach: distance }),
    controls(glass, readIn) {
      const { bar, reach, show } = createScalingControls(glass);
      return { elements: [bar, reach], show: (_a, b) => show(readIn(b)) };
    },
    note: "b_minus_a.same_frequencies",
    named: (glass) => ({ factor: factorOf(glass) }),
    of: ({ text, chosen: { method, distance }, glass }) =>
      text("of_method", { method: glass.text(`${KIND}.${method}`), distance }),
    said: ["real", "far"],
    parts: [
      {
        draw: "table",
        rows: "methods",
        column: "real",
        title: "stretched_here",
        heading: "method",
        name: ({ key, glass }) => glass.text(`${KIND}.${key.method}`),
        step: 1,
      },
      {
        draw: "table",
        rows: "methods",
        column: "far",
        title: "stretched_far",
        named: ({ selection: { distance } }) => ({ distance }),
        heading: "method",
        name: ({ key, glass }) => glass.text(`${KIND}.${key.method}`),
        step: 1,
      },
      {
        draw: "strips",
        rows: "distances",
        title: "by_distance",
        named: ({ selection: { method }, limit }, _trace, glass) => ({
          method: glass.text(`${KIND}.${method}`),
          last: limit - 1,
        }),
        columns: [
          ["unscaled", "muted"],
          ["stretched", "accent"],
        ],
      },
    ],
  },
  unused: "head",
  absent: notTurned("scaling"),
  forms: turningForms,
};

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function ropeScaling(element, glass) {
  const state = shownIn(glass);
  const canvas = h("canvas.gp-canvas", { "data-text-label": `${KIND}.chart`, "data-answer": "drawn" });
  const panel = frame(element, glass, KIND, { parts: ["what", "formula", "myth"] });
  const { text } = panel;
  const [controls, table] = [createScalingControls(glass), makeTable(glass)];
  const wide = widthOf(panel.body, glass);
  const far = createFar(glass, `${KIND}.far_chart`, wide, (distance) => adjust(glass, { reach: distance }));

  /** @param {Reading | null} reading null before it has come */
  function view(reading) {
    const { factor, method = "" } = reading?.selection ?? {};
    const { limit, original, methods } = reading ?? {};
    const say = (/** @type {string} */ name, /** @type {Record<string, unknown>} */ params) =>
      reading ? text(name, params) : "";
    const after = methods ? afterQuery(state, rowNamed(methods, method).real, glass.text) : "";
    const stretchedTo = { factor, original: count(original ?? 0), stretched: count((original ?? 0) * (factor ?? 0)) };
    const given = say("given", stretchedTo);
    return html`<div class="position-shares" data-given=${given}>
        ${controls.bar} ${state.presenting ? html`<p class="position-given" .textContent=${given}></p>` : nothing}
        <p class="gp-note" data-answer="beside" .textContent=${say(`formula_${method}`, { factor })}></p>
        <div class="gp-samples" data-answer="beside">
          ${methods && legendOf(drawnOf(methods, method, state.presenting === true), method, text)}
        </div>
        ${canvas}
      </div>
      ${controls.reach} ${table.box}
      <p class="gp-note" .textContent=${say("note", { original: original && count(original) })}></p>
      <h3
        class="gp-subtitle"
        .textContent=${say("far_title", { method: method && text(method), stretched: limit && count(limit) })}
      ></h3>
      <p class="gp-note" .textContent=${after}></p>
      ${far.canvas}`;
  }
  render(view(null), panel.body);
  linkPairs(canvas, glass, wide);

  /** @param {Reading} reading */
  function wordsOf({ methods, selection: { pair, method } }) {
    const [plain, chosen] = ["none", method].map((name) => rowNamed(methods, name).frequencies.inv_freq[pair]);
    return text("read", { pair, before: turnText(wavelength(plain)), after: turnText(wavelength(chosen)) });
  }

  /**
   * What a worksheet says of the chosen method.
   *
   * @param {Reading} reading
   */
  function resultOf({ methods, selection: { method } }) {
    const [plain, chosen] = ["none", method].map((name) => rowNamed(methods, name).frequencies.inv_freq);
    const shareAt = (/** @type {number} */ i) => shown(chosen[i] / plain[i], 3);
    return text("result", { method: text(method), fast: shareAt(0), slow: shareAt(plain.length - 1) });
  }

  return inWidth(element, wide, function draw(width) {
    const reading = readHere(glass, scalingReader, select(glass, far.pointed()));
    element.classList.toggle("is-coming", !reading);
    if (!reading) return undefined;
    const { methods, original } = reading;
    const { query, key, pair, factor, method, distance } = reading.selection;
    const [inLesson, covered] = [state.presenting === true, state.covered === true];
    drawShares(canvas, width, drawnOf(methods, method, inLesson), { chosen: method, pair, inLesson, covered, text });
    const { unscaled, stretched: curve } = reading.curves();
    const plain = { values: unscaled, colour: ink().colour("muted"), alpha: 0.55 };
    far.draw(width, { curve, curves: [plain], run: null, real: query - key, distance, text });
    return () => {
      canvas.dataset.result = resultOf(reading);
      controls.show(reading);
      const stretchedTo = { factor, original: count(original), stretched: count(original * factor) };
      panel.title.textContent = text("title", { ...cellNames(state), ...stretchedTo });
      table.fill(methods, method, { m: query, n: key, distance: count(distance) }, text);
      render(view(reading), panel.body);
      panel.show(reading, wordsOf(reading));
    };
  });
}
