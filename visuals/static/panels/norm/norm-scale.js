// What scaling and shifting a vector of the run changes after RMSNorm and after LayerNorm, each with ε = 0 beside it,
// measured; and the sliders for it, a·x + b: one setting, kept in the link, for every run.

import { largest } from "../../arrays.js";
import { checkbox, slider } from "../../controls.js";
import { h, shown } from "../../dom.js";
import { fit, ink } from "../../draw.js";
import { frame } from "../../frame.js";
import { createStrips } from "../../marks/strips.js";
import { createTable, writeTexts } from "../../marks/table.js";
import { normForms } from "../../parts.js";
import { axes, chartIn, dot, path, rule, xAt } from "../../plot.js";
import { pointAt } from "../../pointed.js";
import { inWidth, widthOf } from "../../pointing.js";
import { CASES, DECADES, METHODS, normScale as reader, ownMethod, STEPS } from "../../readings/norm.js";
import { scaleChange } from "../../readings/norms.js";
import { readHere, shownIn } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";
import { chosenNorm, normAndPlace, normButtons, placeParams, setNorm, TENSORS } from "./norm-choice.js";
import { scalingOf } from "./norm-formulas.js";
import { MOST_SHIFT, settingsOf } from "./scale-settings.js";

/**
 * @typedef {import("../../readings/norm.js").ScaleReading} ScaleReading
 *
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../frame.js").Panel} Panel
 *
 * @typedef {import("../../difference/face.js").Run} Run
 */

const KIND = "norm-scale";
const [HIGH, FLOOR] = [260, 1e-10]; // the chart's height; the least change drawn
/**
 * What the panel's reader is asked about.
 *
 * @param {Glass} glass
 * @param {{ layer: number; query: number }} [place]
 * @param {number | null} [pointed] the exponent of a under the pointer
 * @returns {import("../../readings/norm.js").ScaleSelection}
 */
function select(glass, place = glass.state, pointed = null) {
  const { a, share } = settingsOf(glass, pointed);
  return { ...normAndPlace(glass, place), a, share };
}

/** What b is a multiple of. @param {ScaleReading} reading */
const sizeName = ({ input: { beta } }) => (beta ? "σ(x)" : "RMS(x)");

/**
 * The choice of norm, the two sliders, the sign of a, and the way back to a = 1, b = 0.
 *
 * @param {Glass} glass
 * @returns {{ elements: HTMLElement[]; show: (shift: string, pointed?: number | null) => void }} `shift`: what the
 *   shift is, in words
 */
function createScaling(glass) {
  const norms = normButtons(glass);
  /** @type {(change: Record<string, string | number>) => void} */
  const set = (change) => setNorm(glass, change);
  const scale = slider("gp-slider", `${KIND}.scale`, { min: -DECADES, max: DECADES, step: 0.05 }, (value) =>
    set({ scale: value }),
  );
  const shift = slider("gp-slider", `${KIND}.shift`, { min: -MOST_SHIFT, max: MOST_SHIFT, step: 0.05 }, (value) =>
    set({ shift: value }),
  );
  const flip = checkbox(`${KIND}.flip`, (ticked) => set({ flip: ticked ? 1 : "" }));
  const reset = h("button.gp-tab", {
    "data-text": `${KIND}.reset`,
    click: () => set({ scale: 0, shift: 0, flip: "" }),
  });
  const elements = [
    h("div.norm-bar", null, norms.element, flip.element, reset),
    h("div.gp-sliders", null, scale.element, shift.element),
  ];
  /**
   * @param {string} words
   * @param {number | null} [pointed]
   */
  function show(words, pointed = null) {
    const { exponent, share, flipped, a } = settingsOf(glass, pointed);
    norms.mark();
    flip.box.checked = flipped;
    scale.show(exponent, `a = ${shown(a, 3)}`);
    shift.show(share, words);
  }
  return { elements, show };
}

/**
 * One a and one multiple of the RMS for both runs; b itself is another one in each, as their RMS are.
 *
 * @param {Glass} glass
 * @param {(run: Run) => ScaleReading} readIn
 */
function scalingOfBoth(glass, readIn) {
  const { elements, show } = createScaling(glass);
  return {
    elements,
    show(/** @type {Run} */ a, /** @type {Run} */ b) {
      const [first, second] = [readIn(a), readIn(b)];
      const share = `${shown(second.selection.share, 3)} · ${sizeName(second)}`;
      show(`b = ${share}, A: ${shown(first.values.b, 4)}, B: ${shown(second.values.b, 4)}`);
    },
  };
}

/** @type {import("../../frame.js").About} */
export const about = {
  tensors: TENSORS,
  difference: {
    reader,
    select,
    controls: scalingOfBoth,
    note: `${KIND}.measure`,
    named(glass, text) {
      const { a, share } = settingsOf(glass);
      const norm = chosenNorm(glass);
      const named = norm === "final" ? text("final") : text(`norm_${norm}`, glass.state);
      return { norm: named, a: shown(a, 3), share: shown(share, 3) };
    },
    said: (/** @type {ScaleReading} */ { input }) =>
      CASES.slice(0, 2).map((name) => `${ownMethod(input).name}_${name}`),
    parts: [
      {
        draw: "table",
        rows: "cases",
        column: "change",
        title: "scale_cases",
        heading: "method",
        name: ({ key, glass }) =>
          glass.text(`${KIND}.${key.method}`) + glass.text("marks.colon") + glass.text(`${KIND}.${key.case}`),
        step: 1,
        wordy: true,
      },
      {
        draw: "table",
        rows: "curve",
        column: "change",
        title: "scale_curve",
        heading: "factor",
        name: ({ key }) => `a = ${Number(Number(key.a).toPrecision(1))}`,
        step: STEPS,
      },
      {
        draw: "strips",
        rows: "outputs",
        title: "scale_outputs",
        columns: [
          ["before", "norm"],
          ["scaled", "norm"],
          ["moved", "norm"],
        ],
      },
    ],
  },
  forms: normForms,
};

/** A row a method, a column a case. */
function createCases() {
  /** @type {[string, string][]} */
  const cases = CASES.map((name) => [name, "td.gp-number"]);
  const table = createTable(KIND, [["method", "th.gp-token.norm-method"], ...cases], { rows: METHODS.length });
  table.rows.forEach(({ fields: [name] }, i) => {
    name.dataset.text = `${KIND}.${METHODS[i].name}`;
  });
  /** @param {ScaleReading} reading */
  const fill = ({ changes }) =>
    table.fill(changes, ([, ...fields], row) =>
      writeTexts(
        fields,
        row.map((value) => shown(value, value < FLOOR ? 2 : 3)),
      ),
    );
  return { element: table.element, fill };
}

/**
 * The change by the formula for every a, and the slider's a on it; a click chooses another.
 *
 * @param {Glass} glass
 * @param {Panel} panel
 */
function createCurve(glass, panel) {
  const canvas = h("canvas.gp-canvas", { "data-text-label": `${KIND}.curve` });
  /** @type {import("../../plot.js").Chart | null} null until it is drawn */
  let chart = null;
  const exponentAt = (/** @type {number} */ x) => (chart ? Math.round(Math.log10(xAt(chart, x)) * 20) / 20 : null);
  const pointed = pointAt(canvas, glass, exponentAt, (exponent) => setNorm(glass, { scale: exponent }));

  /**
   * @param {number} width
   * @param {ScaleReading} reading
   */
  function draw(width, { input: { meanSquare, eps }, selection: { a }, rows }) {
    const context = fit(canvas, width, HIGH);
    const decades = { low: 10 ** -DECADES, high: 10 ** DECADES, log: true };
    chart = chartIn([width, HIGH], [62, 16, 30, 46], decades, { low: FLOOR, high: 10, log: true });
    axes(context, chart, { xName: panel.text("curve_x"), yName: panel.text("curve_y") });
    const { colour } = ink();
    rule(context, chart, { x: 1, colour: colour("line"), width: 2 });
    const { keys, columns } = rows.curve();
    /** @type {[number, number][]} */
    const points = Array.from(/** @type {number[]} */ (keys.a), (at, i) => [
      at,
      Math.max(FLOOR / 10, columns.change[i]),
    ]);
    path(context, chart, points, { colour: colour("norm"), width: 2.5 });
    const here = Math.max(FLOOR, scaleChange(meanSquare, eps, Math.abs(a)));
    dot(context, chart, Math.abs(a), here, colour("norm"), 6);
  }
  return { canvas, pointed, draw };
}

/**
 * What the network's own norm makes of x and of a·x + b, and their difference, to one scale so that they compare.
 *
 * @param {Panel} panel
 */
function createOutputs(panel) {
  const canvas = h("canvas.gp-canvas", { role: "img", "data-text-label": `${KIND}.strips` });
  const strips = createStrips(canvas, { label: 24, strip: 32, axis: true });
  /**
   * @param {number} width
   * @param {ScaleReading} reading
   */
  function draw(width, { rows }) {
    const { columns } = rows.outputs();
    const limit = Math.max(...Object.values(columns).map(largest));
    const named = Object.entries(columns).map(([name, values]) => ({
      name: panel.text(`output_${name}`),
      role: "norm",
      values,
      limit,
    }));
    strips.draw(width, named, { chosen: null, lead: named[0] });
  }
  return { canvas, draw };
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function normScale(element, glass) {
  const state = shownIn(glass);
  const panel = frame(element, glass, KIND, { parts: ["what", "formula", "myth"] });
  const [scaling, cases] = [createScaling(glass), createCases()];
  const [curve, outputs] = [createCurve(glass, panel), createOutputs(panel)];
  const right = h("div", null, curve.canvas);
  const [wide, curveWide] = [widthOf(panel.body, glass), widthOf(right, glass)];

  /** @param {ScaleReading | null} reading null before it has come */
  const view = (reading) => html`
    ${scaling.elements}
    <div class="gp-columns">
      <div>
        <div class="gp-list norm-channels">${cases.element}</div>
        <p class="gp-note" .textContent=${panel.text("measure")}></p>
        <div class="gp-formula">${reading && scalingOf(reading.input, reading.selection.a)}</div>
      </div>
      ${right}
    </div>
    ${outputs.canvas}
  `;
  render(view(null), panel.body);

  /** @param {ScaleReading} reading */
  function tell(reading) {
    const { values, input, selection, changes } = reading;
    const [scaled, shifted] = changes[METHODS.indexOf(ownMethod(input))];
    panel.title.textContent = panel.text(`title_${selection.norm}`, placeParams(selection, state.trace));
    const words = panel.text("read", {
      a: shown(values.a, 3),
      change: shown(scaled, 3),
      eps: shown(input.eps, 1),
      b: shown(values.b, 4),
      shifted: shown(shifted, 3),
    });
    panel.show(reading, words);
  }

  return inWidth(element, wide, function draw(width) {
    const at = (/** @type {{ layer: number; query: number }} */ place) => select(glass, place, curve.pointed());
    const reading = readHere(glass, reader, at(state), at(state.locked));
    element.classList.toggle("is-coming", !reading);
    if (!reading) return undefined;
    curve.draw(curveWide(), reading);
    outputs.draw(width, reading);
    return () => {
      const { share } = reading.selection;
      scaling.show(`b = ${shown(share, 3)} · ${sizeName(reading)} = ${shown(reading.values.b, 3)}`, curve.pointed());
      render(view(reading), panel.body);
      cases.fill(reading);
      tell(reading);
    };
  });
}
