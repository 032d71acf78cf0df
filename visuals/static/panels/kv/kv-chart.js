// Bytes against context for several models, or what takes them; a click on a point shows its arithmetic.

import { createChart } from "../../chart.js";
import { h } from "../../dom.js";
import { frame } from "../../frame.js";
import { latest } from "../../latest.js";
import { inView, widthOf } from "../../pointing.js";
import { linkedState } from "../../settings.js";
import { memo } from "../../reads.js";
import { answerView } from "./answer.js";
import { createAsker } from "./asking.js";
import { calledIn, nameOf, sourcesOf, subjectOf, whole } from "./format.js";
import { beyondContext, drawable, entriesOf } from "./points.js";
import { choiceBar } from "./choice-bar.js";
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
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function kvChart(element, glass) {
  const { state } = glass;
  const asked = question(glass);
  const { state: view, set } = linkedState(
    glass,
    "kvchart",
    FIRST,
    { answer: null, trouble: null, failed: "", pinned: null },
    { emptied: NOBODY },
  );
  const chart = createChart(glass, { label: "kv-chart.title", clicked: (point) => pin(point) });
  const panel = frame(element, glass, "kv-chart", {
    csv: () => table(glass, view.answer, asked.answer),
    subject: () => subjectOf(glass, asked.answer),
    parts: ["what", "formula", "myth"],
    pointed: false,
  });
  const compared = () => view.settings.compare.split("|").filter((name) => name && name !== NOBODY);

  const asker = createAsker(glass, "kv_chart", ({ data, message }) => {
    Object.assign(
      view,
      data ? { answer: { ...data, figure: drawable(data.figure) }, trouble: null } : { trouble: message },
    );
  });
  const wide = widthOf(panel.body, glass);
  function request() {
    const { view: kind, unit, x, y, weights } = view.settings;
    return {
      ...requestOf(asked.answered),
      few: wide() < 640,
      view: kind,
      unit,
      x,
      y,
      weights: Boolean(weights),
      compare: compared(),
    };
  }
  let wanted = null;
  const ask = memo(() => asker.ask(wanted));
  const near = memo(({ along, values }) => asker.near(wanted, along, values));
  /**
   * A figure when the answered question or the view changed and the chart is in sight: of a slider's places, else
   * asked for.
   */
  function need() {
    if (!asked.answered) return;
    wanted = request();
    if (asked.sliding) near(asked.sliding);
    ask(asked.answered, view.settings, wanted.few);
  }

  const pick = latest(
    ({ model, tokens, own }) =>
      glass.calculate("kv", {
        ...(own ? requestOf(asked.answered) : { batch: asked.answer.batch, dtype: asked.answer.dtype, model }),
        tokens,
      }),
    ({ data }) => {
      if (data) view.pinned = data;
    },
  );
  function pin({ customdata }) {
    const [model, tokens] = customdata;
    pick({ model, tokens, own: model === nameOf(glass, asked.answer.model) });
  }

  const bar = choiceBar(glass, view, set, { compared, most: MOST, catalogue: () => asked.catalogue });
  const legend = h("div.gp-samples");
  const hint = h("p.gp-note", { "data-text": "kv-chart.hint" });
  const [excluded, beyond] = [h("p.gp-note"), h("p.gp-note")];
  const trouble = h("p.kv-trouble", { role: "alert" });
  const stale = h("p.kv-trouble.kv-stale", { role: "status" });
  const point = answerView(glass);
  const use = h("button.kv-button", {
    "data-text": "kv-chart.use",
    click: () => asked.set({ tokens: String(view.pinned.tokens) }),
  });
  const pinTitle = h("h3.gp-subtitle");
  const pinned = h("div.kv-pinned", { hidden: "" }, h("div.kv-bar", null, pinTitle, use), point.element);
  panel.body.append(bar.element, stale, trouble, legend, chart.element, beyond, hint, excluded, pinned);
  glass.translate(element);

  let [figure, scene] = [null, ""]; // what was answered last, and the settings that it was asked with
  const fillLegend = memo(() => legend.replaceChildren(...entriesOf(figure.data, glass)));
  const plot = memo(() =>
    chart.draw(figure, scene).catch((error) => {
      view.failed = String(error.message);
    }),
  );
  return inView(element, function draw() {
    need();
    const { answer, settings } = view;
    panel.title.textContent = panel.text("title");
    bar.show();
    trouble.textContent = view.failed
      ? panel.text("failed", { detail: view.failed })
      : view.trouble
        ? troubleText(glass, view.trouble)
        : "";
    stale.textContent = staleText(glass, asked);
    // an empty frame says nothing
    for (const part of [legend, chart.element, hint]) part.hidden = Boolean(asked.trouble) && !answer;
    element.toggleAttribute("data-stale", Boolean(view.trouble ?? asked.trouble));
    pinned.hidden = !view.pinned;
    if (view.pinned) {
      pinTitle.textContent = panel.text("point", {
        model: nameOf(glass, view.pinned.model),
        tokens: whole(view.pinned.tokens),
      });
      point.show(view.pinned);
    }
    if (!answer) return;
    excluded.textContent = answer.excluded.length
      ? panel.text("excluded", {
          models: answer.excluded.map((model) => nameOf(glass, model)).join(", "),
          dtype: asked.answer.dtype,
        })
      : "";
    const past = beyondContext(answer.figure.data).map(([model, context]) =>
      panel.text("beyond_model", { model: nameOf(glass, model), context: whole(context) }),
    );
    beyond.textContent = past.length ? panel.text("beyond", { models: past.join(glass.text("kv.list_comma")) }) : "";
    figure = answer.figure;
    scene = `${settings.view} ${settings.x} ${settings.y} ${settings.unit} ${settings.compare}`;
    fillLegend(figure.data.map(({ name }) => name).join("|"), settings.view);
    plot(answer, state.theme, state.language);
    panel.tell(
      `view=${settings.view} x=${settings.x} y=${settings.y} unit=${settings.unit} traces=${answer.figure.data.length}`,
    );
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
