// A pasted log of an inference engine beside the formula: what is needed, reserved and logged, and why they differ.

import { h } from "../../dom.js";
import { frame } from "../../frame.js";
import { inView } from "../../pointing.js";
import { readLog } from "../../readings/kv-log.js";
import { reactive } from "../../reads.js";
import { html, nothing, render } from "../../vendor/lit-html.js";
import { fitState } from "./fit-state.js";
import { nameOf } from "./format.js";
import { take, takenView } from "./log-example.js";
import { EXAMPLES } from "./log-examples.js";
import { logView } from "./log-view.js";
import { modelOf, question, requestOf } from "./question.js";
import { withoutParticulars } from "./settings-form.js";
import { troubleText } from "./trouble.js";

/**
 * @typedef {import("../../messages.d.ts").KvLogAnswer} Answer
 *
 * @typedef {object} State
 * @property {Answer | null} answer
 * @property {import("../../types.d.ts").Refusal | null} trouble
 * @property {boolean} busy
 * @property {import("./log-example.js").Taken | null} taken the example that the calculator is set to
 * @property {string} weighed which the panel on GPUs has the log's weights of, as `modelOf`
 */

export const about = { namesChanges: false };

/**
 * What is wrong with a log, in the reader's language; the lines that were looked for below it, each by itself.
 *
 * @param {import("../../types.d.ts").Glass} glass
 * @param {(name: string, params?: Record<string, unknown>) => string} text
 * @param {import("../../types.d.ts").Refusal | null} refused
 */
function wrong(glass, text, refused) {
  if (!refused) return nothing;
  const { reason, lines, engines } = refused.params;
  if (refused.code !== "engine_log" || !reason) return html`<p .textContent=${troubleText(glass, refused)}></p>`;
  const told = { ...refused.params, engines: [engines].flat().join(glass.text("why.list")) };
  const wanted = /** @type {string[]} */ ([lines ?? []].flat());
  return html`<p .textContent=${text(`trouble_${reason}`, told)}></p>
    ${
      wanted.length
        ? html`<ul>
            ${wanted.map((line) => html`<li><code .textContent=${line}></code></li>`)}
          </ul>`
        : nothing
    }`;
}

/**
 * The box, its button and the examples.
 *
 * @param {import("../../types.d.ts").Glass} glass
 * @param {(name: string, params?: Record<string, unknown>) => string} text
 * @param {(log: string, example?: import("./log-examples.js").Example) => void} compare
 */
function createForm(glass, text, compare) {
  const box = h("textarea", { id: "kv-log-box", rows: 10, spellcheck: "false", "aria-describedby": "kv-log-kept" });
  const area = /** @type {HTMLTextAreaElement} */ (box);
  const go = h("button.kv-button.is-primary", { type: "submit", "data-text": "kv-log.compare" });
  const examples = EXAMPLES.map((example) =>
    h(
      "button.kv-button.kv-log-example",
      {
        type: "button",
        title: example.from,
        click: () => {
          area.value = example.lines;
          compare(example.lines, example);
        },
      },
      example.engine,
    ),
  );
  const trouble = h("div.kv-trouble.kv-log-trouble", { role: "alert" });
  const element = h(
    "form.kv-form",
    {
      submit: (/** @type {Event} */ event) => {
        event.preventDefault();
        compare(area.value);
      },
      keydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) compare(area.value);
      },
    },
    h(
      "div.kv-field.is-wide",
      { "data-field": "log" },
      h("label", { for: "kv-log-box", "data-text": "kv-log.box" }),
      box,
      trouble,
    ),
    h("p.gp-note", { id: "kv-log-kept", "data-text": "kv-log.kept" }),
    go,
    h(
      "div.kv-log-examples",
      { role: "group", "data-text-label": "kv-log.examples" },
      h("span.gp-note", { "data-text": "kv-log.examples" }),
      ...examples,
    ),
  );
  /** @param {State} state */
  function show({ busy, trouble: refused }) {
    /** @type {HTMLButtonElement} */ (go).disabled = busy;
    render(wrong(glass, text, refused), trouble);
    if (refused) box.setAttribute("aria-invalid", "true");
    else box.removeAttribute("aria-invalid");
  }
  return { element, show };
}

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function kvLog(element, glass) {
  const asked = question(glass);
  const fit = fitState(glass);
  const view = /** @type {State} */ (
    reactive({ answer: null, trouble: null, busy: false, taken: null, weighed: "" }, glass.repaint)
  );
  const panel = frame(element, glass, "kv-log", {
    subject: () => (view.answer ? `${view.answer.engine} · ${nameOf(glass, view.answer.model)}` : ""),
    parts: ["what", "formula", "myth", "source"],
    pointed: false,
  });

  let last = { log: "", settings: asked.settings }; // what was compared

  /**
   * @param {string} log
   * @param {Record<string, string>} settings
   * @param {boolean} [asChosen] with the calculator's model, also where the log names another
   */
  async function ask(log, settings, asChosen = false) {
    Object.assign(view, { busy: true, weighed: "" });
    last = { log, settings };
    const { data, message } = await glass.calculate("kv_log", { ...requestOf(settings), log, as_chosen: asChosen });
    Object.assign(view, { busy: false, answer: data ?? null, trouble: message ?? null });
  }
  /**
   * @param {string} log
   * @param {import("./log-examples.js").Example} [example]
   */
  function compare(log, example) {
    if (view.busy) return;
    view.taken = example ? take(asked, example, view.taken) : null;
    ask(log, example ? asked.settings : (asked.answered ?? asked.settings));
  }
  /** @param {string} model of the list: the calculator is set to it */
  function choose(model) {
    if (view.busy) return;
    asked.set({ ...withoutParticulars(asked.settings), model });
    ask(last.log, asked.settings);
  }
  /** @param {boolean} asChosen */
  const again = (asChosen) => () => {
    if (!view.busy) ask(last.log, asked.answered ?? asked.settings, asChosen);
  };
  /**
   * The calculators' settings with the model that a log was compared with.
   *
   * @param {import("../../messages.d.ts").KvLogAnswer} answer
   * @returns {Record<string, string>}
   */
  function settingsWith({ model, model_from: from, config }) {
    if (from === "named") return { model };
    if (config) return { model: ":config", config, config_name: "" };
    const { model: chosen, config: pasted = "", config_name = "", hub = "" } = last.settings;
    return { model: chosen, config: pasted, config_name, hub };
  }
  /** Gives the panel on GPUs the log's weights, and the calculators the model that they are of. */
  function weigh() {
    const { answer } = view;
    if (!answer?.weights) return;
    const { logged, text: size } = answer.weights;
    const change = settingsWith(answer);
    if (modelOf({ ...asked.settings, ...change }) !== modelOf(asked.settings))
      asked.set({ ...withoutParticulars(asked.settings), ...change });
    const held = { tensors: [], total_size: Number(logged), logged: { size, types: [], engine: answer.engine } };
    view.weighed = modelOf(asked.settings);
    fit.hold(held, view.weighed);
  }
  const ways = { choose, asChosen: again(true), asNamed: again(false), weigh };
  function back() {
    if (view.taken) asked.set(view.taken.before);
    view.taken = null;
  }
  const form = createForm(glass, panel.text, compare);
  const result = h("div.kv-log-result", { "aria-live": "polite" });
  panel.body.append(h("div.kv-two", null, form.element, result));
  glass.translate(element);

  return inView(element, function draw() {
    const { answer, busy, trouble } = view;
    panel.title.textContent = panel.text("title");
    form.show(view);
    result.toggleAttribute("data-stale", busy);
    const state = busy ? "busy" : trouble ? "refused" : "empty";
    const empty = html`<p class="gp-note" .textContent=${panel.text(state)}></p>`;
    const weighed = view.weighed !== "" && view.weighed === fit.state.held_of;
    const shown = answer ? logView(answer, panel.text, (model) => nameOf(glass, model), ways, weighed) : empty;
    render(html`${takenView(view.taken, panel.text, back)}${shown}`, result);
    panel.show(readLog(answer), "");
  });
}
