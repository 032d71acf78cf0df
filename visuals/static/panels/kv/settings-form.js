// The calculator's settings: model, tokens, batch, format, and behind a fold what engines do beyond the formula.

import { copyButton } from "../../controls.js";
import { h } from "../../dom.js";
import { formatFields } from "./cache-format.js";
import { choiceField, numberField, slidingField, soughtField, switchField, textField } from "./fields.js";
import { cardOfRunning } from "./running.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("./question.js").Asked} Asked
 *
 * @typedef {import("./fields.js").Change} Change
 *
 * @typedef {import("./fields.js").Option} Option
 */

const OWN = ["config", "hub"];
const MOST_CALLED = 60; // as app/chapters/kv_requests.py has it
const STEP_TOKENS = "8192"; // as the panel on GPUs begins
/** Options that only some models have; they are shown, and sent, for those alone. */
const PARTICULAR = ["encoder_tokens", "window", "batched_tokens", "layout", "indexer", "mtp", "state"];

/**
 * Models by family as a choice's groups.
 *
 * @param {Asked["catalogue"]} catalogue
 * @param {Say} text of the section "kv"
 * @returns {import("./fields.js").Group[]}
 */
function modelChoices(catalogue, text) {
  /** @type {Map<string, Option[]>} */
  const families = new Map();
  for (const { name, family, also } of catalogue?.models ?? []) {
    const label = also.length ? text("also", { name, also: also.join(text("list_comma")) }) : name;
    families.set(family, [...(families.get(family) ?? []), [name, label]]);
  }
  /** @type {Option[]} */
  const own = OWN.map((kind) => [`:${kind}`, text(`own_${kind}`)]);
  return [...families, [text("own_model"), own]];
}

/**
 * The card of the chosen model: of the catalogue, else of the last answer.
 *
 * @param {Asked} asked
 */
function cardOf({ settings, catalogue, answer }) {
  if (!settings.model.startsWith(":")) return catalogue?.models.find(({ name }) => name === settings.model) ?? null;
  return answer?.card ?? null;
}

/**
 * What another model does not know is taken back with it.
 *
 * @param {Asked["settings"]} settings
 */
export function withoutParticulars(settings) {
  return Object.fromEntries(PARTICULAR.filter((name) => settings[name]).map((name) => [name, ""]));
}

/**
 * A change with what it draws along: another model loses what only the last one knows; vLLM's reservation begins
 * with as many tokens of a step as the panel on GPUs has, and nothing but it has any.
 *
 * @param {Asked["settings"]} change
 * @param {Asked["settings"]} settings
 * @param {string | undefined} step tokens of a step, in the panel on GPUs
 * @returns {Asked["settings"]}
 */
export function withParticulars(change, settings, step) {
  if ("model" in change) return { ...withoutParticulars(settings), ...change };
  if (!("window" in change)) return change;
  return { ...change, batched_tokens: change.window === "vllm" ? settings.batched_tokens || step || STEP_TOKENS : "" };
}

/**
 * An address that leads to the calculator, with every setting, but without the config or the name of a model that
 * is not the chosen one.
 *
 * @param {string} address
 * @param {string} model
 */
export function withoutOther(address, model) {
  const [page, hash = ""] = address.split("#");
  const given = new URLSearchParams(hash);
  for (const kind of OWN) if (model !== `:${kind}`) given.delete(`kv.${kind}`);
  if (model !== ":config") given.delete("kv.config_name");
  given.set("panel", "kv-calculator");
  return `${page}#${given}`;
}

/**
 * The fields that every model has, and those behind the fold.
 *
 * @param {Asked} asked
 * @param {Change} set
 * @param {Say} text of the section "kv"
 */
function fieldsOf(asked, set, text) {
  /** @type {(value: string, name: string) => Option} */
  const option = (value, name) => [value, text(name)];
  const options =
    (/** @type {string} */ first, /** @type {string[]} */ ...values) =>
    () => [option("", first), ...values.map((value) => option(value, `choice_${value}`))];
  const main = [
    slidingField("tokens", set, [7, 20], 8, asked.near),
    slidingField("batch", set, [0, 10], 4, asked.near),
  ];
  const more = [
    numberField("tp", set, () => "1"),
    numberField("pp", set, () => "1"),
    numberField("dcp", set, () => "1"),
    numberField("block_size", set, () => "1"),
    numberField("shared_prefix", set, () => "0"),
    numberField("shared_layers", set, () => "—"),
    numberField("reserved_tokens", set, () => "—"),
    numberField("reserved_batch", set, () => "—"),
    numberField("encoder_tokens", set, () => "—"),
    choiceField("window", set, options("choice_none", "transformers", "vllm", "off")),
    numberField("batched_tokens", set, () => "—"),
    choiceField("layout", set, () => layouts(cardOf(asked), text)),
    choiceField("indexer", set, options("choice_fp8", "dtype")),
    choiceField("state", set, options("choice_own", "dtype", "fp32")),
    switchField("mtp", set),
    choiceField("draft", set, () => [option("", "no_draft"), ...modelChoices(asked.catalogue, text).slice(0, -1)]),
    numberField("prompt_tokens", set, () => "—"),
    numberField("n_kv_heads", set, () => "—"),
  ];
  return { main, formats: formatFields(asked, set, text), more };
}

/**
 * A config in a box; where all of it is replaced, its name is no longer that of the last one, unless one is typed.
 *
 * @param {Change} set
 * @param {import("./fields.js").Field & { box: HTMLElement }} called the field of its name
 */
function configField(set, called) {
  let another = false; // whether all of it is being replaced
  const field = textField(
    "config",
    (change) => {
      set(another ? { ...change, config_name: "" } : change);
      another = false;
    },
    6,
    () => '{ "model_type": "llama", … }',
  );
  field.box.addEventListener("beforeinput", () => {
    const { selectionStart, selectionEnd, value } = field.box;
    another ||= value !== "" && selectionStart === 0 && selectionEnd === value.length;
  });
  called.box.addEventListener("input", () => {
    another = false;
  });
  return field;
}

/**
 * A button that chooses the model that runs on the page, where the list has it and another one is chosen.
 *
 * @param {Glass} glass
 * @param {Asked} asked
 * @param {Change} set
 */
function runningButton(glass, asked, set) {
  let name = "";
  const element = h("button.kv-button.kv-running", { type: "button", hidden: "", click: () => set({ model: name }) });
  function show() {
    name = cardOfRunning(glass.state.trace?.model, asked.catalogue?.models ?? [])?.name ?? "";
    element.hidden = !name || asked.settings.model === name;
    element.textContent = glass.text("kv.running", { model: name });
  }
  return { element, show };
}

/**
 * @param {Glass} glass
 * @param {Asked} asked
 */
export function settingsForm(glass, asked) {
  /** @type {Say} */
  const text = (name, params) => glass.text(`kv.${name}`, params);
  /** @type {Change} */
  const set = (change) => asked.set(withParticulars(change, asked.settings, glass.settings.get("kvfit")?.step_tokens));
  const model = soughtField("model", set, () => modelChoices(asked.catalogue, text), text);
  const hub = textField("hub", set, 1, () => "mistralai/Mistral-7B-v0.1");
  const called = textField("config_name", set, 1, () => text("pasted"));
  called.box.maxLength = MOST_CALLED;
  const config = configField(set, called);
  const families = familiesFold(glass, asked);
  const paste = h("button.kv-button.kv-paste", {
    type: "button",
    "data-text": "kv.paste",
    click() {
      set({ model: ":config" });
      config.element.hidden = false;
      config.box.focus();
    },
  });
  const running = runningButton(glass, asked, set);
  const { main, formats, more } = fieldsOf(asked, set, text);
  const fold = h(
    "details.kv-more",
    null,
    h("summary", { "data-text": "kv.more" }),
    h("div.kv-fields", null, ...more.map(({ element }) => element)),
  );
  const share = copyButton("kv-button", glass.text, ["kv.link", "kv.copied"], () =>
    withoutOther(location.href, asked.settings.model),
  );
  const element = h(
    "form.kv-form",
    { submit: (/** @type {Event} */ event) => event.preventDefault() },
    model.element,
    running.element,
    paste,
    ...[config, called, hub, families, ...main, formats].map((one) => one.element),
    share,
  );
  const all = [model, config, called, hub, ...main, ...formats.fields, ...more];

  /**
   * Which options mean something for the model and the format.
   *
   * @param {string} name
   */
  function useful(name) {
    const { settings } = asked;
    if (name === "config" || name === "hub") return settings.model === `:${name}`;
    if (name === "config_name") return settings.model === ":config";
    if (name === "dtype_v") return formats.useful(!cardOf(asked)?.latent || settings.layout === "expanded_mla");
    if (name === "prompt_tokens") return settings.dtype === "hf_int4";
    if (name === "batched_tokens") return settings.window === "vllm";
    return !PARTICULAR.includes(name) || (cardOf(asked)?.options.includes(name) ?? false);
  }

  let shownOnce = false;
  function show() {
    if (more.some(({ name }) => asked.settings[name]) && !shownOnce) fold.open = true;
    shownOnce = true;
    for (const one of all) {
      one.element.hidden = !useful(one.name);
      one.show(asked.settings);
    }
    paste.hidden = asked.settings.model === ":config";
    running.show();
    families.show();
  }

  /**
   * Puts what is wrong under its field.
   *
   * @param {Asked["trouble"]} trouble
   * @param {string} said that in words
   * @returns {boolean} whether there is such a field
   */
  function complain(trouble, said) {
    const own = trouble?.code === "hf_config" || trouble?.code === "hub";
    const name = own
      ? asked.settings.model.slice(1)
      : trouble?.code === "unknown_model"
        ? (trouble.params.field ?? "model")
        : trouble?.params.field;
    for (const one of all) one.complain(one.name === name ? said : "");
    const place = all.find((one) => one.name === name && !one.element.hidden);
    if (place && more.includes(place)) fold.open = true;
    return Boolean(place);
  }
  return { element, fold, show, complain };
}

/**
 * Behind a fold, for a model of the reader's own, every model_type that the server reads; where GGUF metadata was
 * refused, every architecture.
 *
 * @param {Glass} glass
 * @param {Asked} asked
 */
function familiesFold(glass, asked) {
  const [summary, names] = [h("summary"), h("p.gp-note")];
  const element = h("details.kv-families", null, summary, names);
  const show = () => {
    element.hidden = !OWN.some((kind) => asked.settings.model === `:${kind}`);
    const { reason, names: known } = asked.trouble?.params ?? {};
    const gguf = reason === "unread_architecture";
    summary.textContent = glass.text(`kv.${gguf ? "architectures" : "families"}`);
    names.textContent = gguf ? String(known) : (asked.catalogue?.families ?? []).join(", ");
  };
  return { element, show };
}

/**
 * @param {ReturnType<typeof cardOf>} card
 * @param {Say} text of the section "kv"
 * @returns {Option[]}
 */
function layouts(card, text) {
  const name = card?.kind === "MLA" ? "expanded_mla" : "broadcast_heads";
  return ["", name].map((value) => [value, text(`choice_${value || "formula"}`)]);
}
