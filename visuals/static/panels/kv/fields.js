// Controls of the calculators: a number with a slider beside it, a choice, a switch. Each says which setting it changes.

import { h } from "../../dom.js";

let made = 0;

/** A control under its label; a message of the server about this field stands below it. */
function field(name, ...controls) {
  const id = `kv-field-${++made}`;
  controls[0].id = id;
  const trouble = h("span.kv-trouble", { role: "alert" });
  const element = h("div.kv-field", { "data-field": name },
    h("label", { for: id, "data-text": `kv.field_${name}` }), ...controls, trouble);
  /** @param {string} text what is wrong with it, or "" */
  const complain = (text) => {
    if (trouble.textContent !== text) trouble.textContent = text;
    if (text) controls[0].setAttribute("aria-invalid", "true");
    else controls[0].removeAttribute("aria-invalid");
  };
  return { name, element, complain };
}

/** Puts a value into a control, unless the reader is typing there. */
const put = (control, value) => {
  if (document.activeElement !== control && control.value !== value) control.value = value;
};

/** @param {(change: object) => void} set @param {string} hint shown while the field is empty */
export function numberField(name, set, hint = "") {
  const box = h("input", { type: "text", inputmode: "numeric", autocomplete: "off", placeholder: hint });
  box.addEventListener("input", () => set({ [name]: box.value.trim() }));
  const made = field(name, box);
  return { ...made, show: (settings) => put(box, settings[name] ?? "") };
}

/** A number with a slider over powers of two, `steps` places for each doubling. @param {[number, number]} powers */
export function slidingField(name, set, powers, steps) {
  const box = h("input", { type: "text", inputmode: "numeric", autocomplete: "off" });
  const slider = h("input", { type: "range", min: powers[0] * steps, max: powers[1] * steps, step: 1,
    "data-text-label": `kv.field_${name}` });
  box.addEventListener("input", () => set({ [name]: box.value.trim() }));
  slider.addEventListener("input", () => set({ [name]: String(valueAt(Number(slider.value), steps)) }));
  const made = field(name, box, slider);
  const show = (settings) => {
    put(box, settings[name] ?? "");
    const place = String(placeOf(Number(settings[name]), steps));
    if (slider.value !== place) slider.value = place;
  };
  return { ...made, show };
}

/** The number at a slider's place, and the place of a number. */
export const valueAt = (place, steps) => Math.round(2 ** (place / steps));
export const placeOf = (value, steps) => (value > 0 ? Math.round(Math.log2(value) * steps) : 0);

/** @param {() => [string, string][]|[string, [string, string][]][]} options value and label; or a group and its options */
export function choiceField(name, set, options) {
  const box = h("select");
  box.addEventListener("change", () => set({ [name]: box.value }));
  const made = field(name, box);
  let shown = "";
  const option = ([value, label]) => {
    const element = h("option", { value });
    element.textContent = label;
    return element;
  };
  const show = (settings) => {
    const list = options();
    const said = JSON.stringify(list);
    if (said !== shown) {
      const entries = list.map(([value, label]) => (Array.isArray(label) ? h("optgroup", { label: value }, ...label.map(option)) : option([value, label])));
      box.replaceChildren(...entries);
      shown = said;
    }
    box.value = settings[name] ?? "";
  };
  return { ...made, show };
}

/** A box to tick; ticked is "1", else the setting is empty. */
export function switchField(name, set) {
  const box = h("input", { type: "checkbox" });
  box.addEventListener("change", () => set({ [name]: box.checked ? "1" : "" }));
  const made = field(name, box);
  made.element.classList.add("is-switch");
  return { ...made, show: (settings) => { box.checked = Boolean(settings[name]); } };
}

/** A text of several lines, sent when it has not changed for a moment. */
export function textField(name, set, rows, hint = "") {
  const box = rows > 1 ? h("textarea", { rows, spellcheck: "false", placeholder: hint }) : h("input", { type: "text", autocomplete: "off", placeholder: hint });
  let timer = 0;
  box.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => set({ [name]: box.value.trim() }), 350);
  });
  const made = field(name, box);
  made.element.classList.add("is-wide");
  return { ...made, show: (settings) => put(box, settings[name] ?? "") };
}
