// Half-split and interleaved pairs: the same scores when weights and rotation agree, others when they are mixed.

import { labelsOf } from "../../characters.js";
import { keysSeen } from "../../compute.js";
import { h, percent, sample, shown } from "../../dom.js";
import { cellNames, chartHeight, fit, ink, penOf, visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { axisOf, drawAxis, drawChosenName } from "../../marks/axis-names.js";
import { createTable, writeTexts } from "../../marks/table.js";
import { notTurned, turningForms } from "../../parts.js";
import { axes, chartIn, rule, xOf, yOf } from "../../plot.js";
import { across, inWidth, bindPointer, bindArrowKeys, widthOf } from "../../pointing.js";
import { casesReader, layoutReader, NAMES, SHIFT } from "../../readings/rope-layout.js";
import { readHere, shownIn } from "../../run-for.js";
import { oneLine } from "../../one-line.js";
import { html, nothing, render } from "../../vendor/lit-html.js";
import { sharesAlike } from "../attend/alike.js";

/** @typedef {import("../../types.d.ts").Say} Say */

const KIND = "rope-layout";
const [HIGH, BELOW] = [250, 12]; // BELOW: under the names
const [RIGHT, MIXED] = [NAMES.indexOf("half"), NAMES.indexOf("mixed")];
const ALIKE = 0.02; // up to so much of a row that moves, two bars side by side look the same

/** @type {(width: number, keys: number, y?: import("../../plot.js").Range) => import("../../plot.js").Chart} */
const chartOf = (width, keys, y = { low: 0, high: 1 }) =>
  chartIn([width, chartHeight(HIGH)], [72, 8, 30, 32], { low: 0, high: keys }, y);

/**
 * The chart's bars of each key: both weights side by side, or where these look the same, what one is more than the
 * other.
 *
 * @param {Float64Array} right
 * @param {Float64Array} mixed
 * @param {boolean} alike
 * @returns {{ bars: [values: Float64Array, role: string][]; low: number; high: number }}
 */
function barsOf(right, mixed, alike) {
  if (!alike)
    return {
      bars: [
        [right, "k"],
        [mixed, "muted"],
      ],
      low: 0,
      high: Math.max(...right, ...mixed) * 1.08,
    };
  const change = mixed.map((weight, key) => weight - right[key]);
  const most = Math.max(...change.map(Math.abs)) || 1;
  return { bars: [[change, "accent"]], low: -most * 1.08, high: most * 1.08 };
}

/**
 * Weights of the row: as the model has them, and as the mixed layouts would have them.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {ReturnType<typeof barsOf>} what
 * @param {{ key: number; pieces: string[]; yName: string }} how
 */
function drawRow(canvas, width, { bars, low, high }, { key, pieces, yName }) {
  const keys = bars[0][0].length;
  const chart = chartOf(width, keys, { low, high });
  const cell = chart.width / keys;
  const foot = chart.top + chart.height;
  const axis = axisOf(penOf(canvas), labelsOf(pieces).slice(0, keys).map(visible), cell);
  const context = fit(canvas, width, foot + axis.tall + BELOW);
  const { colour } = ink();
  axes(context, chart, { xTicks: [], yName });
  context.fillStyle = colour("raised");
  context.fillRect(xOf(chart, key), chart.top, cell, chart.height);
  const wide = Math.max(1, Math.min(24, cell * 0.36));
  const zero = yOf(chart, 0);
  for (const [i, [values, role]] of bars.entries()) {
    context.fillStyle = colour(role);
    values.forEach((value, at) => {
      const y = yOf(chart, value);
      context.fillRect(
        xOf(chart, at + 0.5) + (i - bars.length / 2) * wide,
        Math.min(zero, y),
        wide,
        Math.abs(zero - y),
      );
    });
  }
  if (low < 0) rule(context, chart, { y: 0, colour: colour("muted") });
  drawAxis(context, axis, { left: chart.left, y: foot }, () => "text");
  drawChosenName(context, axis, { left: chart.left, y: foot }, { t: key, role: "k" });
}

/** Whether the two rows look the same. @param {import("../../readings/rope-layout.js").LayoutReading} reading */
const isAlike = ({ apart }) => apart < ALIKE;

/** A row a case. */
function makeTable() {
  /** @type {[string, string][]} */
  const numbers = ["product", "shifted", "weight"].map((name) => [name, "td.gp-number"]);
  const table = createTable(null, [["case", "th.gp-token.position-case"], ...numbers], { rows: NAMES.length });
  table.rows.forEach(({ fields: [name, ...values] }, i) => {
    name.dataset.text = `${KIND}.${NAMES[i]}`;
    for (const value of values) value.dataset.answer = "";
  });
  return table;
}

/** The cell that is selected. @param {import("../../types.d.ts").Glass} glass */
function select(glass) {
  const { layer, head, query, key } = shownIn(glass);
  return { layer, head, query, key };
}

/** @type {import("../../frame.js").About} */
export const about = {
  tensors: ["q", "k", "scores"],
  difference: {
    reader: casesReader,
    select,
    said: ["half_weight", "mixed_weight"],
    parts: [
      {
        draw: "strips",
        rows: "weights",
        title: "layout_rows",
        columns: [
          ["right", "k"],
          ["mixed", "muted"],
        ],
        selects: "key",
      },
      {
        draw: "table",
        rows: "products",
        column: "product",
        title: "layout_products",
        heading: "case",
        name: ({ key, glass, text }) =>
          glass.text(`${KIND}.${key.case}`) + glass.text("marks.colon") + text(`layout_${key.part}`, { shift: SHIFT }),
        step: 1,
        wordy: true,
      },
      {
        draw: "table",
        rows: "cases",
        column: "weight",
        title: "layout_weights",
        heading: "case",
        name: ({ key, glass }) => glass.text(`${KIND}.${key.case}`),
        step: 1,
        wordy: true,
      },
    ],
  },
  unused: "head",
  absent: notTurned("layout"),
  forms: turningForms,
};

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function ropeLayout(element, glass) {
  const state = shownIn(glass);
  const canvas = h("canvas.gp-canvas", { "data-text-label": `${KIND}.chart`, "data-answer": "beside" });
  const panel = frame(element, glass, KIND, { parts: ["what", "formula", "myth"] });
  const { text } = panel;
  const table = makeTable();
  const samples = [
    sample("span.gp-swatch", `${KIND}.sample_right`, "k"),
    sample("span.gp-swatch", `${KIND}.sample_mixed`, "muted"),
  ];

  /** @param {import("../../readings/rope-layout.js").LayoutReading | null} reading null before it has come */
  function view(reading) {
    return html`<div class="gp-list position-table">${table.element}</div>
      <p class="gp-note" data-answer="beside" .textContent=${reading ? apartText(reading) : ""}></p>
      ${reading && isAlike(reading) ? nothing : html`<div class="gp-samples">${samples}</div>`} ${canvas}`;
  }
  /** How much moves; and that the key's weight falls though its score rises, where it does. */
  function apartText(
    /** @type {import("../../readings/rope-layout.js").LayoutReading} */ { apart, layouts: { found } },
  ) {
    const [right, mixed] = [found[RIGHT], found[MIXED]];
    const isOdd = mixed.product > right.product && mixed.weight < right.weight;
    const { query, key } = cellNames(state);
    const said = text("apart", { percent: percent(apart, 3), query });
    return isOdd ? oneLine([said, text("falls_all_the_same", { key })]) : said;
  }
  render(view(null), panel.body);
  const wide = widthOf(panel.body, glass);
  bindPointer(canvas, glass, (x) => {
    const count = keysSeen(state.trace.model, state.query, state.trace.T);
    const chart = chartOf(wide(), count);
    const key = Math.floor(((x - chart.left) / chart.width) * count);
    return key >= 0 && key < count ? { key } : null;
  });
  bindArrowKeys(canvas, glass, across("key"));

  return inWidth(element, wide, function draw(width) {
    const reading = readHere(glass, layoutReader, select(glass));
    if (!reading) return undefined;
    const { weights, found } = reading.layouts;
    const { query, key } = reading.selection;
    const alike = isAlike(reading);
    const [name, label] = alike ? ["weight_change", "chart_change"] : ["weights", "chart"];
    canvas.dataset.textLabel = `${KIND}.${label}`;
    canvas.setAttribute("aria-label", text(label));
    drawRow(canvas, width, barsOf(weights[RIGHT], weights[MIXED], alike), {
      key,
      pieces: state.trace.tokens.pieces,
      yName: text(name),
    });
    return () => {
      panel.title.textContent = text("title", cellNames(state));
      table.entitle((name) => text(name, { m: query, n: key, shift: SHIFT }));
      const shares = sharesAlike(found.map(({ weight }) => weight));
      const rows = found.map((row, i) => ({ ...row, share: shares[i] }));
      table.fill(rows, ([, product, shifted, weight], row) => {
        writeTexts([product, shifted], [shown(row.product, 6), shown(row.shifted, 6)]);
        weight.textContent = row.share;
      });
      render(view(reading), panel.body);
      const [right, mixed] = [RIGHT, MIXED].map((i) => shares[i]);
      panel.show(reading, text("read", { key: cellNames(state).key, right, mixed }));
    };
  });
}
