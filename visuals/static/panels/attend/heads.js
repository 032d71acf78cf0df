// All heads of all layers as thumbnails, and the heads that are known to do a job. A click shows that head everywhere.

import { shown } from "../../dom.js";
import { cellNames } from "../../draw.js";
import { frame } from "../../frame.js";
import { scoreForms } from "../../parts.js";
import { inWidth, widthOf } from "../../pointing.js";
import { headHabits, surveyOf } from "../../readings/habits.js";
import { readHere, shownIn } from "../../run-for.js";
import { html, nothing, render } from "../../vendor/lit-html.js";
import { createJobs } from "./jobs.js";
import { jobsOf, labelOf, namesOf } from "./known.js";
import { createThumbs } from "./thumbs.js";
import { oneLine } from "../../one-line.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../types.d.ts").Model} Model
 *
 * @typedef {import("../../decode.js").Trace} Trace
 *
 * @typedef {import("./known.js").Names | null} Names null until they have come
 */

const BESIDE = 14; // models of up to so many layers leave room for the list beside the thumbnails

/** @param {Glass} glass */
const select = ({ state: { layer, head } }) => ({ layer, head });

/** @type {import("../../frame.js").About} */
export const about = {
  tensors: ["scores", "attention"],
  difference: {
    reader: { ...headHabits, layer: true },
    select,
    without: "b_minus_a.without_jobs",
    of: ({ text, named }) => text("of_head", named),
    parts: [{ draw: "headMaps", create: createThumbs }],
  },
  unused: "head",
  forms: scoreForms,
};

/**
 * What the thumbnails' marks mean, as far as this model has them.
 *
 * @param {Model} model
 * @param {Names} names
 * @param {Say} text
 */
function legendOf({ n_heads, n_kv_heads }, names, text) {
  const marks = [
    "legend_maps",
    ...(n_kv_heads < n_heads ? ["legend_groups"] : []),
    ...(names?.kinds?.length ? ["legend_jobs"] : []),
  ];
  return oneLine(marks.map((name) => text(name)));
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function heads(element, glass) {
  const state = shownIn(glass);
  const thumbs = createThumbs(glass, "heads.thumbs", ({ trace }, layer, head) => surveyOf(trace).read(layer, head));
  const panel = frame(element, glass, "heads", { parts: ["what", "formula", "sinks", "myth"] });
  const jobs = createJobs(glass);

  /** How many layers are still to come, in words. @param {Trace} trace */
  function comingText({ model, layers }) {
    const missing = model.n_layers - layers.size;
    return missing ? panel.text("coming", { count: missing }) : "";
  }
  /**
   * What is measured stands below the maps where there are jobs beside them: two columns in any case.
   *
   * @param {Trace | null} trace null before there is a run
   * @param {Names} [names] of the heads' jobs
   */
  function view(trace, names = null) {
    const { named, measured } = trace
      ? jobs(names, surveyOf(trace), thumbs.count())
      : { named: nothing, measured: nothing };
    const measuredBox = html`<div class="at-jobs">${measured}</div>`;
    const below = named !== nothing;
    return html`
      <div class=${trace && trace.model.n_layers <= BESIDE ? "at-heads is-beside" : "at-heads"}>
        <div>
          <div class="at-thumbs">
            ${thumbs.element}
            <p class="gp-note" .textContent=${trace ? legendOf(trace.model, names, panel.text) : ""}></p>
            <p class="gp-note" .textContent=${trace ? comingText(trace) : ""}></p>
          </div>
          ${below ? measuredBox : nothing}
        </div>
        <div class="at-jobs">${named}</div>
        ${below ? nothing : measuredBox}
      </div>
    `;
  }
  render(view(null), panel.body);

  /**
   * @param {import("../../readings/habits.js").HabitsReading} reading
   * @param {Names} names
   */
  function tell(reading, names) {
    const { layer, head } = reading.selection;
    const { n_layers, n_heads } = state.trace.model;
    const told = jobsOf(names, layer, head).map(({ name, score }) =>
      panel.text("job", { label: labelOf(name, glass.text), score: shown(score, 2) }),
    );
    // too short a text has no mean
    const number = (/** @type {number} */ x) => (reading.done ? (Number.isFinite(x) ? shown(x, 3) : "—") : "…");
    const { first, previous } = reading.values;
    const read = panel.text("read", { layer, head, first: number(first), previous: number(previous) });
    panel.title.textContent = panel.text("title", { layers: n_layers, heads: n_heads });
    const cell = thumbs.pointed();
    const pointed = cell ? [panel.text("pointed", cellNames({ ...state, ...cell }))] : [];
    panel.show(reading, [read, ...told, ...pointed].join(" · "));
  }

  const holder = /** @type {HTMLElement} */ (thumbs.element.parentElement);
  return inWidth(element, widthOf(holder, glass), function draw(width) {
    const { trace } = state;
    const names = namesOf(glass);
    thumbs.draw([{ trace }], width);
    const reading = readHere(glass, headHabits, select(glass));
    void thumbs.pointed(); // which the value line names
    return () => {
      render(view(trace, names), panel.body);
      if (reading) tell(reading, names);
    };
  });
}
