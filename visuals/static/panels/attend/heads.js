// All heads of all layers as thumbnails, and the heads that are known to do a job. A click shows that head everywhere.

import { h, shown } from "../../dom.js";
import { fit, ink, pixelRatio } from "../../draw.js";
import { frame } from "../../frame.js";
import { inView, link, steer, widthOf } from "../../pointing.js";
import { part, watched } from "../../reads.js";
import { createJobs } from "./jobs.js";
import { jobsOf, labelOf } from "./names.js";
import { createSurvey, MEASURES } from "./survey.js";
import { layoutThumbs, thumbAt } from "./thumbs-layout.js";
import { createThumbs } from "./thumbs.js";

const SLICE = 6; // ms of computing while the browser is idle
const BESIDE = 14; // models of up to so many layers leave room for the list beside the thumbnails

/** What was measured on this run, a row a head. @returns {(string|number)[][]} */
function table(survey) {
  const rows = (survey?.heads ?? []).flatMap((row, layer) =>
    row.map((one, head) => [
      layer,
      head,
      ...MEASURES.map((name) => (one.done && Number.isFinite(one[name]) ? one[name] : "")),
    ]),
  );
  return [["layer", "head", "mean_weight_on_first_token", "mean_weight_on_previous_token"], ...rows];
}

/** @param {HTMLElement} element @param {object} glass */
export default function heads(element, glass) {
  const { state } = glass;
  const canvas = h("canvas.gp-canvas", { "data-text-label": "heads.thumbs" });
  let survey = null;
  const parts = ["what", "formula", "sinks", "myth"];
  const panel = frame(element, glass, "heads", { csv: () => table(survey), parts });
  const text = (name, params) => panel.text(name, params);
  const coming = h("p.gp-note");
  const holder = h("div.at-thumbs", null, canvas, coming);
  const jobs = createJobs(glass);
  const both = h("div.at-heads", null, holder, jobs.element);
  panel.body.append(both);
  const wide = widthOf(holder, glass);
  const thumbs = createThumbs(text);
  let layout = null;

  let hovered = null;
  link(canvas, glass, (x, y) => {
    hovered = layout && thumbAt(layout, state.trace.model, x, y);
    return hovered && state.trace.layers.has(hovered.layer) ? hovered : null; // hovering never asks the server
  });
  canvas.addEventListener("click", () => {
    if (hovered) glass.select(hovered); // for a layer that has not arrived, this fetches it
  });
  const within = (value, count) => Math.max(0, Math.min(count - 1, value));
  steer(canvas, glass, {
    ArrowLeft: ({ layer }) => ({ layer: Math.max(0, layer - 1) }),
    ArrowRight: ({ layer, trace }) => ({ layer: within(layer + 1, trace.model.n_layers) }),
    ArrowUp: ({ head }) => ({ head: Math.max(0, head - 1) }),
    ArrowDown: ({ head, trace }) => ({ head: within(head + 1, trace.model.n_heads) }),
  });

  const work = watched({ slices: 0 });
  let scheduled = false;
  /** Goes on when the browser has nothing better to do; then the panels are drawn again, which asks for the next slice. */
  function schedule() {
    if (scheduled) return;
    scheduled = true;
    (globalThis.requestIdleCallback ?? setTimeout)(() => {
      scheduled = false;
      survey.work(performance.now() + SLICE, state.locked.layer);
      work.slices += 1;
      glass.repaint();
    });
  }

  function frameSelected(context) {
    const { x, y } = layout.place(state.layer, state.head);
    for (const [name, line] of [
      ["cross-edge", 6],
      ["cross", 4],
      ["accent", 2],
    ]) {
      context.strokeStyle = ink().colour(name);
      context.lineWidth = line;
      context.strokeRect(x - 1, y - 1, layout.size + 2, layout.size + 2);
    }
  }

  function tell(names) {
    const { layer, head, trace } = state;
    const one = survey.heads[layer][head];
    const kinds = jobsOf(names, layer, head);
    const number = (x) => (one.done ? (Number.isFinite(x) ? shown(x, 3) : "—") : "…"); // too short a text has no mean
    const label = kinds
      .map(({ name, score }) => text("job", { label: labelOf(name, glass.text), score: shown(score, 2) }))
      .join(" · ");
    const exact = (x) => (one.done && Number.isFinite(x) ? x.toPrecision(5) : "-");
    panel.tell(
      `layer ${layer} head ${head} first=${exact(one.first)} previous=${exact(one.previous)}`,
      [text("read", { layer, head, first: number(one.first), previous: number(one.previous) }), label]
        .filter(Boolean)
        .join(" · "),
    );
    panel.title.textContent = text("title", { layers: trace.model.n_layers, heads: trace.model.n_heads });
    const missing = survey.waiting();
    coming.textContent = missing ? text("coming", { count: missing }) : "";
  }

  const start = part((model, width) => thumbs.start(layout, model, width));
  return inView(element, function draw() {
    const { trace } = state;
    both.classList.toggle("is-beside", trace.model.n_layers <= BESIDE);
    const width = wide();
    if (width === 0) return;
    const names = glass.detail("head_names", {});
    layout = layoutThumbs(width, trace.model);
    const block = Math.max(1, Math.ceil(trace.T / (layout.size * pixelRatio())));
    if (survey?.trace !== trace || survey.block !== block)
      survey = Object.assign(createSurvey(trace, block), { trace });
    start(trace.model, width, survey, names, pixelRatio());
    void work.slices; // of which each may have finished some
    const done = thumbs.add(layout, survey, names, trace);
    const wanted = [...trace.layers.keys()].some((held) => survey.heads[held].some(({ done }) => !done));
    if (wanted) schedule();
    const onto = fit(canvas, width, layout.height);
    onto.drawImage(thumbs.scene, 0, 0, width, layout.height);
    frameSelected(onto);
    tell(names);
    jobs.draw(names, survey, done);
  });
}
