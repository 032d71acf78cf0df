// Ways to stretch RoPE to longer contexts: their frequencies side by side, and what each makes of the run's scores.

import { count, exact, h, shown } from "../../dom.js";
import { chartHeight, fit, ink, cellNames } from "../../draw.js";
import { frame } from "../../frame.js";
import { notTurned, turningForms } from "../../parts.js";
import { axes, chartIn, dot, path, spread } from "../../plot.js";
import { inWidth, widthOf } from "../../pointing.js";
import { wavelength } from "../../rotation.js";
import { shownIn } from "../../run-for.js";
import { adjust, afterQuery } from "./place.js";
import { farOf, placeOf } from "../../readings/rope-place.js";
import { createScalingControls, DASHES, factorOf, makeTable, settingsOf } from "./scaling-controls.js";
import { createFar, linkPairs } from "./score-charts.js";
import { product } from "../../readings/turning.js";

const KIND = "rope-scaling";
const HIGH = 270;

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../readings/rope-place.js").RopePlace} RopePlace
 *
 * @typedef {import("../../readings/turning.js").Frequencies} Frequencies
 *
 * @typedef {{ name: string; frequencies: Frequencies; real: number; far: number; slowest: number }} MethodRow
 */

/**
 * What one of several methods has.
 *
 * @template {{ name: string }} Row
 * @param {Row[]} rows
 * @param {string} name of a method that is among them
 */
export const rowNamed = (rows, name) => /** @type {Row} */ (rows.find((row) => row.name === name));

/**
 * Every method's q·k at the run's positions and at a distance.
 *
 * @param {Pick<RopePlace, "q" | "k" | "rest" | "m" | "n">} place
 * @param {import("./scaling-controls.js").Scalings["methods"]} methods
 * @param {number} distance
 * @returns {MethodRow[]}
 */
export function rowsOf({ q, k, rest, m, n }, methods, distance) {
  return methods.map(({ name, inv_freq: { data }, attention_scaling: scaling }) => {
    const frequencies = { inv_freq: data, scaling };
    const [real, far] = [
      [m, n],
      [distance, 0],
    ].map(([at, from]) => product(q, k, at, from, frequencies) + rest);
    return { name, frequencies, real, far, slowest: wavelength(data[data.length - 1]) };
  });
}

/**
 * Each method's frequency as a share of the unscaled one, pair by pair.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {MethodRow[]} rows
 * @param {string} chosen
 * @param {number} pair
 * @param {Say} text
 */
function drawShares(canvas, width, rows, chosen, pair, text) {
  const tall = chartHeight(HIGH);
  const context = fit(canvas, width, tall);
  const { colour } = ink();
  const plain = rowNamed(rows, "none").frequencies.inv_freq;
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
  });
  /** @type {(row: MethodRow) => [number, number][]} */
  const share = ({ frequencies: { inv_freq } }) => Array.from(inv_freq, (f, i) => [i, f / plain[i]]);
  for (const row of rows) {
    if (row.name === "none" || row.name === chosen) continue;
    path(context, chart, share(row), { colour: colour("muted"), dash: DASHES[row.name], width: 1.5 });
  }
  const main = rowNamed(rows, chosen);
  path(context, chart, share(main), { colour: colour("accent"), dash: [], width: 3 });
  dot(context, chart, pair, share(main)[pair][1], colour("accent"), 6);
}

/** @type {import("../../frame.js").About} */
export const about = {
  tensors: ["q", "k", "scores"],
  difference: "position",
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
  const canvas = h("canvas.gp-canvas", { "data-text-label": `${KIND}.chart` });
  /** @type {{ rows: MethodRow[] }} */
  const view = { rows: [] };
  const csv = () => [
    ["method", "pair", "inv_freq", "attention_scaling"],
    ...view.rows.flatMap(({ name, frequencies }) =>
      Array.from(frequencies.inv_freq, (f, i) => [name, i, f, frequencies.scaling]),
    ),
  ];
  const panel = frame(element, glass, KIND, { csv, parts: ["what", "formula", "myth"] });
  const controls = createScalingControls(glass);
  const [formula, table, note, subtitle, after] = [
    h("p.gp-note"),
    makeTable(glass),
    h("p.gp-note"),
    h("h3.gp-subtitle"),
    h("p.gp-note"),
  ];
  const wide = widthOf(panel.body, glass);
  const far = createFar(glass, `${KIND}.far_chart`, wide, (distance) => adjust(glass, { reach: distance }));
  panel.body.append(controls.bar, formula, canvas, controls.reach, table.box, note, subtitle, after, far.canvas);
  linkPairs(canvas, glass, wide);

  /**
   * @param {RopePlace} place
   * @param {string} method
   * @param {number} factor
   * @param {number} distance
   */
  function tell({ m, n }, method, factor, distance) {
    const values = view.rows
      .map(({ name, real, far: there }) => `${name}=${exact(real, 6)},${exact(there, 6)}`)
      .join(" ");
    const { pair } = state;
    const [plain, chosen] = ["none", method].map((name) => rowNamed(view.rows, name).frequencies.inv_freq[pair]);
    const place = `head ${state.head} query ${m} key ${n} distance ${distance}`;
    panel.tell(
      `${place} factor ${factor} method ${method} pair ${pair} inv_freq=${exact(chosen, 6)} ${values}`,
      panel.text("read", { pair, before: shown(wavelength(plain), 4), after: shown(wavelength(chosen), 4) }),
    );
  }

  return inWidth(element, wide, function draw(width) {
    const { query, key, pair } = state;
    const factor = factorOf(glass);
    const answer = glass.detail("rope_scalings", { factor });
    const held = glass.layer();
    element.classList.toggle("is-coming", !answer);
    if (!held || !answer) return;
    const set = settingsOf(glass, answer, far.pointed());
    const { methods: offered, method, limit, distance } = set;
    const place = placeOf(held, state);
    const rows = rowsOf(place, offered, distance);
    view.rows = rows;
    controls.show(set);
    panel.title.textContent = panel.text("title", {
      ...cellNames(state),
      factor,
      original: count(answer.original),
      stretched: count(answer.original * factor),
    });
    formula.textContent = panel.text(`formula_${method}`, { factor });
    drawShares(canvas, width, rows, method, pair, panel.text);
    table.fill(rows, method, { m: query, n: key, distance: count(distance) }, panel.text);
    note.textContent = panel.text("note", { original: count(answer.original) });
    subtitle.textContent = panel.text("far_title", { method: panel.text(method), stretched: count(limit) });
    after.textContent = afterQuery(state, rowNamed(rows, method).real, glass.text);
    const by = (/** @type {string} */ name) => farOf(place, rowNamed(rows, name).frequencies, limit);
    const plain = { values: by("none"), colour: ink().colour("muted"), alpha: 0.55 };
    far.draw(width, { curve: by(method), curves: [plain], run: null, real: query - key, distance, text: panel.text });
    tell(place, method, factor, distance);
  });
}
