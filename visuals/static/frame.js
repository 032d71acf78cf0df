// What all panels share: title, the value under the pointer, and the buttons explain, full screen and save.

import { disclosed } from "./disclosure.js";
import { exact, h, icon, putText } from "./dom.js";
import { createExplanation } from "./explain.js";
import { savedRows } from "./readings/reading.js";
import { remarkIn } from "./remark.js";
import { saving } from "./save.js";
import { createWithheld } from "./withheld.js";

/**
 * What is special about a panel, which its module exports beside its drawing function.
 *
 * @typedef {import("./types.d.ts").Model} Model
 *
 * @typedef {{
 *   tensors?: string[];
 *   difference?: string | import("./difference/from-reading.js").ReadingView;
 *   sides?: "both" | "itself";
 *   unused?: "head" | "head_brief" | "cross" | "neuron";
 *   namesChanges?: boolean;
 *   ofModel?: boolean;
 *   absent?: (model: Model, layer: number) => string | null;
 *   forms?: (model: Model, layer: number) => string[];
 *   only?: (model: Model) => boolean;
 * }} About
 *   `tensors`: of model/trace.py's SHAPES, those that it shows; `difference`: the module of difference/ that draws B
 *   − A in its place; `sides`: it shows both runs beside each other, whatever side is chosen, or draws all three
 *   sides itself; `unused`: that which it shows and a run may not use; `namesChanges`: false where it shows no run,
 *   or lists the changes itself; `ofModel`: it shows no run, but what belongs to a run's model; `absent`: what it
 *   needs and a network does not have, a key of texts' section "absent": that is said in its place (parts.js);
 *   `forms`: which other forms of its subject a network has, the most special first: of its texts, those that end
 *   in _<form> stand where there are such; `only`: whether a network has what the panel is about: without it the
 *   panel is not on the page
 */

/**
 * @typedef {{
 *   head: HTMLElement;
 *   title: HTMLElement;
 *   body: HTMLElement;
 *   subject?: () => string;
 *   text: (name: string, params?: Record<string, unknown>) => string;
 *   tell: (value: string, reading?: string) => void;
 *   show: (reading: import("./readings/reading.js").AnswerReading | null, words: string) => void;
 *   speak: (forms: string[]) => void;
 *   formed: (key: string) => string;
 *   lack: (key: string | null, model: Model) => void;
 *   withheld: () => void;
 *   list: (tensors?: string[]) => void;
 *   offerCode: (tensors: string[]) => void;
 *   instead?: { csv: () => (string | number)[][] } | null;
 * }} Panel
 *   `withheld` says after a drawing whether it lacks an answer (withheld.js); `tell`: the value line, and what is
 *   read out of it; `show`: those of a reading, whose first table is then what a CSV holds, or none of either;
 *   `list` adds tensors to the explanation; `offerCode` a button for the lines that make them; `instead`: what is
 *   saved while something else than the panel's own drawing is shown in it
 */

const ICONS = {
  explain: "M9 9a3 3 0 1 1 4.6 2.5c-1 .7-1.6 1.2-1.6 2.5M12 17.5v.5M12 3a9 9 0 1 0 .01 0",
  code: "M9 7l-5 5 5 5M15 7l5 5-5 5",
  full: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
  save: "M12 4v11M7 11l5 5 5-5M5 20h14",
  more: "M5 12h.01M12 12h.01M19 12h.01",
};

/**
 * @param {keyof typeof ICONS} name the key in texts' section "frame"
 * @param {() => void} act
 */
function button(name, act) {
  return h(
    "button.gp-tool",
    { "data-text-title": `frame.${name}`, "data-text-label": `frame.${name}`, click: act },
    icon(ICONS[name]),
    h("span.gp-tool-name", { "data-text": `frame.${name}`, "aria-hidden": "true" }),
  );
}

/**
 * The button that shows the others on a telephone, where they would take the room of the title.
 *
 * @param {HTMLElement} tools
 */
function moreButton(tools) {
  const more = button("more", () => {
    const open = tools.classList.toggle("is-open");
    more.setAttribute("aria-expanded", String(open));
  });
  more.classList.add("gp-more");
  more.setAttribute("aria-expanded", "false");
  return more;
}

/** @type {WeakMap<HTMLElement, Panel>} */
const panels = new WeakMap();
/**
 * What `frame` built into a section.
 *
 * @param {HTMLElement} element
 */
export const panelOf = (element) => panels.get(element);

/**
 * The value line of a reading: where, and its numbers.
 *
 * @param {Pick<import("./readings/reading.js").AnswerReading, "at" | "values" | "beside" | "digits" | "whole">} reading
 * @returns {string}
 */
export function valueOf({ at, values, beside, digits, whole = [] }) {
  /** @type {(name: string, value: number | string | number[]) => string} */
  const told = (name, value) =>
    Array.isArray(value)
      ? value.map((one) => told(name, one)).join(",")
      : typeof value === "string" || (whole.includes(name) && Number.isInteger(value))
        ? String(value)
        : exact(value, digits);
  const numbers = Object.entries(values).map(([name, value]) => `${name}=${told(name, value)}`);
  return [at, ...numbers, ...(beside ? [valueOf(beside)] : [])].filter(Boolean).join(" ");
}

/**
 * Builds a panel's chrome into its section.
 *
 * @param {HTMLElement} element the section
 * @param {import("./types.d.ts").Glass} glass
 * @param {string} kind
 * @param {{
 *   csv?: () => (string | number)[][];
 *   svg?: () => SVGElement;
 *   parts?: string[];
 *   pointed?: boolean;
 *   subject?: () => string;
 * }} options
 *   `csv`, `svg`: as in save.js, the first of what `show` was given unless told; `parts`: which texts the explanation
 *   has; `pointed`: a line under the title reads the value under the pointer; `subject`: what is saved is of, in
 *   one line, where that is no run but what a reader asked
 * @returns {Panel}
 */
export function frame(element, glass, kind, { svg, csv, subject, parts = ["what", "formula"], pointed = true }) {
  /** @type {import("./readings/reading.js").AnswerReading | null} */
  let read = null;
  /** @type {(words: import("./readings/reading.js").Words) => string} */
  const say = (words) => ("key" in words ? glass.text(words.key, words.params) : remarkIn(words, glass.state.language));
  /** @type {Partial<Panel>} */
  const begun = { title: h("h2.gp-title"), body: h("div.gp-body"), subject };
  const panel = /** @type {Panel} */ (begun);
  element.toggleAttribute("data-runless", Boolean(subject)); // a lesson shows no sentence above it
  const readout = h("p.gp-readout");
  const { box, opener, list } = createExplanation(element, glass, kind, parts, button);
  panel.list = list;
  const tools = h("div.gp-tools", null, opener);
  const code = h("div.gp-code", { hidden: "" });
  panel.offerCode = (tensors) => {
    let fill = () => {};
    const shows = () => void (!code.hidden && fill());
    const opened = async () => {
      const { createCode } = await import("./code.js");
      fill = createCode(code, glass, kind, tensors);
      shows();
    };
    opener.after(disclosed(element, code, (act) => button("code", act), opened));
    glass.on("painted", shows);
  };
  if (document.fullscreenEnabled) {
    tools.append(
      button("full", () => (document.fullscreenElement ? document.exitFullscreen() : element.requestFullscreen())),
    );
  }
  const save = saving(button, panel, glass, kind, {
    svg,
    csv: csv ?? (() => (read ? savedRows(read, say) : [])),
  });
  tools.append(save.element, moreButton(tools));
  panel.head = h("header.gp-head", null, h("div.gp-heading", null, panel.title, ...(pointed ? [readout] : [])), tools);
  const missing = h("p.gp-absent", { hidden: "" });
  const withheld = createWithheld(element, glass.text);
  panel.withheld = withheld.show;
  element.append(panel.head, save.trouble, box, code, missing, withheld.line, panel.body);
  /**
   * Says what the network does not have, in place of the drawing; null: it has all.
   *
   * @param {string | null} key
   * @param {Model} model
   */
  panel.lack = (key, model) => {
    element.toggleAttribute("data-absent", key !== null);
    missing.hidden = key === null;
    if (key === null) return;
    panel.title.textContent = glass.text(`absent.${key}_title`);
    missing.textContent = glass.text(`absent.${key}`, { model: model.name });
    panel.tell("", "");
  };
  panels.set(element, panel);
  /** @type {string[]} */
  let forms = [];
  /**
   * The key of a text in the form that is spoken of: glass.text gives a key back that it has no text for.
   *
   * @param {string} key
   */
  const formed = (key) => forms.map((form) => `${key}_${form}`).find((one) => glass.text(one) !== one) ?? key;
  panel.formed = formed;
  panel.text = (name, params) => glass.text(formed(`${kind}.${name}`), params);
  /** Has all texts of the panel speak of a network's own forms; called before each drawing. */
  panel.speak = (wanted) => {
    if (String(wanted) === String(forms)) return;
    forms = wanted;
    for (const [name, attribute, plain] of [
      ["text", "data-text", "plainText"],
      ["textLabel", "data-text-label", "plainLabel"],
    ]) {
      /** @type {NodeListOf<HTMLElement>} */
      const named = element.querySelectorAll(`[${attribute}]`);
      for (const { dataset } of named) dataset[name] = formed((dataset[plain] ??= dataset[name] ?? ""));
    }
    glass.translate(element);
  };
  panel.show = (reading, words) => {
    read = reading;
    panel.tell(reading ? valueOf(reading) : "", words);
  };
  panel.tell = (value, reading) => {
    element.dataset.value = value;
    if (reading !== undefined) putText(readout, reading);
  };
  return panel;
}
