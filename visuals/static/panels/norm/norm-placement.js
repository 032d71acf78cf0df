// Where a norm stands, before a sub-layer or after its sum: both blocks drawn, and what becomes of this run's stream by
// pre-norm, sandwich, post-norm and DeepNorm.

import { slider } from "../../controls.js";
import { h, line, RAISED, shown, strong, tinted } from "../../dom.js";
import { writtenOut } from "../../equation.js";
import { frame } from "../../frame.js";
import { createTable, listed, writeTexts } from "../../marks/table.js";
import { bindPointer, across, bindArrowKeys, inWidth, widthOf } from "../../pointing.js";
import { memo } from "../../reads.js";
import { normPlacement as reader, PLACEMENTS } from "../../readings/norm-placement.js";
import { readHere } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";
import { placeParams } from "./norm-choice.js";
import { drawPlacement, layerAt } from "./placement-chart.js";
import { diagramsOf } from "./placement-diagram.js";

/**
 * @typedef {import("../../readings/norm-placement.js").PlacementReading} PlacementReading
 *
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../decode.js").Trace} Trace
 *
 * @typedef {import("../../frame.js").Panel["text"]} Text
 */

const KIND = "norm-placement";
const DECADES = 3; // the slider ends at 1,000 layers

/**
 * How many layers α is worked out for; null: the network's own.
 *
 * @param {Glass} glass
 */
function chosenDepth({ settings }) {
  const given = Number(settings.get(KIND).depth);
  return Number.isInteger(given) && given >= 1 && given <= 10 ** DECADES ? given : null;
}

/**
 * What the panel's reader is asked about.
 *
 * @param {Glass} glass
 * @param {{ query: number }} [place]
 * @returns {import("../../readings/norm-placement.js").PlacementSelection}
 */
const select = (glass, { query } = glass.state) => ({ query, depth: chosenDepth(glass) });

/**
 * The slider of the depth that α is for, and the way back to the network's own.
 *
 * @param {Glass} glass
 */
function createDepth(glass) {
  /** @param {number | null} depth */
  const set = (depth) => glass.settings.set(KIND, { depth });
  const range = slider("gp-slider", `${KIND}.depth`, { min: 0, max: DECADES, step: 0.01 }, (value) =>
    set(Math.round(10 ** value)),
  );
  const own = h("button.gp-tab", { "data-text": `${KIND}.own_depth`, click: () => set(null) });
  /** @param {PlacementReading} reading */
  const show = ({ layers, scales: { alpha, beta } }) =>
    range.show(
      Math.round(100 * Math.log10(layers)) / 100,
      `N = ${layers}: α = ${shown(alpha, 3)}, β = ${shown(beta, 3)}`,
    );
  return { elements: [h("div.norm-depth", null, range.element, own)], show };
}

/**
 * The same for two runs, whose networks may differ in depth.
 *
 * @param {Glass} glass
 * @param {(run: unknown) => PlacementReading} readIn
 */
function depthOfBoth(glass, readIn) {
  const { elements, show } = createDepth(glass);
  return { elements, show: (/** @type {unknown} */ _a, /** @type {unknown} */ b) => show(readIn(b)) };
}

/**
 * Where in the network a row of the table is.
 *
 * @param {{ key: Record<string, any>; glass: Glass }} row
 */
function rowName({ key: { layer, part }, glass }) {
  if (part === "start" || part === "both") return glass.text(`${KIND}.row_${part}`, { layer });
  return glass.text(`b_minus_a.norm_${part}`, { layer });
}

export const about = {
  tensors: ["resid_in", "attn_out", "resid_mid", "ffn_out", "resid_out"],
  difference: {
    reader,
    select,
    controls: depthOfBoth,
    said: ["pre", "post_kept", "deep_kept"],
    parts: ["pre", "post_kept", "deep_kept"].map((column) => ({
      draw: "table",
      rows: "steps",
      column,
      title: `placement_${column}`,
      heading: "place",
      name: rowName,
      most: 12,
    })),
  },
};

/** The formula of a placement. @type {Record<string, string>} */
const FORMULAS = {
  pre: "x + f(norm(x))",
  sandwich: "x + LN(f(norm(x)))",
  post: "LN(x + f(x))",
  deep: "LN(α·x + f(x))",
  branch: "LN(x + α·f(x))",
};

/** What each placement leaves after the last layer. */
function createEnds() {
  const table = createTable(
    KIND,
    [
      ["placement", "th.gp-token.norm-method"],
      ["rule", "td.norm-words"],
      ["end", "td.gp-number"],
      ["left", "td.gp-number"],
    ],
    { rows: PLACEMENTS.length },
  );
  /** @type {(reading: PlacementReading, text: Text) => void} */
  function fill({ chains }, text) {
    table.fill(PLACEMENTS, (fields, name) => {
      const { lengths, kept } = chains[name];
      writeTexts(fields, [
        text(name),
        FORMULAS[name],
        shown(lengths[lengths.length - 1], 3),
        small(kept[kept.length - 1]),
      ]);
    });
    table.mark((i) => PLACEMENTS[i] === "pre");
  }
  return { box: listed(".norm-channels", `${KIND}.ends`, table), fill };
}

/**
 * A factor to three digits; a small one as a power of ten, which many zeros are hard to read as.
 *
 * @param {number} factor
 */
function small(factor, digits = 3) {
  if (factor === 1 || factor === 0) return String(factor);
  if (factor >= 0.001) return shown(factor, digits);
  const [mantissa, power] = factor.toExponential(digits - 2).split("e");
  return `${mantissa}×10${[...power].map((sign) => RAISED[sign]).join("")}`;
}

/**
 * The selected layer's last step, with the numbers of the run: what post-norm and DeepNorm divide by.
 *
 * @param {PlacementReading} reading
 * @param {number} layer
 * @param {Text} text
 * @param {string} colon
 * @returns {HTMLElement[]}
 */
function stepOf({ chains, answer: { layers, parts }, scales: { alpha } }, layer, text, colon) {
  const k = layers.lastIndexOf(layer) + 1;
  /** @type {(name: "post" | "deep", by: number) => HTMLElement} */
  const one = (name, by) => {
    const [before, after] = [chains[name].kept[k - 1], chains[name].kept[k]];
    const sigma = (by * before) / after;
    const said = writtenOut(
      { before, by, sigma, after },
      [["after", ["before", "by", "sigma"], (kept, times, over) => (kept * times) / over]],
      { digits: 3, of: { before: { write: small }, after: { write: small } } },
    );
    const above = `${said.before} · ${by === 1 ? "1" : said.by}`;
    return line`${tinted("norm", text(name))}${colon}${above} / σ = ${above} / ${said.sigma} = ${strong(said.after)}`;
  };
  const where = parts[k - 1] === "both" ? text("row_both", { layer }) : text(`step_${parts[k - 1]}`, { layer });
  return [line`${where}`, one("post", 1), one("deep", alpha)];
}

/**
 * A chart of the stream through depth; the pointer previews a layer, a click keeps it.
 *
 * @param {Glass} glass
 * @param {"lengths" | "kept"} what
 * @param {Text} text
 */
function createChart(glass, what, text) {
  const canvas = h("canvas.gp-canvas", { "data-part": what, "data-text-label": `${KIND}.chart_${what}` });
  const holder = h("div", null, canvas);
  const wide = widthOf(holder, glass);
  const at = { steps: 1, per: 1 };
  bindPointer(canvas, glass, (x) => ({ layer: layerAt(wide(), at.steps, at.per, x) }));
  bindArrowKeys(canvas, glass, across("layer"));
  /** @type {(reading: PlacementReading, layer: number) => void} */
  function draw(reading, layer) {
    const { layers } = reading.answer;
    Object.assign(at, { steps: layers.length, per: layers.lastIndexOf(0) + 1 });
    if (wide()) drawPlacement(canvas, wide(), reading, { what, per: at.per, layer, text });
  }
  return { holder, draw };
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function normPlacement(element, glass) {
  const { state } = glass;
  const panel = frame(element, glass, KIND, { parts: ["what", "formula", "myth"] });
  const [depth, ends] = [createDepth(glass), createEnds()];
  const charts = /** @type {const} */ (["lengths", "kept"]).map((what) => createChart(glass, what, panel.text));
  const blocks = h("div.norm-blocks");
  const nameOf = (/** @type {Trace} */ trace) => glass.modelName(trace.model.name);
  const drawBlocks = memo((/** @type {Trace["model"]} */ model) => {
    blocks.replaceChildren(...diagramsOf(model, glass.modelName(model.name), panel.text));
  });

  /** @param {{ reading: PlacementReading; trace: Trace } | null} here null before it has come */
  const view = (here) => html`
    ${blocks}
    <p class="gp-note" .textContent=${here ? panel.text("recorded", { model: nameOf(here.trace) }) : ""}></p>
    <div class="gp-columns">${charts.map(({ holder }) => holder)}</div>
    <div class="gp-columns">
      <div>
        ${depth.elements}
        <div class="gp-formula">
          ${here && stepOf(here.reading, state.layer, panel.text, glass.text("marks.colon"))}
        </div>
        <p class="gp-note" .textContent=${panel.text("step_note")}></p>
      </div>
      ${ends.box}
    </div>
  `;
  render(view(null), panel.body);

  /** @type {(reading: PlacementReading, trace: Trace) => void} */
  function tell(reading, trace) {
    const { values, selection } = reading;
    panel.title.textContent = panel.text("title", { layers: trace.model.n_layers });
    const words = panel.text("read", {
      ...placeParams({ layer: 0, query: selection.query }, trace),
      start: shown(values.start, 3),
      pre: shown(values.pre, 3),
      flat: shown(values.post, 3),
      left: small(values.post_kept),
      deep: small(values.deep_kept),
    });
    panel.show(reading, words);
  }

  return inWidth(element, widthOf(panel.body, glass), function draw() {
    const reading = readHere(glass, reader, select(glass), select(glass, state.locked));
    const { trace } = state;
    element.classList.toggle("is-coming", !reading);
    if (!reading || !trace) return undefined;
    drawBlocks(trace.model);
    for (const chart of charts) chart.draw(reading, state.layer);
    return () => {
      depth.show(reading);
      ends.fill(reading, panel.text);
      render(view({ reading, trace }), panel.body);
      tell(reading, trace);
    };
  });
}
