// Attention (GQA): all heads of a layer under the K/V head that they share, and the selected row to the digit.

import { strongest } from "../../arrays.js";
import { labelsOf } from "../../characters.js";
import { attention as weightsOf } from "../../compute.js";
import { shareSaid } from "../../counts.js";
import { h, shown } from "../../dom.js";
import { cellNames, visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { scoreForms } from "../../parts.js";
import { across, inWidth, bindPointer, bindArrowKeys, widthOf } from "../../pointing.js";
import { reactive } from "../../reads.js";
import { layerRows } from "../../readings/attend.js";
import { readHere, shownIn } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";
import { createMaps } from "./attention-maps.js";
import { createCellSteps } from "./cell-steps.js";
import { createBars, createLargest, softmaxLines } from "./attention-row.js";
import { selectedCell, weightsTable } from "./cell-selection.js";
import { sinkText } from "./sink.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../readings/attend.js").CellReading} CellReading
 *
 * @typedef {import("./known.js").JobInWords} Job
 */

const LARGEST = 6; // weights of a row that are listed

/** @param {Glass} glass */
function stepControls(glass) {
  const { element, draw } = createCellSteps(glass);
  return { elements: [element], show: draw };
}

/** @type {import("../../frame.js").About} */
export const about = {
  tensors: ["q", "k", "q_rot", "k_rot", "position_bias", "scores", "attention"],
  difference: {
    reader: layerRows,
    select: selectedCell,
    controls: stepControls,
    of: ({ text, named }) => text("of_cell", named),
    parts: [{ draw: "headMaps", create: createMaps }, weightsTable],
  },
  unused: "head",
  forms: (model) => [...(model.parts.prefix ? ["prefix"] : model.parts.window ? ["window"] : []), ...scoreForms(model)],
};

/**
 * What the selected head is known to do; its names come when the browser has time, as no page needs them to open.
 *
 * @param {Glass} glass
 */
function headJob(glass) {
  /** @type {{ jobOfHead: (glass: Glass) => Job }} */
  const nobody = { jobOfHead: () => ({ label: "", scored: "", meaning: "", here: "" }) };
  const known = reactive(nobody, glass.repaint);
  (globalThis.requestIdleCallback ?? setTimeout)(async () => {
    known.jobOfHead = (await import("./known.js")).jobOfHead;
  });
  return () => known.jobOfHead(glass);
}

/**
 * The panel's heading, with the job that the selected head is known to do.
 *
 * @param {import("../../frame.js").Panel} panel
 * @param {import("../../decode.js").Trace} trace
 * @param {{ layer: number; head: number }} selection
 * @param {Job} job
 */
function entitle({ title, text }, { model }, { layer, head }, { label, meaning, here }) {
  const {
    n_heads,
    n_kv_heads,
    parts: { latent },
  } = model;
  const kind = latent ? "title_mla" : n_kv_heads === n_heads ? "title_mha" : n_kv_heads === 1 ? "title_mqa" : "title";
  title.textContent = text(kind, { layer, heads: n_heads, kv: n_kv_heads });
  if (label) title.append(h("span.gp-job", { title: meaning }, text("job", { head, label })));
  if (here) title.append(h("span.gp-here", null, here));
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function attention(element, glass) {
  const state = shownIn(glass);
  const panel = frame(element, glass, "attention", { parts: ["what", "formula", "sinks", "myth"] });
  const maps = createMaps(glass, "attention.maps");
  const bars = createBars(glass, panel.text);
  maps.element.dataset.answer = "drawn";
  bars.canvas.dataset.answer = "beside";
  bindPointer(bars.canvas, glass, bars.find);
  bindArrowKeys(bars.canvas, glass, across("key"));
  const largest = createLargest("attention", "key", LARGEST, (count) => panel.text("others", { count }));
  const scroll = h("div.gp-scroll", null, maps.element);
  const steps = createCellSteps(glass);
  const jobNow = headJob(glass);

  /** How many weights a dot of a map stands for, where that is more than one. */
  function pooledText() {
    const block = maps.block();
    return block > 1 ? panel.text("pooled", { block }) : "";
  }
  /** @param {CellReading} reading */
  const rowTitle = ({ selection: { head, query } }) =>
    panel.text("row_title", { head, query, piece: visible(labelsOf(state.trace.tokens.pieces)[query]) });

  /**
   * What a worksheet says: where the query's row looks most in each head that is shown. @param {CellReading}
   * reading
   */
  function resultOf({ selection: { query } }) {
    const held = glass.layer();
    if (!held) return "";
    const says = (/** @type {number} */ head) => {
      const weights = weightsOf(held, state.trace.model, head, query);
      const [key] = strongest(weights, 1);
      const piece = visible(labelsOf(state.trace.tokens.pieces)[key]);
      return panel.text("result", { head, piece, weight: shareSaid(glass.text, weights[key]) });
    };
    return maps.heads().map(says).join(" · ");
  }

  /** @param {CellReading | null} reading null before it has come */
  const view = (reading) => html`
    <p class="gp-note gp-hint" .textContent=${panel.text("hint")}></p>
    <div class="at-looks" data-result=${reading && state.presenting ? resultOf(reading) : ""}>
      ${scroll} ${steps.element}
      <p class="gp-note" .textContent=${reading ? pooledText() : ""}></p>
      <h3 class="gp-subtitle" data-answer="beside" .textContent=${reading ? rowTitle(reading) : ""}></h3>
      ${bars.canvas}
    </div>
    <div class="gp-columns">
      <div>
        <div class="gp-formula">${reading && softmaxLines(reading, state.trace.model, panel.text)}</div>
        <p class="gp-note" .textContent=${reading ? sinkText(reading.row.weights, null, state, panel.text) : ""}></p>
      </div>
      ${largest.element}
    </div>
  `;
  render(view(null), panel.body);

  /**
   * @param {CellReading} reading
   * @param {Job} job
   */
  function tell(reading, job) {
    const { weight, score } = reading.values;
    entitle(panel, state.trace, reading.selection, job);
    const words = panel.text("read", { ...cellNames(state), weight: shown(weight, 5), score: shown(score, 5) });
    panel.show(reading, job.scored ? `${words} · ${job.scored}` : words);
  }

  return inWidth(element, widthOf(scroll, glass), function draw(width) {
    const [reading, held] = [readHere(glass, layerRows, selectedCell(glass)), glass.layer()];
    if (!reading || !held) return undefined;
    const job = jobNow();
    maps.draw([{ trace: state.trace, held }], width);
    bars.draw(width, reading);
    return () => {
      render(view(reading), panel.body);
      steps.draw();
      largest.fill(reading.row, labelsOf(state.trace.tokens.pieces));
      tell(reading, job);
    };
  });
}
