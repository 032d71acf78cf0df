// What fits on a GPU: weights and cache on one, the largest batch and context, what users need, the bound on decoding.

import { h } from "../../dom.js";
import { frame } from "../../frame.js";
import { inView } from "../../pointing.js";
import { readFit } from "../../readings/kv-fit.js";
import { memo } from "../../reads.js";
import { html, nothing, render } from "../../vendor/lit-html.js";
import { choiceField, numberField, slidingField } from "./fields.js";
import { createQuestions, hasShare, OWN_GPU, ROOMS, weightsRequest } from "./fit-questions.js";
import { fitState } from "./fit-state.js";
import { fitView } from "./fit-view.js";
import { nameOf, subjectOf, whole } from "./format.js";
import { needsView } from "./needs-view.js";
import { modelOf, percentOf, question, sharesOf } from "./question.js";
import { staleText, troubleText } from "./trouble.js";
import { weightsFile } from "./weights-file.js";

export const about = { namesChanges: false };

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Refusal} Refusal
 *
 * @typedef {import("./fields.js").Change} Change
 *
 * @typedef {import("./fields.js").Field} Field
 *
 * @typedef {import("./question.js").Asked} Asked the calculator's question
 *
 * @typedef {import("../../readings/kv-fit.js").Fit} Fit
 *
 * @typedef {import("./fit-state.js").View} View
 */

/**
 * The title, which names what was asked about once there is an answer.
 *
 * @param {Glass} glass
 * @param {import("../../types.d.ts").Say} text of the panel
 * @param {string} gpu
 * @param {Asked} asked the calculator's question
 */
function titleText(glass, text, gpu, { answer, answered }) {
  if (!answer) return text("title");
  const { model, batch, tokens, dtype, gpus } = answer;
  return text(gpus > 1 ? "title_several" : "title_of", {
    gpu: gpu === OWN_GPU ? "GPU" : gpu,
    gpus: whole(gpus),
    shares: sharesOf(answered, ["tp", "pp"]).join(" × "),
    model: nameOf(glass, model),
    batch: whole(batch),
    tokens: whole(tokens),
    dtype,
  });
}

/**
 * What can be chosen, and how it is called.
 *
 * @param {string} value
 * @returns {import("./fields.js").Option}
 */
const option = (value, label = value) => [value, label];

/**
 * The settings of the GPU and its weights as fields; `last` of those of the GPU itself.
 *
 * @param {Glass} glass
 * @param {View} view
 * @param {Change} set
 */
function createFields(glass, view, set) {
  const gpus = () => [
    ...(view.gpus?.gpus ?? []).map((name) => option(name)),
    option(OWN_GPU, glass.text("kv.own_gpu")),
  ];
  const formats = () =>
    (view.gpus?.weights ?? []).map(({ name, engine }) => option(name, engine ? `${name} (${engine})` : name));
  const own = [numberField("memory_gb", set), numberField("bandwidth_gb_per_s", set)];
  const [share, fragmentation] = [numberField("usable_percent", set), numberField("fragmentation_mib", set)];
  const fields = [
    choiceField("gpu", set, gpus),
    ...own,
    choiceField("weights", set, () => [option("", glass.text("kv.choice_as_config")), ...formats()]),
    choiceField("embeddings", set, () => [option("", glass.text("kv.choice_as_weights")), ...formats()]),
    numberField("weight_bytes", set, () => glass.text("kv.choice_counted")),
    choiceField("room", set, () => ROOMS.map((by) => option(by, glass.text(`kv-fit.decided_${by}`)))),
    share,
    numberField("step_tokens", set, () => (view.kv_fit ? whole(view.kv_fit.use.gpu.step_tokens) : "")),
    numberField("context_mib", set),
    fragmentation,
  ];
  /** @param {View["settings"]} settings */
  function show(settings) {
    for (const one of fields) one.show(settings);
    for (const one of own) one.element.hidden = settings.gpu !== OWN_GPU;
    share.element.hidden = !hasShare(settings);
    fragmentation.element.hidden = hasShare(settings);
  }
  return { fields, last: own[1], show };
}

/**
 * How many GPUs share the work: the calculator's own settings, which are set here as well as there.
 *
 * @param {Asked} asked
 */
function createRanks(asked) {
  const fields = [numberField("tp", asked.set, () => "1"), numberField("pp", asked.set, () => "1")];
  /** @param {(refusal: Refusal) => string} said */
  function show(said) {
    const { trouble } = asked;
    for (const one of fields) {
      one.show(asked.settings);
      one.complain(trouble && trouble.params.field === one.name ? said(trouble) : "");
    }
  }
  return { element: h("div.kv-ranks", null, ...fields.map((one) => one.element)), show };
}

/**
 * Weights from the model's own files: their bytes become a setting, until another model is asked about.
 *
 * @param {Glass} glass
 * @param {import("./fit-state.js").FitState} fit
 * @param {Asked} asked
 */
function createFiles(glass, { state: view, set, hold }, asked) {
  const files = weightsFile(
    (name, params) => glass.text(`kv-fit.${name}`, params),
    (name, params) => glass.text(`kv.factor_${name}`, params),
    (held) => hold(held, modelOf(asked.settings)),
  );
  const ask = memo(async (/** @type {string} */ asking) => {
    const [readings, request] = JSON.parse(asking);
    const { data, message } = await glass.calculate("kv_weights", request);
    if (!view.held || view.readings !== readings) return;
    Object.assign(view, { files: data ?? null, files_trouble: message ?? null });
    set({ weight_bytes: data?.bytes ?? "" });
  });
  function show() {
    if (view.held && view.held_of !== modelOf(asked.settings)) {
      files.clear();
      hold(null);
    }
    if (view.held && asked.answered)
      ask(JSON.stringify([view.readings, weightsRequest(asked.answered, view.settings, view.held)]));
    files.show({
      answer: view.files,
      held: view.held,
      trouble: view.files_trouble ? troubleText(glass, view.files_trouble) : "",
    });
  }
  return { ...files, show };
}

/**
 * A question's fields beside its answer, with what is wrong with the question.
 *
 * @param {Glass} glass
 * @param {Field[]} fields
 * @param {{ more?: HTMLElement[]; look?: string }} how `more`: what stands under the fields
 */
function createSide(glass, fields, { more = [], look = "" }) {
  const result = h("div");
  const form = h("div.kv-form", null, ...fields.map((one) => one.element), ...more);
  const element = h(`div.kv-two${look}`, { "data-apart": "" }, form, result);
  /**
   * The answer; what is wrong stands under the field that it is of, else above the answer.
   *
   * @param {Refusal | null} message
   * @param {unknown} answer
   */
  function show(message, answer) {
    const said = message ? troubleText(glass, message) : "";
    const field = message?.params.field;
    for (const one of fields) one.complain(one.name === field ? said : "");
    const placed = fields.some((one) => one.name === field);
    render(
      html`<p class="kv-trouble" role="alert" .textContent=${placed ? "" : said}></p>
        <div class="kv-answer" ?data-stale=${Boolean(message)}>${answer}</div>`,
      result,
    );
  }
  return { element, show };
}

/**
 * That users' tokens are more than the model's context; "" where they are not.
 *
 * @param {Glass} glass
 * @param {View["kv_needs"]} needs
 */
function beyondText(glass, needs) {
  const { params } = needs?.notes.find(({ code }) => code === "beyond_context") ?? {};
  const count = (/** @type {string} */ name) => whole(Number(params?.[name]));
  return params
    ? glass.text("kv.note_beyond_context", { tokens: count("tokens"), max_context: count("max_context") })
    : "";
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function kvFit(element, glass) {
  const asked = question(glass);
  const fit = fitState(glass);
  const { state: view, set } = fit;
  const panel = frame(element, glass, "kv-fit", {
    subject: () => subjectOf(glass, asked.answer),
    parts: ["what", "formula", "myth"],
    pointed: false,
  });
  glass.calculate("kv_gpus").then(({ data }) => {
    view.gpus = data ?? null;
  });
  const questions = createQuestions(glass, view, asked);
  const gpu = createFields(glass, view, set);
  const ranks = createRanks(asked);
  const files = createFiles(glass, fit, asked);
  const reverse = [
    slidingField("users", set, [0, 12], 4, questions.nearNeeds),
    slidingField("user_tokens", set, [7, 20], 4, questions.nearNeeds),
  ];
  const same = h("button.kv-button.kv-same", {
    type: "button",
    click() {
      const { batch, tokens } = asked.answer ?? {};
      if (batch && tokens) set({ users: String(batch), user_tokens: String(tokens) });
    },
  });
  const beyond = h("span.kv-trouble.kv-beyond", { role: "status" });
  reverse[1].element.append(beyond);
  const stale = h("p.kv-trouble.kv-stale", { role: "status" });
  const limited = h("p.gp-note.kv-limited", { hidden: "" }); // where the system lets the GPU take less than is set
  const mixed = h("p.gp-note.kv-mixed", { "data-text": "kv-fit.mixed" }); // why a common format is not in the list
  const fitSide = createSide(glass, gpu.fields, { more: [limited, mixed, files.element] });
  gpu.last.element.after(ranks.element);
  const needsSide = createSide(glass, reverse, { more: [same], look: ".kv-reverse" });
  panel.body.append(stale, fitSide.element, files.result, needsSide.element);
  glass.translate(element);

  /**
   * The percent that counts, where it is less than was set, and the formula that decides.
   *
   * What is kept of a question that is refused now says nothing of what is set.
   *
   * @param {Fit | null} found
   */
  function showLimit(found) {
    const { room } = view.settings;
    const share = hasShare(view.settings);
    const set = share ? view.settings.usable_percent : "100";
    const of = found && !view.kv_fit_trouble ? found.use : null;
    const percent = of?.gpu.interface === "Metal" && of.percent < percentOf(set) ? of.percent : null;
    limited.hidden = percent === null;
    limited.textContent = percent === null ? "" : panel.text("limited", { percent });
    const explained = panel.text(share ? `formula_${room}` : "formula", { usable: found?.use.percent ?? set });
    const formula = element.querySelector(".is-formula span");
    if (formula) formula.textContent = explained;
  }

  /** Offers the calculator's batch and context as users and their tokens, where they are others. */
  function showSame() {
    const { batch, tokens } = asked.answer ?? { batch: 1, tokens: 1 };
    const { users, user_tokens: each } = view.settings;
    same.hidden = !asked.answer || (String(batch) === users && String(tokens) === each);
    same.textContent = panel.text("same", { batch: whole(batch), tokens: whole(tokens) });
  }

  return inView(element, function draw() {
    questions.ask();
    files.show();
    const { answer } = asked;
    const { kv_fit: found, kv_needs: needs, kv_fit_trouble: bad, kv_needs_trouble: unmet } = view;
    const reading = readFit({ fit: found, needs, card: answer?.card ?? null, cached: answer });
    panel.title.textContent = titleText(glass, panel.text, view.settings.gpu, asked);
    gpu.show(view.settings);
    ranks.show((refusal) => troubleText(glass, refusal));
    for (const one of reverse) one.show(view.settings);
    showSame();
    beyond.textContent = unmet ? "" : beyondText(glass, needs);
    fitSide.show(bad, answer ? fitView(glass, reading, answer) : nothing);
    needsSide.show(
      unmet,
      needs && answer ? needsView(glass, needs, nameOf(glass, answer.model), view.settings.gpu) : nothing,
    );
    stale.textContent = staleText(glass, asked);
    element.toggleAttribute("data-stale", Boolean(asked.trouble));
    showLimit(found);
    if (found ?? needs ?? (answer && bad)) panel.show(reading, "");
  });
}
