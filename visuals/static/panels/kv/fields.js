// Controls of the calculators: a number with a slider beside it, a choice, a switch. Each says which setting it
// changes.

import { h } from "../../dom.js";
import { asNumber } from "./question.js";

/**
 * @typedef {Record<string, string>} Settings
 *
 * @typedef {(change: Settings) => void} Change
 *
 * @typedef {[value: string, label: string]} Option
 *
 * @typedef {[name: string, options: Option[]]} Group
 *
 * @typedef {object} Field
 * @property {string} name of the setting that it changes
 * @property {HTMLElement} element
 * @property {(text: string) => void} complain says what is wrong with it; "" for nothing
 * @property {(settings: Settings) => void} show
 *
 * @typedef {HTMLInputElement | HTMLTextAreaElement} Box
 */

let made = 0;

/**
 * A control under its label; a message of the server about this field stands below it.
 *
 * @param {string} name
 * @param {HTMLElement} control
 * @param {...HTMLElement} more
 */
function field(name, control, ...more) {
  const id = `kv-field-${++made}`;
  control.id = id;
  const trouble = h("span.kv-trouble", { role: "alert" });
  const element = h(
    "div.kv-field",
    { "data-field": name },
    h("label", { for: id, "data-text": `kv.field_${name}` }),
    control,
    ...more,
    trouble,
  );
  /** @param {string} text what is wrong with it, or "" */
  const complain = (text) => {
    if (trouble.textContent !== text) {
      trouble.textContent = text;
      // what is wrong with what is being typed must not lie under a bar, or below the window
      if (text && document.activeElement === control) trouble.scrollIntoView({ block: "nearest" });
    }
    if (text) control.setAttribute("aria-invalid", "true");
    else control.removeAttribute("aria-invalid");
  };
  return { name, element, complain };
}

/**
 * Puts a value into a control, unless the reader is typing there.
 *
 * @param {Box} control
 * @param {string} value
 */
const put = (control, value) => {
  if (document.activeElement !== control && control.value !== value) control.value = value;
};

/**
 * @param {string} name
 * @param {Change} set
 */
function numberBox(name, set) {
  const box = h("input", {
    type: "text",
    inputmode: name === "usable_percent" ? "decimal" : "numeric",
    autocomplete: "off",
    input: () => set({ [name]: box.value.trim() }),
  });
  return box;
}

/**
 * A number.
 *
 * @param {string} name
 * @param {Change} set
 * @param {() => string} hint shown while the field is empty, in the page's language
 * @returns {Field}
 */
export function numberField(name, set, hint = () => "") {
  const box = numberBox(name, set);
  const show = (/** @type {Settings} */ settings) => {
    box.placeholder = hint();
    put(box, settings[name] ?? "");
  };
  return { ...field(name, box), show };
}

/**
 * A number with a slider over powers of two, `steps` places for each doubling.
 *
 * @param {string} name
 * @param {Change} set
 * @param {[number, number]} powers
 * @param {number} steps
 * @param {(name: string, values: number[]) => void} near told all values when a hand, or the focus, comes to the
 *   slider
 * @returns {Field}
 */
export function slidingField(name, set, powers, steps, near = () => {}) {
  const values = valuesOf(powers, steps);
  const [box, come] = [numberBox(name, set), () => near(name, values)];
  const how = {
    type: "range",
    min: 0,
    max: values.length - 1,
    step: 1,
    "data-text-label": `kv.field_${name}`,
    pointerenter: come,
    pointerdown: come,
    focus: come,
  };
  const slider = h("input", { ...how, input: () => set({ [name]: String(values[Number(slider.value)]) }) });
  const show = (/** @type {Settings} */ settings) => {
    put(box, settings[name] ?? "");
    const place = String(placeOf(values, Number(asNumber(settings[name] ?? ""))));
    if (slider.value !== place) slider.value = place;
    slider.setAttribute("aria-valuetext", settings[name] ?? "");
  };
  return { ...field(name, box, slider), show };
}

/**
 * A slider's values, ascending, each once: among the smallest, several steps round to one number.
 *
 * @param {[number, number]} powers
 * @param {number} steps
 */
export const valuesOf = ([low, high], steps) => [
  ...new Set(Array.from({ length: (high - low) * steps + 1 }, (_, i) => Math.round(2 ** (low + i / steps)))),
];

/**
 * The place of the value that is nearest to a number, by ratio; the first for what is no positive number.
 *
 * @param {number[]} values
 * @param {number} number
 */
export function placeOf(values, number) {
  const off = (/** @type {number} */ value) => Math.abs(Math.log(value / number));
  return number > 0 ? values.reduce((best, value, i) => (off(value) < off(values[best]) ? i : best), 0) : 0;
}

/**
 * A choice.
 *
 * @param {string} name
 * @param {Change} set
 * @param {() => (Option | Group)[]} options
 * @returns {Field}
 */
export function choiceField(name, set, options) {
  const box = h("select", { change: () => set({ [name]: box.value }) });
  let shown = "";
  const option = (/** @type {Option} */ [value, label]) => h("option", { value }, label);
  const show = (/** @type {Settings} */ settings) => {
    const list = options();
    const said = JSON.stringify(list);
    if (said !== shown) {
      const entries = list.map(([value, label]) =>
        Array.isArray(label) ? h("optgroup", { label: value }, ...label.map(option)) : option([value, label]),
      );
      box.replaceChildren(...entries);
      shown = said;
    }
    box.value = settings[name] ?? "";
  };
  return { ...field(name, box), show };
}

const MOST_FOUND = 6; // found names that are buttons

/** A name without what parts its words. @param {string} text */
const letters = (text) => text.toLowerCase().replace(/[\s\-_.()]/g, "");

/**
 * The options whose names, or their group's, hold every word of what is sought.
 *
 * @param {Group[]} groups
 * @param {string} sought
 * @returns {Group[]} without those of none
 */
export function found(groups, sought) {
  const words = sought.split(/\s+/).map(letters).filter(Boolean);
  return groups
    .map(([group, options]) => {
      const own = options.filter(([, label]) => words.every((word) => letters(`${group} ${label}`).includes(word)));
      return /** @type {Group} */ ([group, own]);
    })
    .filter(([, options]) => options.length);
}

/**
 * A choice in a long list, with a box over it in which to seek: the list holds what is found, and what is chosen;
 * Enter chooses the first, and a button each of the first few.
 *
 * @param {string} name
 * @param {Change} set
 * @param {() => Group[]} options
 * @param {(name: string, params?: Record<string, unknown>) => string} text of the section "kv"
 * @returns {Field}
 */
export function soughtField(name, set, options, text) {
  const status = h("span.gp-note", { role: "status" });
  const buttons = h("div.kv-found", { hidden: "" });
  /** @type {Settings} */
  let settings = {};
  /** What fits the words in the box; with none of them, all. @type {Group[]} */
  let fitting = [];
  const box = h("input", {
    type: "search",
    autocomplete: "off",
    spellcheck: "false",
    "data-text-label": `kv.seek_${name}`,
    input: () => shown.show(settings),
    keydown(/** @type {KeyboardEvent} */ event) {
      const [first] = fitting.flatMap(([, own]) => own);
      if (event.key !== "Enter" || event.isComposing || !box.value.trim() || !first) return;
      event.preventDefault();
      choose(first[0]);
    },
  });
  /** @param {string} value */
  function choose(value) {
    box.value = "";
    set({ [name]: value });
    shown.show(settings);
  }
  /** The first that are found, each as a button: a finger has no Enter. */
  function showFound() {
    const names = box.value.trim() ? fitting.flatMap(([, own]) => own).slice(0, MOST_FOUND) : [];
    const said = JSON.stringify(names);
    if (said === buttons.dataset.names) return;
    buttons.dataset.names = said;
    buttons.hidden = !names.length;
    buttons.replaceChildren(
      ...names.map(([value, label]) => {
        const one = h("button.kv-button", { type: "button", click: () => choose(value) });
        one.textContent = label;
        return one;
      }),
    );
  }
  const chosen = (/** @type {Option} */ [value]) => value === settings[name];
  const listed = () => {
    if (fitting.some(([, own]) => own.some(chosen))) return fitting;
    // where nothing is found, the reader's own model is offered
    const offered = (/** @type {Option} */ one) => chosen(one) || (!fitting.length && one[0].startsWith(":"));
    const kept = options().map(([group, own]) => /** @type {Group} */ ([group, own.filter(offered)]));
    return [...fitting, ...kept.filter(([, own]) => own.length)];
  };
  function said() {
    if (!box.value.trim()) return "";
    const names = fitting.flatMap(([, own]) => own);
    return names.length ? text("sought_found", { count: names.length, first: names[0][1] }) : text("sought_none");
  }
  const choice = choiceField(name, set, listed);
  choice.element.querySelector("label")?.after(box);
  choice.element.append(status, buttons);
  const shown = {
    ...choice,
    show(/** @type {Settings} */ given) {
      settings = given;
      fitting = found(options(), box.value);
      box.placeholder = text(`seek_${name}`);
      choice.show(given);
      status.textContent = said();
      showFound();
    },
  };
  return shown;
}

/**
 * A box to tick; ticked is "1", else the setting is empty.
 *
 * @param {string} name
 * @param {Change} set
 * @returns {Field}
 */
export function switchField(name, set) {
  const box = h("input", { type: "checkbox", change: () => set({ [name]: box.checked ? "1" : "" }) });
  const made = field(name, box);
  made.element.classList.add("is-switch");
  return {
    ...made,
    show: (settings) => {
      box.checked = Boolean(settings[name]);
    },
  };
}

/**
 * A text of several lines, sent when it has not changed for a moment.
 *
 * @param {string} name
 * @param {Change} set
 * @param {number} rows
 * @param {() => string} hint shown while the field is empty, in the page's language
 * @returns {Field & { box: Box }}
 */
export function textField(name, set, rows, hint = () => "") {
  const box =
    rows > 1 ? h("textarea", { rows, spellcheck: "false" }) : h("input", { type: "text", autocomplete: "off" });
  let timer = 0; // runs while what was typed is not yet sent
  let held = ""; // the setting that the box was given, or that was sent
  function send() {
    clearTimeout(timer);
    timer = 0;
    held = box.value.trim();
    set({ [name]: held });
  }
  box.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(send, 350);
  });
  box.addEventListener("change", () => {
    if (timer || box.value.trim() !== held) send();
  });
  const made = field(name, box);
  made.element.classList.add("is-wide");
  // A text that came into the box without a word, as extensions and tools put it there, stays until the setting itself
  // becomes another one.
  const show = (/** @type {Settings} */ settings) => {
    box.placeholder = hint();
    const value = settings[name] ?? "";
    if (timer || value === held || document.activeElement === box) return;
    held = value;
    box.value = value;
  };
  return { ...made, box, show };
}
