// The page's words in the chosen language. Tables are app/en.json and app/zh.json; every panel asks here. The sections
// of panels that only open on demand are in tables of their own, fetched with the first such panel.

import { brief, putText } from "./dom.js";
import { reactive } from "./reads.js";

/**
 * @typedef {Object<string, Object<string, string>>} Table texts by section and name, with {placeholders}; of
 *   {count|token|tokens} the first word stands where count is 1, else the second; for {part@where} stands another
 *   text, the one of section "where" that part names; of {touch|Tap|Point at} the first where a finger points
 */
/**
 * Value lines, the calculators, a number beside the sum that gives it, and the story, which has chosen its digits
 * (equation.js): what is pointed at, or worked out, is said with all the digits that it has.
 */
const EXACTLY = [
  "story\\.",
  "why\\.matching",
  "rope-derivation\\.angle$",
  "rope-score\\.pair_line$",
  "b_minus_a\\.number$",
];
const EXACT = new RegExp(`\\.read|\\.in_run$|^kv(?!-live)[.-]|^(${EXACTLY.join("|")})`);
/** Numbers, with what stands between them and a unit or without: a reader's own words keep theirs as written. */
const NUMBERS = /^(?:\P{L}|[ei])*(?:\p{L}{1,6})?$/u;
/** A place to be filled in, with the spaces around it. */
const PLACE = /( ?)\{(\w+)(?:@(\w+)|\|([^|}]*)\|([^|}]*))?\}( ?)/g;
/** Whether a finger points: what a text asks of a mouse, it asks of a finger there in other words. */
const FINGER = globalThis.matchMedia?.("(hover: none)");
const touch = () => (FINGER?.matches ? "1" : "0");
/**
 * What a text in Chinese puts no space between: its own signs and full-width marks; and all after a closing
 * bracket.
 */
const WIDE = "[\\p{Script=Han}，。、；：？！（）《》「」『』【】]";
const [WIDE_START, WIDE_END, BRACKET_END] = [`^${WIDE}`, `${WIDE}$`, "[）》」』】]$"].map(
  (one) => new RegExp(one, "u"),
);
const [HAN_START, HAN_END] = [/^\p{Script=Han}/u, /\p{Script=Han}$/u];

/**
 * Whether a space that a text has after a place stays there once the place is filled in.
 *
 * @param {string} value what it is filled in with
 * @param {string} next what the text goes on with
 */
export const isSpaced = (value, next) => !BRACKET_END.test(value) && !(WIDE_END.test(value) && WIDE_START.test(next));

/**
 * The space that Chinese has between a number and a character beside it, where one of them was filled in.
 *
 * @param {string} before
 * @param {string} after
 */
export const spaceBetween = (before, after) => {
  const isApart = (/\d$/.test(before) && HAN_START.test(after)) || (HAN_END.test(before) && /^\d/.test(after));
  return isApart ? " " : "";
};

/**
 * @param {Table | undefined} table
 * @param {string} key "section.name"
 * @param {Record<string, any>} [params]
 * @returns {string}
 */
export function lookUp(table, key, params = {}) {
  const dot = key.indexOf(".");
  /** @type {<Value>(of: Record<string, Value> | undefined, name: string) => Value | undefined} */
  const own = (of, name) => (of && Object.hasOwn(of, name) ? of[name] : undefined);
  const template = own(own(table, key.slice(0, dot)), key.slice(dot + 1));
  if (template === undefined) return key;
  /** @type {(name: string, section?: string, one?: string, several?: string) => string} */
  const valueOf = (name, section, one, several) => {
    if (section) return lookUp(table, `${section}.${params[name]}`, params);
    const value = String(params[name] ?? (name === "touch" ? touch() : undefined));
    return (value === "1" ? one : several) ?? (EXACT.test(key) || !NUMBERS.test(value) ? value : brief(value));
  };
  /** @type {(...found: any[]) => string} */
  const filled = (whole, before, name, section, one, several, after, at) => {
    if (name !== "touch" && !Object.hasOwn(params, name)) return whole;
    const value = valueOf(name, section, one, several);
    const [last, next] = [template.slice(0, at), template.slice(at + whole.length)];
    const opens = WIDE_START.test(value) && WIDE_END.test(last);
    const [start, end] = [before || spaceBetween(last, value), after || spaceBetween(value, next)];
    return (opens ? "" : start) + value + (isSpaced(value, next) ? end : "");
  };
  return template.replace(PLACE, filled);
}

/**
 * @param {Object<string, string>} addresses where each language's table is, by language code
 * @param {Object<string, string>} [onDemand] where the sections are that the first table lacks
 * @returns texts: load(code), need(section), text(key, params), translate(root)
 */
export function createTexts(addresses, onDemand = {}) {
  /** @type {Record<string, Table>} */
  const tables = {};
  /** @type {Map<string, Promise<void>>} */
  const further = new Map();
  const now = reactive({ language: "en" });

  /** @param {string} code */
  async function add(code) {
    Object.assign(tables[code], await (await fetch(onDemand[code])).json());
  }

  /**
   * Both tables of a language. What did not come is asked for again the next time.
   *
   * @param {string} code
   * @returns {Promise<void>}
   */
  function whole(code) {
    const known = further.get(code);
    if (known || !Object.hasOwn(onDemand, code)) return known ?? Promise.resolve();
    const added = add(code).catch((error) => {
      further.delete(code);
      throw error;
    });
    further.set(code, added);
    return added;
  }

  /**
   * @param {string} code of a language
   * @returns {Promise<boolean>} whether there is one
   */
  async function load(code) {
    if (!Object.hasOwn(addresses, code)) return false;
    tables[code] ??= await (await fetch(addresses[code])).json();
    if (further.size) await whole(code); // a panel is open that needs it
    now.language = code;
    return true;
  }

  /**
   * Makes sure of a section's texts.
   *
   * @param {string} section
   */
  async function need(section) {
    if (!Object.hasOwn(tables[now.language], section)) await whole(now.language);
  }

  /** @type {(key: string, params?: Record<string, any>) => string} */
  const text = (key, params) => lookUp(tables[now.language], key, params);

  /**
   * Fills elements that name their text: data-text, data-text-title (a tooltip), data-text-label (aria-label),
   * data-text-placeholder (of a field), data-text-head (a cell's column head, where rows are stacked).
   *
   * @param {ParentNode} root
   */
  function translate(root) {
    /** @type {(attribute: string) => NodeListOf<HTMLElement>} */
    const named = (attribute) => root.querySelectorAll(`[${attribute}]`);
    for (const element of named("data-text")) putText(element, text(element.dataset.text ?? ""));
    for (const element of named("data-text-title")) element.title = text(element.dataset.textTitle ?? "");
    for (const element of named("data-text-label")) {
      element.setAttribute("aria-label", text(element.dataset.textLabel ?? ""));
    }
    for (const element of named("data-text-head")) element.dataset.head = text(element.dataset.textHead ?? "");
    for (const element of named("data-text-placeholder"))
      element.setAttribute("placeholder", text(element.dataset.textPlaceholder ?? ""));
  }

  return { load, need, text, translate };
}
