// What fits on a GPU: weights and cache on one, the largest batch and context, what users need, the bound on decoding.

import { h } from "../../dom.js";
import { frame } from "../../frame.js";
import { inView } from "../../pointing.js";
import { linkedState } from "../../settings.js";
import { memo } from "../../reads.js";
import { createAsker } from "./asking.js";
import { choiceField, numberField, slidingField } from "./fields.js";
import { fitView, needsView } from "./fit-view.js";
import { calledIn, nameOf, sourcesOf, subjectOf, whole } from "./format.js";
import { question, requestOf } from "./question.js";
import { staleText, troubleText } from "./trouble.js";

export const FIRST = {
  gpu: "H100 80 GB",
  weights: "",
  embeddings: "",
  usable_percent: "90",
  users: "64",
  user_tokens: "32768",
  memory_gb: "80",
  bandwidth_gb_per_s: "2000",
};
const OWN_GPU = ":gpu";
/** Settings that only the reverse question depends on. */
const REVERSE = ["users", "user_tokens"];

export const about = { namesChanges: false };

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function kvFit(element, glass) {
  const asked = question(glass);
  const { state: view, set } = linkedState(glass, "kvfit", FIRST, { kv_fit: null, kv_needs: null, gpus: null });
  const panel = frame(element, glass, "kv-fit", {
    csv: () => table(glass, view, asked.answer),
    subject: () => subjectOf(glass, asked.answer),
    parts: ["what", "formula", "myth"],
    pointed: false,
  });
  glass.calculate("kv_gpus").then(({ data }) => {
    view.gpus = data;
  });
  /** @type {("kv_fit" | "kv_needs")[]} */
  const answers = ["kv_fit", "kv_needs"];
  const [askFit, askNeeds] = answers.map((what) =>
    createAsker(glass, what, ({ data, message }) => {
      Object.assign(view, data ? { [what]: data, [`${what}_trouble`]: null } : { [`${what}_trouble`]: message });
    }),
  );

  const gpus = () => [...(view.gpus?.gpus ?? []).map((name) => [name, name]), [OWN_GPU, glass.text("kv.own_gpu")]];
  const formats = () =>
    (view.gpus?.weights ?? []).map(({ name, engine }) => [name, engine ? `${name} (${engine})` : name]);
  const own = [numberField("memory_gb", set), numberField("bandwidth_gb_per_s", set)];
  const fields = [
    choiceField("gpu", set, gpus),
    ...own,
    choiceField("weights", set, () => [["", glass.text("kv.choice_as_config")], ...formats()]),
    choiceField("embeddings", set, () => [["", glass.text("kv.choice_as_weights")], ...formats()]),
    numberField("usable_percent", set),
  ];
  const nearNeeds = (along, values) => {
    if (asked.answered) askNeeds.near(requestForNeeds(), along, values);
  };
  const reverse = [
    slidingField("users", set, [0, 12], 4, nearNeeds),
    slidingField("user_tokens", set, [7, 20], 4, nearNeeds),
  ];
  const trouble = { kv_fit: h("p.kv-trouble", { role: "alert" }), kv_needs: h("p.kv-trouble", { role: "alert" }) };
  const stale = h("p.kv-trouble.kv-stale", { role: "status" });
  const [fit, needs] = [fitView(glass), needsView(glass)];
  const side = (list, ...more) => h("div.kv-form", null, ...list.map((one) => one.element), ...more);
  const limited = h("p.gp-note.kv-limited", { hidden: "" }); // where the system lets the GPU take less than is set
  panel.body.append(
    stale,
    h("div.kv-two", null, side(fields, limited), h("div", null, trouble.kv_fit, fit.element)),
    h("div.kv-two.kv-reverse", null, side(reverse), h("div", null, trouble.kv_needs, needs.element)),
  );
  glass.translate(element);

  /** The settings of both panels, without what the question does not depend on. */
  function settingsFor(skipped) {
    const kept = Object.entries(view.settings).filter(([name]) => !skipped.includes(name));
    const chosen = Object.fromEntries(
      kept.filter(([name]) => view.settings.gpu === OWN_GPU || !own.some((one) => one.name === name)),
    );
    return { ...asked.answered, ...chosen };
  }

  const requestForFit = () => requestOf(settingsFor(REVERSE));

  /** The reverse question asks for the users' tokens, whatever the calculator's own are. */
  function requestForNeeds() {
    const { tokens, batch, tp, pp, dcp, ...kept } = settingsFor([]);
    return requestOf(kept);
  }

  const questions = {
    fit: memo((request) => askFit.ask(JSON.parse(request))),
    needs: memo((request) => askNeeds.ask(JSON.parse(request))),
  };
  let fitting = null;
  const near = memo(({ along, values }) => askFit.near(fitting, along, values));
  /** Asks what changed, now that the panel is in sight. */
  function need() {
    if (!asked.answered) return;
    fitting = requestForFit();
    if (asked.sliding) near(asked.sliding);
    questions.fit(JSON.stringify(fitting));
    questions.needs(JSON.stringify(requestForNeeds()));
  }

  /** The title, which names what was asked about once there is an answer. */
  function titleText() {
    const { model, batch, tokens, dtype } = asked.answer ?? {};
    if (!model) return panel.text("title");
    return panel.text("title_of", {
      gpu: view.settings.gpu === OWN_GPU ? "GPU" : view.settings.gpu,
      model: nameOf(glass, model),
      batch: whole(batch),
      tokens: whole(tokens),
      dtype,
    });
  }

  /** Puts what is wrong with a question under the field that it is of, else above the result. */
  function complain(name, message, list, result) {
    const said = message ? troubleText(glass, message) : "";
    const field = message?.params.field;
    for (const one of list) one.complain(one.name === field ? said : "");
    trouble[name].textContent = list.some((one) => one.name === field) ? "" : said;
    result.element.toggleAttribute("data-stale", Boolean(message));
  }

  function tell({ use, batch, context }) {
    const most = `batch=${batch.value ?? "none"} context=${context.value ?? "none"}`;
    panel.tell(`gpu=${use.gpu.name} fits=${use.fits} free=${use.free} ${most}`);
  }

  return inView(element, function draw() {
    need();
    const { kv_fit: found, kv_needs: needed, kv_fit_trouble: bad, kv_needs_trouble: unmet } = view;
    panel.title.textContent = titleText();
    for (const one of [...fields, ...reverse]) one.show(view.settings);
    for (const one of own) one.element.hidden = view.settings.gpu !== OWN_GPU;
    complain("kv_fit", bad, fields, fit);
    complain("kv_needs", unmet, reverse, needs);
    stale.textContent = staleText(glass, asked);
    element.toggleAttribute("data-stale", Boolean(asked.trouble));
    limited.hidden = !found || found.use.percent >= Number(view.settings.usable_percent);
    if (!limited.hidden) limited.textContent = panel.text("limited", { percent: found.use.percent });
    const explained = { usable: found?.use.percent ?? view.settings.usable_percent };
    for (const part of ["formula", "myth"])
      element.querySelector(`.is-${part} span`).textContent = panel.text(part, explained);
    if (found && asked.answer) fit.show(found, asked.answer);
    if (needed) needs.show(needed);
    if (found) tell(found);
  });
}

/** @returns {(string | number)[][]} what one GPU holds, and the GPUs that the reverse question found; a row a number */
function table(glass, { kv_fit: found, kv_needs: need }, answer) {
  const rows = [];
  const add = (question, gpu, values) => {
    for (const [name, value] of Object.entries(values)) rows.push([question, gpu, name, value ?? ""]);
  };
  if (answer) add("model", "", { name: calledIn(glass, answer.card), source: sourcesOf(glass, answer.card) });
  if (found) {
    add("model", "", { weights: found.use.weights_in, ...(found.use.stored[0] && { remark: found.use.stored[0].en }) });
    const { use, batch, context, bound } = found;
    add("fits", use.gpu.name, {
      memory_bytes: use.gpu.memory,
      usable_bytes: use.usable,
      weights_bytes: use.weights,
      cache_bytes: use.cache,
      free_bytes: use.free,
      fits: String(use.fits),
      largest_batch: batch.value,
      largest_context: context.value,
      tokens_per_second_at_most: bound.each,
    });
  }
  for (const { name, at_least, layout } of need?.gpus ?? []) {
    add("needed", name, {
      users: need.users,
      tokens_each: need.tokens,
      gpus_by_bytes: at_least,
      gpus_that_fit: layout?.gpus,
      tp: layout?.tp,
      pp: layout?.pp,
    });
  }
  return [["question", "gpu", "quantity", "value"], ...rows];
}
