// BatchNorm, LayerNorm, RMSNorm and DeepNorm on one vector of the run: over which axis each works, what it subtracts,
// divides by and gives, and how long two of them take on the server.

import { largest } from "../../arrays.js";
import { choices } from "../../controls.js";
import { h, percent as inPercent, shown } from "../../dom.js";
import { frame } from "../../frame.js";
import { createStrips } from "../../marks/strips.js";
import { oneLine } from "../../one-line.js";
import { normForms } from "../../parts.js";
import { pointAt } from "../../pointed.js";
import { along, bindArrowKeys, inWidth, widthOf } from "../../pointing.js";
import { normKinds as reader, ratioOf } from "../../readings/norm-kinds.js";
import { readHere } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";
import { createMatrix } from "./kinds-matrix.js";
import { sumsOf } from "./kinds-sums.js";
import { createFigures, createTimes, usesTable } from "./kinds-tables.js";
import { chosenChannel, normAndPlace, normButtons, placeParams, setNorm, TENSORS } from "./norm-choice.js";

/**
 * @typedef {import("../../readings/norm-kinds.js").KindsReading} KindsReading
 *
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../decode.js").Trace} Trace
 *
 * @typedef {import("../../decoded.d.ts").Detail<"norm_times">} Times
 */

const KIND = "norm-kinds";
const ROLES = { x: "residual", batch: "accent", layer: "norm", rms: "norm", deep: "norm" };
const TIMED = { layer: 0, norm: "final" }; // as large as any other of the run's, and so as long

/**
 * What the panel's reader is asked about.
 *
 * @param {Glass} glass
 * @param {{ layer: number; query: number }} [place]
 * @param {number | null} [channel]
 * @returns {import("../../readings/norm-kinds.js").KindsSelection}
 */
function select(glass, place = glass.state, channel = null) {
  const { batch, eps } = glass.settings.get(KIND);
  const chosen = channel ?? chosenChannel(glass, glass.state.trace?.model.d_model ?? 0);
  return { ...normAndPlace(glass, place), channel: chosen, alone: batch === "alone", outside: eps === "outside" };
}

/**
 * Which norm's input, what BatchNorm has in its batch, and where RMSNorm has its ε.
 *
 * @param {Glass} glass
 */
function createControls(glass) {
  const norms = normButtons(glass);
  const [batch, eps] = [
    choices(glass, KIND, "batch", ["run", "alone"]),
    choices(glass, KIND, "eps", ["inside", "outside"]),
  ];
  function show() {
    norms.mark();
    batch.show();
    eps.show();
  }
  return { elements: [h("div.norm-bar", null, norms.element, batch.element, eps.element)], show };
}

export const about = {
  tensors: [...TENSORS.filter((name) => name.startsWith("resid")), "attn_out", "ffn_out"],
  difference: {
    reader,
    select,
    points: "channel",
    keep: (/** @type {Glass} */ glass, /** @type {number} */ channel) => setNorm(glass, { channel }),
    controls: createControls,
    said: ["mean", "rms", "layer_apart", "batch_apart"],
    of: (/** @type {any} */ { text, chosen: { channel } }) => text("of_channel", { channel }),
    parts: [
      {
        draw: "strips",
        rows: "channels",
        columns: [
          ["batch_norm", "norm"],
          ["layer_norm", "norm"],
          ["rms_norm", "norm"],
          ["x", "residual"],
        ],
      },
    ],
  },
  forms: normForms,
};

/**
 * The vector and what each norm makes of it, to one scale so that they compare.
 *
 * @param {Glass} glass
 * @param {import("../../frame.js").Panel} panel
 * @param {(channel: number) => void} keep
 */
function createOutputs(glass, panel, keep) {
  const canvas = h("canvas.gp-canvas", { "data-part": "strips", "data-text-label": `${KIND}.strips` });
  const strips = createStrips(canvas, { label: 24, strip: 26, axis: true });
  let [size, chosen] = [0, 0];
  const pointed = pointAt(canvas, glass, (x) => (size ? strips.find(x) : null), keep);
  bindArrowKeys(
    canvas,
    glass,
    along(
      () => size,
      () => chosen,
      (channel) => (keep(channel), {}),
    ),
  );
  /**
   * @param {number} width
   * @param {KindsReading} reading
   */
  function draw(width, { selection: { channel }, kinds: { x, outputs } }) {
    [size, chosen] = [x.length, channel ?? 0];
    const limit = Math.max(...Object.values(outputs).map(largest));
    const named = Object.entries({ x, ...outputs }).map(([name, values]) => ({
      name: panel.text(`strip_${name}`),
      role: ROLES[/** @type {keyof typeof ROLES} */ (name)],
      values,
      ...(name === "x" ? {} : { limit }),
    }));
    strips.draw(width, named, { chosen, lead: named[0] });
  }
  return { canvas, pointed, draw };
}

/**
 * How the times were measured, and what they come to.
 *
 * @param {Times | null} found
 * @param {Trace} trace
 * @param {import("../../frame.js").Panel["text"]} text
 */
function timesText(found, { model: { device, dtype, d_model: d }, T }, text) {
  if (!found) return text("times_wait");
  const { threads, rounds } = found;
  const [fused, written] = [
    ratioOf(found.rms_fused, found.layer_fused),
    ratioOf(found.rms_written, found.layer_written),
  ];
  const note = text("times_note", { device, dtype, threads, rounds, T, d });
  const compared =
    fused && written
      ? text("times_ratio", { fused: shown(fused, 2), written: shown(written, 2) })
      : text("times_disturbed");
  return oneLine([note, compared]);
}

/** A share in per cent, to two or three digits. @param {number} share */
const percent = (share) => inPercent(share, share < 0.1 ? 2 : 3);

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function normKinds(element, glass) {
  const { state } = glass;
  const panel = frame(element, glass, KIND, { parts: ["what", "formula", "myth"] });
  /** @param {number} channel */
  const keep = (channel) => setNorm(glass, { channel });
  const controls = createControls(glass);
  const matrix = createMatrix(glass, `${KIND}.matrix`, keep);
  const outputs = createOutputs(glass, panel, keep);
  const [figures, times] = [createFigures(), createTimes()];
  const uses = usesTable();

  /**
   * @type {(
   *   reading: KindsReading,
   *   trace: Trace,
   * ) => ReturnType<typeof placeParams> & { channel: number | null }}
   */
  const placeOf = ({ selection }, trace) => ({ ...placeParams(selection, trace), channel: selection.channel });
  /**
   * @param {{ reading: KindsReading; trace: Trace } | null} here null before it has come
   * @param {Times | null} found
   */
  const view = (here, found) => html`
    ${controls.elements} ${matrix.canvas}
    <p class="norm-key">
      <span class="norm-along"></span
      ><span .textContent=${here ? panel.text("along", placeOf(here.reading, here.trace)) : ""}></span>
      <span class="norm-down"></span
      ><span .textContent=${here ? panel.text("down", placeOf(here.reading, here.trace)) : ""}></span>
    </p>
    <h3 class="gp-subtitle" .textContent=${panel.text("outputs_title")}></h3>
    ${outputs.canvas}
    <p class="gp-note" .textContent=${panel.text(here && !here.reading.kinds.deep ? "no_branch" : "outputs_note")}></p>
    <h3
      class="gp-subtitle"
      .textContent=${here ? panel.text("figures_title", placeOf(here.reading, here.trace)) : ""}
    ></h3>
    <div class="gp-columns">
      <div class="gp-formula" lang="en">${here && sumsOf(here.reading, here.trace.model.norm_eps)}</div>
      ${figures.box}
    </div>
    <h3 class="gp-subtitle" .textContent=${panel.text("times_title")}></h3>
    <div ?hidden=${!found}>${times.box}</div>
    <p class="gp-note" .textContent=${here ? timesText(found, here.trace, panel.text) : ""}></p>
    <h3 class="gp-subtitle" .textContent=${panel.text("uses_title")}></h3>
    ${uses}
  `;
  render(view(null, null), panel.body);

  /** @type {(reading: KindsReading, trace: Trace) => void} */
  function tell(reading, trace) {
    const { values, selection } = reading;
    const { alone, norm } = selection;
    panel.title.textContent = panel.text(`title_${norm}`, placeOf(reading, trace));
    const words = panel.text(alone || trace.T === 1 ? "read_alone" : "read", {
      ...placeOf(reading, trace),
      mean: shown(values.mean, 3),
      rms: shown(values.rms, 3),
      layer_apart: percent(values.layer_apart),
      batch_apart: percent(values.batch_apart),
      tokens: trace.T,
    });
    panel.show(reading, words);
  }

  return inWidth(element, widthOf(panel.body, glass), function draw(width) {
    const channel = matrix.pointed() ?? outputs.pointed();
    const reading = readHere(glass, reader, select(glass, state, channel), select(glass, state.locked, channel));
    const { trace } = state;
    element.classList.toggle("is-coming", !reading);
    controls.show();
    if (!reading || !trace) return undefined;
    /** @type {Times | null} */
    const found = glass.detail("norm_times", TIMED);
    matrix.draw(width, reading, trace.tokens.pieces);
    outputs.draw(width, reading);
    return () => {
      if (found) times.fill(found, panel.text);
      figures.fill(reading, panel.text, trace.T);
      render(view({ reading, trace }, found), panel.body);
      tell(reading, trace);
    };
  });
}
