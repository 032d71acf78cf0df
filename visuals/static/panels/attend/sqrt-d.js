// Why q·k is divided by √d: the selected row with another divisor, what the softmax and its gradient make of it, and
// how far the layer's products are spread.

import { labelsOf } from "../../characters.js";
import { slider } from "../../controls.js";
import { count, enclosed, fraction, h, line, phrase, root, share, shown, strong, sub, tinted } from "../../dom.js";
import { visible } from "../../draw.js";
import { writtenOut } from "../../equation.js";
import { frame } from "../../frame.js";
import { createTable, writeTexts } from "../../marks/table.js";
import { scoreForms } from "../../parts.js";
import { pointAt } from "../../pointed.js";
import { inWidth, widthOf } from "../../pointing.js";
import { firstPower, isHard, sqrtReader } from "../../readings/sqrt-d.js";
import { readHere } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";
import { selectedCell, weightsTable } from "./cell-selection.js";
import { createHardness, createSpread } from "./sqrt-charts.js";
import { createWeightRows } from "./weight-rows.js";

/** @typedef {import("../../readings/sqrt-d.js").SqrtReading} SqrtReading */
/** @typedef {import("../../types.d.ts").Glass} Glass */
/** @typedef {(name: string, params?: Record<string, unknown>) => string} Text */

const KIND = "sqrt-d";
const CASES = /** @type {("own" | "set")[]} */ (["own", "set"]);

/**
 * The divisor as a power of head_dim, from 0 to 1; null where none is set.
 *
 * @param {Glass} glass
 */
function powerOf(glass) {
  const { power } = glass.settings.get(KIND);
  const given = Number(power);
  return power === undefined || !(given >= 0 && given <= 1) ? null : given;
}

/** @param {Glass} glass @param {number | null} [pointed] */
const select = (glass, pointed = null) => ({ ...selectedCell(glass), power: pointed ?? powerOf(glass) });

/** Of two runs: one divisor for both. @param {Glass} glass */
function selectBeside(glass) {
  const { trace } = glass.state;
  return { ...selectedCell(glass), power: powerOf(glass) ?? (trace ? firstPower(trace.model) : 0) };
}

/** @param {Glass} glass */
function createPower(glass) {
  const set = (/** @type {number} */ power) => glass.settings.set(KIND, { power });
  const range = slider("gp-slider", `${KIND}.divisor`, { min: 0, max: 1, step: 0.01 }, set);
  /** @param {SqrtReading} reading */
  const show = ({ divisors, width, selection: { power } }) =>
    range.show(power ?? 0, power === 0.5 ? `√${width} = ${shown(divisors.set, 3)}` : shown(divisors.set, 3));
  return { element: range.element, show, set };
}

/**
 * The same slider over B − A.
 *
 * @param {Glass} glass
 * @param {(run: any) => any} readIn
 */
function powerOfBoth(glass, readIn) {
  const { element, show } = createPower(glass);
  return { elements: [element], show: (/** @type {any} */ _a, /** @type {any} */ b) => show(readIn(b)) };
}

export const about = {
  tensors: ["q", "k", "q_rot", "k_rot", "position_bias", "scores", "attention"],
  difference: {
    reader: sqrtReader,
    select: selectBeside,
    controls: powerOfBoth,
    said: ["top_weight", "spread"],
    parts: [{ ...weightsTable, column: "weight_at_divisor", title: "weights_at_divisor" }],
  },
  unused: /** @type {const} */ ("head"),
  forms: scoreForms,
};

/**
 * The formulas with this row's and this layer's numbers.
 *
 * @param {SqrtReading} reading
 * @param {Text} text
 */
function linesOf({ hard, divisors, spread, width }, text) {
  const [a, q, k] = [() => tinted("output", "a"), () => tinted("q", "q"), () => tinted("k", "k")];
  const over = (/** @type {number} */ divisor) =>
    phrase`softmax${enclosed(fraction(phrase`${q()}·${k()}`, shown(divisor, 3)))}`;
  const slopes = () => phrase`Σ ${a()}${sub("i")}(1 − ${a()}${sub("i")})`;
  const [wanted, found] = [spread.expected[width - 1], spread.spread[width - 1]];
  const told = text("measured");
  const sizes = writtenOut(
    { each: wanted / Math.sqrt(width), wanted },
    [["wanted", ["each"], (x) => Math.sqrt(width) * x]],
    { digits: 4 },
  );
  const roots = phrase`${root(String(width))} · ${sizes.each}`;
  return [
    line`${a()} = ${over(divisors.own)},   ${text("gradient")} = ${slopes()} = ${strong(hard.own.gradient, 3)}`,
    line`${a()} = ${over(divisors.set)},   ${text("gradient")} = ${slopes()} = ${strong(hard.set.gradient, 3)}`,
    line`${root("d")} · rms(${q()}) · rms(${k()}) = ${roots} = ${strong(sizes.wanted)},   ${told} ${strong(found, 4)}`,
    line`${text("unit")}   ${root("32")} = ${shown(Math.sqrt(32), 3)},   ${root("128")} = ${shown(Math.sqrt(128), 3)}`,
  ];
}

/** The largest weight: what it lacks of 1 where it would be written as 1. */
const largestText = (/** @type {import("../../readings/sqrt-d.js").Hardness} */ { largest, rest }) => {
  const written = share(largest);
  return rest > 0 && Number(written) === 1 ? `1 − ${shown(rest, 3)}` : written;
};

/** @param {Text} text */
function createHardTable(text) {
  const table = createTable(
    KIND,
    [
      ["case", "th.gp-token"],
      ["divisor_head", "td.gp-number"],
      ["largest", "td.gp-number"],
      ["entropy", "td.gp-number"],
      ["gradient_head", "td.gp-number"],
    ],
    { rows: CASES.length },
  );
  /** @param {SqrtReading} reading */
  const fill = ({ divisors, hard }) =>
    table.fill(CASES, (fields, name) => {
      const { entropy, gradient } = hard[name];
      const [divisor, ...sizes] = [divisors[name], entropy, gradient].map((x) => shown(x, 3));
      writeTexts(fields, [text(`case_${name}`), divisor, largestText(hard[name]), ...sizes]);
    });
  return { element: table.element, fill };
}

/**
 * What to notice, with this row's numbers.
 *
 * @param {SqrtReading} reading
 * @param {string[]} pieces
 * @param {Text} text
 */
function noticeOf({ hard: { own, set }, divisors, weights, selection: { query } }, pieces, text) {
  if (weights.own.length === 1) return text("notice_one", { query: visible(labelsOf(pieces)[query]) });
  const hard = divisors.set < divisors.own ? "notice_hard" : "notice_soft";
  return text(isHard(own) && divisors.own > 1 ? hard : "notice", {
    divisor: shown(divisors.own, 3),
    set: shown(divisors.set, 3),
    own_key: visible(labelsOf(pieces)[own.key]),
    set_key: visible(labelsOf(pieces)[set.key]),
    own_largest: largestText(own),
    set_largest: largestText(set),
    own_gradient: shown(own.gradient, 3),
    set_gradient: shown(set.gradient, 3),
  });
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function sqrtD(element, glass) {
  const { state } = glass;
  const panel = frame(element, glass, KIND, { parts: ["what", "formula", "myth", "source"], pointed: false });
  const power = createPower(glass);
  const rows = createWeightRows(glass, `${KIND}.rows`);
  const [hardness, spread, table] = [createHardness(panel.text), createSpread(panel.text), createHardTable(panel.text)];
  const pointed = pointAt(hardness.canvas, glass, hardness.powerAt, power.set);
  const half = h("div", null, hardness.canvas);
  const [wide, halfWide] = [widthOf(panel.body, glass), widthOf(half, glass)];

  /** @param {SqrtReading | null} reading */
  function view(reading) {
    const pieces = state.trace?.tokens.pieces ?? [];
    const [notice, told] = reading
      ? [noticeOf(reading, pieces, panel.text), panel.text("spread_note", spreadParams(reading))]
      : ["", ""];
    return html`
      <p class="wy-notice" .textContent=${notice}></p>
      ${power.element} ${rows.canvas}
      <div class="gp-columns">
        <div>
          <h3 class="gp-subtitle" .textContent=${panel.text("hard_title")}></h3>
          ${hardness.legend} ${half}
        </div>
        <div>
          <h3 class="gp-subtitle" .textContent=${panel.text("spread_title")}></h3>
          ${spread.legend} ${spread.canvas}
          <p class="gp-note" .textContent=${told}></p>
        </div>
      </div>
      <div class="gp-formula">${reading && linesOf(reading, panel.text)}</div>
      ${table.element}
    `;
  }
  /** @param {SqrtReading} reading */
  const spreadParams = ({ spread: found, selection: { layer } }) => ({
    layer,
    pairs: count(found.pairs),
    heads: state.trace?.model.n_heads,
  });
  render(view(null), panel.body);

  return inWidth(element, wide, function draw(width) {
    const reading = readHere(glass, sqrtReader, select(glass, pointed()), select(glass));
    element.toggleAttribute("data-loading", !reading);
    if (!reading) return undefined;
    const { weights, divisors } = reading;
    rows.draw(
      width,
      CASES.map((name) => ({
        title: panel.text(`row_${name}`, { divisor: shown(divisors[name], 3) }),
        weights: weights[name],
      })),
      "attention.ceiling",
    );
    hardness.draw(halfWide(), reading);
    spread.draw(halfWide(), reading);
    return () => {
      const { layer, head, query } = reading.selection;
      panel.title.textContent = panel.text("title", {
        layer,
        head,
        query: visible(labelsOf(state.trace?.tokens.pieces ?? [])[query] ?? ""),
      });
      power.show(reading);
      render(view(reading), panel.body);
      table.fill(reading);
      panel.show(reading, "");
    };
  });
}
