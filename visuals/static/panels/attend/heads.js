// All heads of all layers as thumbnails, and the heads that are known to do a job. A click shows that head everywhere.

import { exact, h, shown } from "../../dom.js";
import { frame } from "../../frame.js";
import { scoreForms } from "../../parts.js";
import { inWidth, widthOf } from "../../pointing.js";
import { createJobs } from "./jobs.js";
import { jobsOf, labelOf } from "./known.js";
import { createSurvey, MEASURES } from "./habits.js";
import { createThumbs } from "./thumbs.js";

const BESIDE = 14; // models of up to so many layers leave room for the list beside the thumbnails

/**
 * What was measured on this run, a row a head.
 *
 * @returns {(string | number)[][]}
 */
function table(survey) {
  const measured = (one) => MEASURES.map((name) => (one.done && Number.isFinite(one[name]) ? one[name] : ""));
  const rows = (survey?.heads ?? []).flatMap((row, layer) => row.map((one, head) => [layer, head, ...measured(one)]));
  return [["layer", "head", "mean_weight_on_first_token", "mean_weight_on_previous_token"], ...rows];
}

export const about = { tensors: ["scores", "attention"], difference: "attend", unused: "head", forms: scoreForms };

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function heads(element, glass) {
  const { state } = glass;
  let survey = null;
  const thumbs = createThumbs(glass, "heads.thumbs", (_run, layer, head) => survey.read(layer, head));
  const parts = ["what", "formula", "sinks", "myth"];
  const panel = frame(element, glass, "heads", { csv: () => table(survey), parts });
  const text = (name, params) => panel.text(name, params);
  const [coming, legend] = [h("p.gp-note"), h("p.gp-note")];
  const holder = h("div.at-thumbs", null, thumbs.element, legend, coming);
  const jobs = createJobs(glass);
  const maps = h("div", null, holder);
  const both = h("div.at-heads", null, maps, jobs.named);
  panel.body.append(both);
  function tell(names) {
    const { layer, head, trace } = state;
    const { n_layers, n_heads, n_kv_heads } = trace.model;
    const one = survey.heads[layer][head];
    const jobs = jobsOf(names, layer, head).map(({ name, score }) =>
      text("job", { label: labelOf(name, glass.text), score: shown(score, 2) }),
    );
    const number = (x) => (one.done ? (Number.isFinite(x) ? shown(x, 3) : "—") : "…"); // too short a text has no mean
    const told = (x) => (one.done ? exact(x) : "-");
    panel.tell(
      `layer ${layer} head ${head} first=${told(one.first)} previous=${told(one.previous)}`,
      [text("read", { layer, head, first: number(one.first), previous: number(one.previous) }), ...jobs].join(" · "),
    );
    panel.title.textContent = text("title", { layers: n_layers, heads: n_heads });
    const missing = n_layers - trace.layers.size;
    const marks = [
      "legend_maps",
      ...(n_kv_heads < n_heads ? ["legend_groups"] : []),
      ...(names?.kinds?.length ? ["legend_jobs"] : []),
    ];
    legend.textContent = marks.map((name) => text(name)).join(" ");
    coming.textContent = missing ? text("coming", { count: missing }) : "";
  }

  return inWidth(element, widthOf(holder, glass), function draw(width) {
    const { trace } = state;
    both.classList.toggle("is-beside", trace.model.n_layers <= BESIDE);
    const names = glass.detail("head_names", {});
    if (survey?.trace !== trace) survey = Object.assign(createSurvey(trace), { trace });
    thumbs.draw([{ trace }], width);
    tell(names);
    jobs.draw(names, survey, thumbs.count());
    const below = jobs.named.childElementCount ? maps : both; // two columns in any case
    if (jobs.measured.parentElement !== below) below.append(jobs.measured);
  });
}
