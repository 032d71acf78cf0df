// Bytes against context for several models, or what takes them; a click on a point shows its arithmetic.

import { createChart } from "../../chart.js";
import { h } from "../../dom.js";
import { frame } from "../../frame.js";
import { inView, widthOf } from "../../pointing.js";
import { linkedState } from "../../settings.js";
import { memo } from "../../reads.js";
import { createAsker } from "./asking.js";
import { calledIn, nameOf, sourcesOf, subjectOf, whole } from "./format.js";
import { beyondContext, drawable, entriesOf } from "./points.js";
import { choiceBar } from "./choice-bar.js";
import { createPinned } from "./pinned-point.js";
import { question, requestOf } from "./question.js";
import { staleText, troubleText } from "./trouble.js";

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
 * @typedef {ReturnType<typeof question>} Asked the calculator's question
 */

/** The models that are drawn beside the one asked about. */
const comparedIn = ({ compare }) => compare.split("|").filter((name) => name && name !== NOBODY);

/**
 * The chart as a request: the calculator's question, and how it is drawn.
 *
 * @param {Object<string, string>} calculator its settings
 * @param {typeof FIRST} settings the panel's
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
 * @param {object} view the panel's state, which takes the answer
 * @param {Asked} asked
 * @param {() => number} wide
 */
function createFigure(glass, view, asked, wide) {
  const asker = createAsker(glass, "kv_chart", ({ data, message }) => {
    Object.assign(
      view,
      data ? { answer: { ...data, figure: drawable(data.figure) }, trouble: null } : { trouble: message },
    );
  });
  let wanted = null;
  const ask = memo((_answered, _settings, _few) => asker.ask(wanted));
  const near = memo(({ along, values }) => asker.near(wanted, along, values));
  return function need() {
    if (!asked.answered) return;
    wanted = chartRequest(asked.answered, view.settings, wide());
    if (asked.sliding) near(asked.sliding);
    ask(asked.answered, view.settings, wanted.few);
  };
}

/**
 * Which models the format does not fit, in words; "" where it fits all.
 *
 * @param {Glass} glass
 * @param {string[]} models
 * @param {Asked} asked
 * @param {Function} text of the panel
 */
function excludedText(glass, models, asked, text) {
  if (!models.length) return "";
  return text("excluded", {
    models: models.map((model) => nameOf(glass, model)).join(glass.text("why.list")),
    dtype: asked.answer.dtype,
  });
}

/**
 * Which lines go beyond their model's context, in words; "" where none does.
 *
 * @param {Glass} glass
 * @param {object[]} traces of the figure
 * @param {Function} text of the panel
 */
function beyondText(glass, traces, text) {
  const past = beyondContext(traces).map(([model, context]) =>
    text("beyond_model", { model: nameOf(glass, model), context: whole(context) }),
  );
  return past.length ? text("beyond", { models: past.join(glass.text("kv.list_comma")) }) : "";
}

/**
 * The chart and its legend.
 *
 * @param {Glass} glass
 * @param {object} view the panel's state, which is told what failed
 * @param {(point: { customdata: any[] }) => void} clicked
 */
function createPlot(glass, view, clicked) {
  const chart = createChart(glass, { label: "kv-chart.title", clicked });
  const legend = h("div.gp-samples");
  let [figure, scene] = [null, ""]; // what was answered last, and the settings that it was asked with
  const fillLegend = memo((_names, _kind) => legend.replaceChildren(...entriesOf(figure.data, glass)));
  const plot = memo((_answer, _theme, _language) =>
    chart.draw(figure, scene).catch((error) => {
      view.failed = String(error.message);
    }),
  );
  function draw(answer, settings) {
    const { theme, language } = glass.state;
    figure = answer.figure;
    scene = `${settings.view} ${settings.x} ${settings.y} ${settings.unit} ${settings.compare}`;
    fillLegend(figure.data.map(({ name }) => name).join("|"), settings.view);
    plot(answer, theme, language);
  }
  return { chart: chart.element, legend, draw };
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function kvChart(element, glass) {
  const asked = question(glass);
  const { state: view, set } = linkedState(
    glass,
    "kvchart",
    FIRST,
    { answer: null, trouble: null, failed: "", pinned: null },
    { emptied: NOBODY },
  );
  const panel = frame(element, glass, "kv-chart", {
    csv: () => table(glass, view.answer, asked.answer),
    subject: () => subjectOf(glass, asked.answer),
    parts: ["what", "formula", "myth"],
    pointed: false,
  });
  const { text } = panel;
  const need = createFigure(glass, view, asked, widthOf(panel.body, glass));
  const pinned = createPinned(glass, view, asked, text);
  const plot = createPlot(glass, view, pinned.pin);
  const bar = choiceBar(glass, view, set, {
    compared: () => comparedIn(view.settings),
    most: MOST,
    catalogue: () => asked.catalogue,
  });
  const hint = h("p.gp-note", { "data-text": "kv-chart.hint" });
  const [excluded, beyond] = [h("p.gp-note"), h("p.gp-note")];
  const trouble = h("p.kv-trouble", { role: "alert" });
  const stale = h("p.kv-trouble.kv-stale", { role: "status" });
  panel.body.append(bar.element, stale, trouble, plot.legend, plot.chart, beyond, hint, excluded, pinned.element);
  glass.translate(element);

  /** What went wrong: with the drawing, else with the question. */
  function troubleNow() {
    if (view.failed) return text("failed", { detail: view.failed });
    return view.trouble ? troubleText(glass, view.trouble) : "";
  }

  return inView(element, function draw() {
    need();
    const { answer, settings } = view;
    panel.title.textContent = text("title");
    bar.show();
    trouble.textContent = troubleNow();
    stale.textContent = staleText(glass, asked);
    // an empty frame says nothing
    for (const part of [plot.legend, plot.chart, hint]) part.hidden = Boolean(asked.trouble) && !answer;
    element.toggleAttribute("data-stale", Boolean(view.trouble ?? asked.trouble));
    pinned.show();
    if (!answer) return;
    const traces = answer.figure.data;
    excluded.textContent = excludedText(glass, answer.excluded, asked, text);
    beyond.textContent = beyondText(glass, traces, text);
    plot.draw(answer, settings);
    panel.tell(`view=${settings.view} x=${settings.x} y=${settings.y} unit=${settings.unit} traces=${traces.length}`);
  });
}

/** Every point of the figure, with its exact bytes. */
function table(glass, answer, asked) {
  const card = asked?.card; // of the model asked about; the others are the catalogue's, under their own names
  const called = (name) => (name === card?.name ? calledIn(glass, card) : nameOf(glass, name));
  const what = (name) => (name.startsWith("text:kv.stack_") ? name.slice("text:kv.stack_".length) : called(name));
  const source = (name) => (name === card?.name ? sourcesOf(glass, card) : "");
  const row =
    (name) =>
    ([model, tokens, bytes]) => [called(model), tokens, what(name), bytes, source(model)];
  const rows = (answer?.figure.data ?? []).flatMap(({ name, customdata }) => (name ? customdata.map(row(name)) : []));
  return [["model", "tokens", "what", "bytes", "source"], ...rows];
}
