// Half-split and interleaved pairs: the same scores when weights and rotation agree, others when they are mixed.

import { labelsOf } from "../../characters.js";
import { keysSeen } from "../../compute.js";
import { h, sample, share, shown } from "../../dom.js";
import { chartHeight, fit, ink, cellNames, visible, write } from "../../draw.js";
import { frame } from "../../frame.js";
import { createTable, writeTexts } from "../../marks/table.js";
import { notTurned, turningForms } from "../../parts.js";
import { axes, chartIn, xOf, yOf } from "../../plot.js";
import { across, inWidth, bindPointer, bindArrowKeys, widthOf } from "../../pointing.js";
import { casesReader, layoutReader, NAMES, SHIFT } from "../../readings/rope-layout.js";
import { readHere, shownIn } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";

/** @typedef {import("../../types.d.ts").Say} Say */

const KIND = "rope-layout";
const HIGH = 250;
const [RIGHT, MIXED] = [NAMES.indexOf("half"), NAMES.indexOf("mixed")];

/** @type {(width: number, keys: number, high?: number) => import("../../plot.js").Chart} */
const chartOf = (width, keys, high = 1) =>
  chartIn([width, chartHeight(HIGH)], [52, 8, 30, 32], { low: 0, high: keys }, { low: 0, high });

/**
 * Weights of the row: as the model has them, and as the mixed layouts would have them.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {Float64Array} right
 * @param {Float64Array} wrong
 * @param {number} key
 * @param {string[]} pieces
 * @param {Say} text
 */
function drawRow(canvas, width, right, wrong, key, pieces, text) {
  const tall = chartHeight(HIGH);
  const context = fit(canvas, width, tall);
  const { colour } = ink();
  const chart = chartOf(width, right.length, Math.max(...right, ...wrong) * 1.08);
  axes(context, chart, { xTicks: [], yName: text("weights") });
  const cell = chart.width / right.length;
  context.fillStyle = colour("raised");
  context.fillRect(xOf(chart, key), chart.top, cell, chart.height);
  const every = Math.ceil(54 / cell);
  right.forEach((weight, i) => {
    const wide = Math.max(1, Math.min(24, cell * 0.36));
    const middle = xOf(chart, i + 0.5);
    /** @type {[number, string, number][]} */
    const bars = [
      [weight, "k", middle - wide],
      [wrong[i], "muted", middle],
    ];
    for (const [value, role, left] of bars) {
      const top = yOf(chart, value);
      context.fillStyle = colour(role);
      context.fillRect(left, top, wide, chart.top + chart.height - top);
    }
    if (i % every === 0)
      write(context, visible(labelsOf(pieces)[i]), middle, tall - 10, {
        align: "center",
        colour: colour("muted"),
        most: every * cell - 6,
      });
  });
}

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
    const { query } = reading ? cellNames(state) : {};
    const apart = reading ? text("apart", { percent: shown(100 * reading.apart, 3), query }) : "";
    return html`<div class="gp-list position-table">${table.element}</div>
      <p class="gp-note" data-answer="beside" .textContent=${apart}></p>
      <div class="gp-samples">${samples}</div>
      ${canvas}`;
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
    drawRow(canvas, width, weights[RIGHT], weights[MIXED], key, state.trace.tokens.pieces, text);
    return () => {
      panel.title.textContent = text("title", cellNames(state));
      table.entitle((name) => text(name, { m: query, n: key, shift: SHIFT }));
      table.fill(found, ([, ...fields], row) =>
        writeTexts(fields, [shown(row.product, 6), shown(row.shifted, 6), share(row.weight)]),
      );
      render(view(reading), panel.body);
      const [right, mixed] = [RIGHT, MIXED].map((i) => share(found[i].weight));
      panel.show(reading, text("read", { key: cellNames(state).key, right, mixed }));
    };
  });
}
