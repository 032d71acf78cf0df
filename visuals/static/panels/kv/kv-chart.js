// Bytes against context for several models, or what takes them; a click on a point shows its arithmetic.

import { createChart } from "../../chart.js";
import { h } from "../../dom.js";
import { frame } from "../../frame.js";
import { inView, widthOf } from "../../pointing.js";
import { linkedState } from "../../settings.js";
import { layersKept, readChart } from "../../readings/kv-chart.js";
import { memo } from "../../reads.js";
import { html, nothing, render } from "../../vendor/lit-html.js";
import { createAsker } from "./asking.js";
import { legendView } from "./chart-legend.js";
import { choiceBar } from "./choice-bar.js";
import { nameOf, scaled, subjectOf, whole } from "./format.js";
import { createPinned } from "./pinned-point.js";
import { drawable, inLesson } from "./points.js";
import { question, requestOf, sharesOf } from "./question.js";
import { staleText, troubleText } from "./trouble.js";

/** @type {Record<string, string>} */
export const FIRST = {
  view: "lines",
  x: "log",
  y: "log",
  unit: "gib",
  weights: "",
  compare: "Llama-2 7B|Gemma-3 12B (text)|DeepSeek-V3",
};
const MOST = 5;
/** What a link says in place of a setting that was emptied: nothing at all would mean the first one. */
const NOBODY = "none";

export const about = { namesChanges: false };

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("./question.js").Asked} Asked the calculator's question
 *
 * @typedef {import("../../readings/kv-chart.js").ChartReading} Reading
 *
 * @typedef {Reading["answer"]} Answer
 *
 * @typedef {object} State of the panel
 * @property {Answer | null} answer the last good one
 * @property {import("../../types.d.ts").Refusal | null} trouble
 * @property {string} failed what plotly said of it
 * @property {import("./question.js").Answer | null} pinned the point that was clicked
 *
 * @typedef {State & { settings: Record<string, string> }} View
 */

/**
 * The models that are drawn beside the one asked about.
 *
 * @param {Record<string, string>} settings
 */
const comparedIn = ({ compare }) => compare.split("|").filter((name) => name && name !== NOBODY);

/**
 * The chart as a request: the calculator's question, and how it is drawn.
 *
 * @param {Record<string, string>} calculator its settings
 * @param {Record<string, string>} settings the panel's
 * @param {number} width of the panel
 */
function chartRequest(calculator, settings, width) {
  const { view, unit, x, y, weights } = settings;
  return {
    ...requestOf(calculator),
    few: width < 640,
    view,
    unit,
    x,
    y,
    weights: Boolean(weights),
    compare: comparedIn(settings),
  };
}

/**
 * Asks for a figure when the answered question or the view changed and the chart is in sight: of a slider's places,
 * else of the server.
 *
 * @param {Glass} glass
 * @param {View} view takes the answer
 * @param {Asked} asked
 * @param {() => number} wide
 */
function createFigure(glass, view, asked, wide) {
  const asker = createAsker(glass, "kv_chart", ({ data, message = null }) => {
    if (data) view.answer = data;
    view.trouble = message;
  });
  /** @type {ReturnType<typeof chartRequest>} */
  let wanted;
  /** Asks for what is wanted. @type {(...key: unknown[]) => void} */
  const ask = memo(() => asker.ask(wanted));
  const near = memo((/** @type {NonNullable<Asked["sliding"]>} */ { along, values }) =>
    asker.near(wanted, along, values),
  );
  return function need() {
    if (!asked.answered) return;
    wanted = chartRequest(asked.answered, view.settings, wide());
    if (asked.sliding) near(asked.sliding);
    ask(asked.answered, view.settings, wanted.few);
  };
}

/**
 * The title, which says of which batch and format, and of how many GPUs, the lines are once there is an answer.
 *
 * @param {Asked} asked
 * @param {Say} text of the panel
 */
function titleText({ answer, answered }, text) {
  if (!answer) return text("title");
  const { batch, dtype, gpus } = answer;
  const shares = sharesOf(answered, ["tp", "pp", "dcp"]).join(" × ");
  return text(gpus > 1 ? "title_several" : "title_of", { batch: whole(batch), dtype, gpus: whole(gpus), shares });
}

/**
 * A model that the settings do not fit, and why, in words.
 *
 * @param {Glass} glass
 * @param {Answer["excluded"][number]} excluded
 * @param {Say} text of the panel
 */
const excludedText = (glass, { model, refused }, text) =>
  text("excluded", { model: nameOf(glass, model), reason: troubleText(glass, refused) });

/**
 * What the layers of a model keep, in words; "" where that is not known of it.
 *
 * @param {Asked} asked
 * @param {string} model
 * @param {Say} text of the panel
 */
function keptText({ answer, catalogue }, model, text) {
  const own = answer && answer.card.name === model ? answer : null;
  const card = own?.card ?? catalogue?.models.find(({ name }) => name === model);
  const kept = card && layersKept(card, own?.growth ?? null);
  if (!card || !kept) return "";
  const { all, some, latest } = kept;
  return text(!some ? "keeps_all" : all ? "keeps_some" : "keeps_latest", {
    layers: card.n_layers,
    all,
    some,
    latest: whole(latest),
  });
}

/**
 * What a token more costs, in words.
 *
 * @param {Reading["growth"][number]} line
 * @param {Say} text of the panel
 */
function eachText({ runs }, text) {
  const [first, last] = [runs[0], runs[runs.length - 1]];
  const form = runs.length === 1 ? "each" : runs.length === 2 ? "each_until" : "each_first";
  const bytes = (/** @type {bigint} */ count) => scaled(count, "binary");
  return text(form, { first: bytes(first.each), last: bytes(last.each), until: whole(first.until) });
}

/**
 * How the lines come about, for a class that is to guess their form: what the layers of each model keep, and, as a
 * part of the answer, what a token more costs.
 *
 * @param {Glass} glass
 * @param {Reading["growth"]} growth
 * @param {Asked} asked
 * @param {Say} text of the panel
 */
function growthView(glass, growth, asked, text) {
  const lines = growth.map((line) => ({
    model: nameOf(glass, line.model),
    kept: keptText(asked, line.model, text),
    each: eachText(line, text),
  }));
  const known = lines.filter(({ kept }) => kept);
  const line = (/** @type {string} */ model, /** @type {string} */ says) => text("line", { model, says });
  const costs = known.map(({ model, each }) => line(model, each)).join(" · ");
  const cost = html`<p class="kv-costs" data-result data-answer="beside" .textContent=${text("costs", { costs })}></p>`;
  return html`<ul class="kv-growth">
      ${lines.map(({ model, kept, each }) => html`<li .textContent=${line(model, kept || each)}></li>`)}
    </ul>
    ${known.length ? cost : nothing}`;
}

/**
 * Which lines go beyond their model's context, in words; "" where none does.
 *
 * @param {Glass} glass
 * @param {Reading["beyond"]} beyond
 * @param {Say} text of the panel
 */
function beyondText(glass, beyond, text) {
  const past = beyond.map(([model, context]) =>
    text("beyond_model", { model: nameOf(glass, model), context: whole(context) }),
  );
  return past.length ? text("beyond", { models: past.join(glass.text("kv.list_comma")) }) : "";
}

/**
 * The chart and its legend.
 *
 * @param {Glass} glass
 * @param {View} view told what failed
 * @param {(model: string, tokens: number) => void} pin told of which point was clicked
 */
function createPlot(glass, view, pin) {
  const chart = createChart(glass, {
    label: "kv-chart.title",
    clicked({ customdata: [model, tokens] }) {
      if (typeof model === "string" && typeof tokens === "number") pin(model, tokens);
    },
  });
  const legend = h("div.gp-samples");
  /** @type {Answer["figure"]} what was answered last */
  let figure;
  let scene = ""; // the settings that it was asked with
  /** @typedef {(...key: unknown[]) => void} Anew */
  /** @type {Anew} */
  const fillLegend = memo(() => render(legendView(figure.data, glass), legend));
  /** @type {Anew} */
  const plot = memo(() => {
    const { presenting, covered = false } = glass.state;
    const whole = drawable(figure);
    chart.draw(presenting ? inLesson(whole, covered) : whole, scene).catch((error) => {
      view.failed = String(error.message);
    });
  });
  /**
   * @param {Answer} answer
   * @param {View["settings"]} settings
   */
  function draw(answer, settings) {
    const { theme, language, presenting, covered } = glass.state;
    figure = answer.figure;
    scene = `${settings.view} ${settings.x} ${settings.y} ${settings.unit} ${settings.compare}`;
    fillLegend(figure.data.map(({ name }) => name).join("|"), settings.view);
    plot(answer, theme, language, presenting, covered);
  }
  return { chart: chart.element, legend, draw };
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function kvChart(element, glass) {
  const asked = question(glass);
  /** @type {State} */
  const first = { answer: null, trouble: null, failed: "", pinned: null };
  const { state: view, set } = linkedState(glass, "kvchart", FIRST, first, { emptied: NOBODY });
  const panel = frame(element, glass, "kv-chart", {
    subject: () => subjectOf(glass, asked.answer),
    parts: ["what", "formula", "myth"],
    pointed: false,
  });
  const { text } = panel;
  const need = createFigure(glass, view, asked, widthOf(panel.body, glass));
  const pinned = createPinned(glass, view, asked, text);
  const plot = createPlot(glass, view, (model, tokens) => pinned.pin(model, tokens, comparedIn(view.settings)));
  plot.chart.dataset.answer = "drawn";
  const bar = choiceBar(glass, view, set, {
    compared: () => comparedIn(view.settings),
    most: MOST,
    catalogue: () => asked.catalogue,
  });

  /** What went wrong: with the drawing, else with the question. */
  function troubleNow() {
    if (view.failed) return text("failed", { detail: view.failed });
    return view.trouble ? troubleText(glass, view.trouble) : "";
  }
  const note = (/** @type {string} */ words) => html`<p class="gp-note" .textContent=${words}></p>`;

  /** @param {Reading | null} reading null before the first answer */
  function parts(reading) {
    const bare = Boolean(asked.trouble ?? view.trouble) && !reading; // an empty frame says nothing
    for (const part of [plot.legend, plot.chart]) part.hidden = bare;
    const excluded = reading?.answer.excluded ?? [];
    const beyond = reading ? beyondText(glass, reading.beyond, text) : "";
    return html`${bar.element}
      <p class="kv-trouble kv-stale" role="status" .textContent=${staleText(glass, asked)}></p>
      <p class="kv-trouble" role="alert" .textContent=${troubleNow()}></p>
      <div class="kv-drawn">
        ${glass.state.presenting && reading ? growthView(glass, reading.growth, asked, text) : nothing} ${plot.legend}
        ${plot.chart}
      </div>
      ${note(beyond)}
      <p class="gp-note gp-hint" .textContent=${bare ? "" : text("hint")}></p>
      ${excluded.map((one) => note(excludedText(glass, one, text)))} ${pinned.pinnedView()}`;
  }
  render(parts(null), panel.body);

  return inView(element, function draw() {
    need();
    const { answer, settings } = view;
    pinned.follow(comparedIn(settings));
    const cards = asked.catalogue?.models ?? [];
    const reading = answer && readChart(answer, settings, asked.answer?.card ?? null, cards);
    panel.title.textContent = titleText(asked, text);
    bar.show();
    element.toggleAttribute("data-stale", Boolean(view.trouble ?? asked.trouble));
    render(parts(reading), panel.body);
    pinned.bringIntoView(panel.body);
    if (!reading) return;
    plot.draw(reading.answer, settings);
    panel.show(reading, "");
  });
}
