// What scaling and shifting a vector of the run changes after RMSNorm and after LayerNorm, each with ε = 0 beside it,
// measured; and the sliders for it, a·x + b: one setting, kept in the link, for every run.

import { largest } from "../../arrays.js";
import { checkbox, slider } from "../../controls.js";
import { exact, fraction, h, line, phrase, root, shown, strong, tinted } from "../../dom.js";
import { fit, ink } from "../../draw.js";
import { frame } from "../../frame.js";
import { createStrips } from "../../marks/strips.js";
import { createTable, writeTexts } from "../../marks/table.js";
import { normForms } from "../../parts.js";
import { axes, chartIn, dot, path, rule, xAt } from "../../plot.js";
import { pointAt } from "../../pointed.js";
import { inWidth, widthOf } from "../../pointing.js";
import { normButtons, setNorm } from "./norm-choice.js";
import { changed, layerNorm, relativeChange, rmsNorm, scaleChange } from "./norms.js";
import { nameOf, vectorAt } from "./vector.js";

const KIND = "norm-scale";
const [HIGH, FLOOR] = [260, 1e-10]; // the chart's height; the least change drawn
/**
 * Name, function and whether it has the network's own ε, else 0.
 *
 * @type {[string, (x: ArrayLike<number>, eps: number) => Float64Array, boolean][]}
 */
export const METHODS = [
  ["rms_eps", rmsNorm, true],
  ["rms_zero", rmsNorm, false],
  ["layer_eps", layerNorm, true],
  ["layer_zero", layerNorm, false],
];
export const CASES = ["scaled", "shifted", "both"];
/**
 * The network's own norm, as METHODS has it; a LayerNorm alone has a β.
 *
 * @param {import("./vector.js").Vector} vector
 */
export const ownMethod = ({ beta }) => METHODS[beta ? 2 : 0];

/**
 * Relative change of each method's output in each case.
 *
 * @returns {number[][]} METHODS × CASES
 */
export function changes({ x, eps }, a, b) {
  const inputs = [changed(x, a, 0), changed(x, 1, b), changed(x, a, b)];
  return METHODS.map(([, norm, own]) => {
    const [e, before] = [own ? eps : 0, norm(x, own ? eps : 0)];
    return inputs.map((input) => relativeChange(before, norm(input, e)));
  });
}

/** The change by the formula for every a, and the slider's a on it. */
function drawCurve(canvas, width, { meanSquare, eps }, a, text) {
  const context = fit(canvas, width, HIGH);
  const chart = chartIn(
    [width, HIGH],
    [62, 16, 30, 46],
    { low: 10 ** -DECADES, high: 10 ** DECADES, log: true },
    { low: FLOOR, high: 10, log: true },
  );
  axes(context, chart, { xName: text("curve_x"), yName: text("curve_y") });
  const { colour } = ink();
  rule(context, chart, { x: 1, colour: colour("line"), width: 2 });
  /** @type {[number, number][]} */
  const points = Array.from({ length: 321 }, (_, i) => {
    const at = 10 ** (-DECADES + (i / 320) * 2 * DECADES);
    return [at, Math.max(FLOOR / 10, scaleChange(meanSquare, eps, at))];
  });
  path(context, chart, points, { colour: colour("norm"), width: 2.5 });
  dot(context, chart, Math.abs(a), Math.max(FLOOR, scaleChange(meanSquare, eps, Math.abs(a))), colour("norm"), 6);
  return chart;
}

/** Why scaling shows: ε does not grow with x. */
function arithmetic({ meanSquare: m, eps, beta }, a) {
  const name = (content) => tinted("norm", `${beta ? "LayerNorm" : "RMSNorm"}(${content})`);
  const [top, under] = [Math.sqrt(m + eps), Math.sqrt(a * a * m + eps)];
  const numbers = fraction(`${shown(a, 4)} · ${shown(top, 6)}`, shown(under, 6));
  const factor = (a * top) / under;
  const formula = fraction(phrase`a · ${root("m + ε")}`, root("a²·m + ε"));
  const square = beta ? "mean((x − μ)²)" : "mean(x²)";
  return [
    line`${name("a·x")} = ${formula} · ${name("x")},   m = ${square} = ${shown(m, 5)}`,
    line`= ${numbers} · ${name("x")} = ${strong(factor, 8)} · ${name("x")}`,
  ];
}

export const DECADES = 4; // powers of ten of a each way
const MOST = 3; // shifts reach so many times the RMS each way
const FIRST = { scale: -2, shift: 0.5 }; // where the sliders stand at first: log10 of a, and b as a multiple of the RMS

const between = (value, most) => Math.max(-most, Math.min(most, Number(value) || 0));

/**
 * What the sliders are set to: a = ±10^exponent, and b = share · RMS(x).
 *
 * @param {import("../../types.d.ts").Glass} glass
 * @param {number} rms
 * @param {number | null} [pointed] the exponent under the pointer
 */
export function settingsOf({ settings }, rms, pointed = null) {
  const { scale = FIRST.scale, shift = FIRST.shift, flip } = settings.get("norm");
  const [exponent, share, flipped] = [pointed ?? between(scale, DECADES), between(shift, MOST), Boolean(flip)];
  return { exponent, share, flipped, a: (flipped ? -1 : 1) * 10 ** exponent, b: share * rms };
}

/**
 * What b is a multiple of.
 *
 * @param {import("./vector.js").Vector} vector
 */
export const sizeName = ({ beta }) => (beta ? "σ(x)" : "RMS(x)");

/**
 * The choice of norm, the two sliders, the sign of a, and the way back to a = 1, b = 0.
 *
 * @returns {{ elements: HTMLElement[]; mark: () => void; show: (set: object, shift: string) => void }} `mark`: the
 *   chosen norm; `show`: what settingsOf gave, and what the shift is in words
 */
export function createScaling(glass) {
  const norms = normButtons(glass);
  const set = (change) => setNorm(glass, change);
  const scale = slider("gp-slider", `${KIND}.scale`, { min: -DECADES, max: DECADES, step: 0.05 }, (value) =>
    set({ scale: value }),
  );
  const shift = slider("gp-slider", `${KIND}.shift`, { min: -MOST, max: MOST, step: 0.05 }, (value) =>
    set({ shift: value }),
  );
  const flip = checkbox(`${KIND}.flip`, (ticked) => set({ flip: ticked ? 1 : "" }));
  const reset = h("button.gp-tab", {
    "data-text": `${KIND}.reset`,
    click: () => set({ scale: 0, shift: 0, flip: "" }),
  });
  const elements = [
    h("div.norm-bar", null, norms.element, flip.element, reset),
    h("div.norm-sliders", null, scale.element, shift.element),
  ];
  function show({ exponent, share, flipped, a }, words) {
    flip.box.checked = flipped;
    scale.show(exponent, `a = ${shown(a, 4)}`);
    shift.show(share, words);
  }
  return { elements, mark: norms.mark, show };
}

/** A row a method, a column a case. */
function makeTable() {
  /** @type {[string, string][]} */
  const cases = CASES.map((name) => [name, "td.gp-number"]);
  const table = createTable(KIND, [["method", "th.gp-token.norm-method"], ...cases], { rows: METHODS.length });
  table.rows.forEach(({ fields: [name] }, i) => {
    name.dataset.text = `${KIND}.${METHODS[i][0]}`;
  });
  return table;
}

export const about = {
  tensors: [
    "resid_in",
    "attn_norm_mean",
    "attn_norm_rms",
    "attn_normed",
    "resid_mid",
    "ffn_norm_mean",
    "ffn_norm_rms",
    "ffn_normed",
  ],
  difference: "norm",
  forms: normForms,
};

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function normScale(element, glass) {
  const { state } = glass;
  const canvas = h("canvas.gp-canvas", { role: "img", "data-text-label": `${KIND}.strips` });
  const curve = h("canvas.gp-canvas", { "data-text-label": `${KIND}.curve` });
  const view = { chart: null, found: null, a: 1, b: 0 };
  const csv = () => [["method", ...CASES], ...(view.found ?? []).map((values, i) => [METHODS[i][0], ...values])];
  const panel = frame(element, glass, KIND, { csv, parts: ["what", "formula", "myth"] });
  const scaling = createScaling(glass);
  const [table, formula, note] = [makeTable(), h("div.gp-formula"), h("p.gp-note", { "data-text": `${KIND}.measure` })];
  const left = h("div", null, h("div.gp-list.norm-channels", null, table.element), note, formula);
  const right = h("div", null, curve);
  panel.body.append(...scaling.elements, h("div.gp-columns", null, left, right), canvas);
  const strips = createStrips(canvas, { label: 24, strip: 32, axis: true });
  const [wide, curveWide] = [widthOf(panel.body, glass), widthOf(right, glass)];
  const exponentAt = (x) => (view.chart ? Math.round(Math.log10(xAt(view.chart, x)) * 20) / 20 : null);
  const pointed = pointAt(curve, glass, exponentAt, (exponent) => setNorm(glass, { scale: exponent }));

  function readSettings(vector) {
    const set = settingsOf(glass, vector.rms, pointed());
    [view.a, view.b] = [set.a, set.b];
    scaling.show(set, `b = ${shown(set.share, 3)} · ${sizeName(vector)} = ${shown(set.b, 4)}`);
  }

  function tell(vector) {
    const { norm, layer, token, eps } = vector;
    const { a, b, found } = view;
    const own = found[METHODS.indexOf(ownMethod(vector))];
    const values = METHODS.map(([name], i) => `${name}=${CASES.map((_, c) => exact(found[i][c])).join(",")}`);
    const place = norm === "final" ? "final" : `layer ${layer} ${norm}`;
    panel.tell(
      `${place} token ${token} a=${exact(a)} b=${exact(b)} ${values.join(" ")}`,
      panel.text("read", {
        a: shown(a, 4),
        change: shown(own[0], 3),
        eps: shown(eps, 1),
        b: shown(b, 4),
        shifted: shown(own[1], 3),
      }),
    );
  }

  return inWidth(element, wide, function draw(width) {
    scaling.mark();
    const vector = vectorAt(glass);
    element.classList.toggle("is-coming", !vector);
    if (!vector) return;
    readSettings(vector);
    const { a, b } = view;
    view.found = changes(vector, a, b);
    panel.title.textContent = panel.text(`title_${vector.norm}`, nameOf(vector, state));
    table.fill(view.found, ([, ...fields], row) =>
      writeTexts(
        fields,
        row.map((value) => shown(value, 3)),
      ),
    );
    formula.replaceChildren(...arithmetic(vector, a));
    view.chart = drawCurve(curve, curveWide(), vector, a, panel.text);
    const [, norm] = ownMethod(vector);
    const [before, after] = [norm(vector.x, vector.eps), norm(changed(vector.x, a, b), vector.eps)];
    const stages = { before, after, apart: after.map((value, i) => value - before[i]) };
    const limit = Math.max(...Object.values(stages).map(largest)); // one for all three, so that they compare
    const named = Object.entries(stages).map(([name, values]) => ({
      name: panel.text(name),
      role: "norm",
      values,
      limit,
    }));
    strips.draw(width, named, { chosen: null, lead: named[0] });
    tell(vector);
  });
}
