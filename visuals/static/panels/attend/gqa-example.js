// The shapes of grouped-query attention on the literature's example, 100 tokens, d 512, 8 heads in 2 groups, and for
// any other numbers.

import { slider } from "../../controls.js";
import { count, h, line } from "../../dom.js";
import { frame } from "../../frame.js";
import { createTable, writeTexts } from "../../marks/table.js";
import { inView } from "../../pointing.js";
import { EXAMPLE, exampleReading, misfit, shapesOf } from "../../readings/gqa-example.js";
import { html, render } from "../../vendor/lit-html.js";
import { framesOf, headsByGroup } from "./group-frames.js";

/** @typedef {import("../../readings/gqa-example.js").Sizes} Sizes */
/** @typedef {import("../../readings/gqa-example.js").ExampleReading} ExampleReading */
/** @typedef {import("../../types.d.ts").Glass} Glass */

const KIND = "gqa-example";
const RANGES = /** @type {Record<keyof Sizes, { min: number; max: number; step: number }>} */ ({
  T: { min: 1, max: 1024, step: 1 },
  d: { min: 64, max: 4096, step: 64 },
  h: { min: 1, max: 32, step: 1 },
  g: { min: 1, max: 32, step: 1 },
});
const NAMES = /** @type {(keyof Sizes)[]} */ (Object.keys(RANGES));

/**
 * What is set; the example's own numbers for the others, and for what is no number of the range. @param {Glass}
 * glass
 */
function sizesOf({ settings }) {
  const given = settings.get(KIND);
  const sizes = { ...EXAMPLE };
  for (const name of NAMES) {
    const [value, { min, max }] = [Number(given[name]), RANGES[name]];
    if (Number.isInteger(value) && value >= min && value <= max) sizes[name] = value;
  }
  return sizes;
}

export const about = {};

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function gqaExample(element, glass) {
  const panel = frame(element, glass, KIND, { parts: ["what", "formula"], pointed: false });
  const set = (/** @type {Partial<Sizes>} */ change) => {
    const now = { ...sizesOf(glass), ...change };
    const changed = NAMES.filter((name) => now[name] !== EXAMPLE[name]).map((name) => [name, now[name]]);
    glass.settings.set(KIND, Object.fromEntries(changed));
  };
  const sliders = NAMES.map((name) => slider("gp-slider", `${KIND}.${name}`, RANGES[name], (v) => set({ [name]: v })));
  const reset = h("button.gp-tab", { "data-text": `${KIND}.reset`, click: () => glass.settings.set(KIND, {}) });
  const controls = h("div.gp-sliders", null, ...sliders.map((one) => one.element));
  const table = createTable(
    KIND,
    [
      ["matrix", "th.gp-token"],
      ["meaning", "td.at-part"],
      ["shape", "td.gp-number"],
      ["numbers", "td.gp-number"],
    ],
    { rows: shapesOf(EXAMPLE).length },
  );

  /** The formula of what is kept, which stays in one line. @param {string} heads which */
  const product = (heads) => h("span.at-product", null, `2 · T · ${heads} · head_dim`);
  /** @param {ExampleReading} reading */
  function linesOf({ selection: { T, d, h: heads, g }, headDim, kept, keptByAll }) {
    const sizes = [2, T, g, headDim].join(" · ");
    const [number, all] = [h("strong", null, count(kept)), h("strong", null, count(keptByAll))];
    return [
      line`head_dim = d / h = ${String(d)} / ${String(heads)} = ${h("strong", null, String(headDim))}`,
      line`${panel.text("kept")} ${product("g")} = ${sizes} = ${number}`,
      line`${panel.text("kept_by_all")} ${product("h")} = ${all}`,
    ];
  }
  /** @param {Sizes} sizes @param {ExampleReading | null} reading null where the numbers do not fit */
  const view = (sizes, reading) => html`
    <p class="wy-notice" role="status" .textContent=${told(sizes, reading)}></p>
    ${controls}
    <div class="at-reset">${reset}</div>
    <div ?hidden=${!reading}>
      ${reading && framesOf(headsByGroup(sizes.g, reading.groupSize), () => false, "is-heads")} ${table.element}
      <div class="gp-formula">${reading && linesOf(reading)}</div>
    </div>
  `;
  /** @param {Sizes} sizes @param {ExampleReading | null} reading */
  function told(sizes, reading) {
    const wrong = misfit(sizes);
    if (wrong) return panel.text(`refused_${wrong.field}`, { ...sizes, fits: wrong.fits.join(glass.text("why.list")) });
    const { groupSize = 1, headDim = 1 } = reading ?? {};
    return panel.text(groupSize === 1 ? "notice_mha" : "notice", {
      ...sizes,
      size: groupSize,
      head_dim: headDim,
      width: sizes.g * headDim,
    });
  }
  render(view(EXAMPLE, null), panel.body);

  return inView(element, function draw() {
    const sizes = sizesOf(glass);
    const reading = misfit(sizes) ? null : exampleReading(sizes);
    return () => {
      panel.title.textContent = panel.text("title");
      NAMES.forEach((name, i) => sliders[i].show(sizes[name], String(sizes[name])));
      render(view(sizes, reading), panel.body);
      if (!reading) return panel.tell("refused", "");
      table.fill(reading.shapes, (fields, { name, rows, columns }) =>
        writeTexts(fields, [
          name,
          panel.text(`means_${name}`, { size: reading.groupSize }),
          `${count(rows)} × ${count(columns)}`,
          count(rows * columns),
        ]),
      );
      return panel.show(reading, "");
    };
  });
}
