// What the calculators are asked: one set of settings for all of them, kept in the link, answered by the server.

import { linkedState } from "../../settings.js";
import { createAsker } from "./asking.js";

/**
 * @typedef {Record<string, string>} Settings
 *
 * @typedef {import("../../decoded.d.ts").Calculation<"kv">} Answer
 *
 * @typedef {import("../../decoded.d.ts").Calculation<"kv_models">} Catalogue
 *
 * @typedef {Pick<import("../../types.d.ts").Glass, "settings" | "repaint" | "on" | "calculate">} Core
 *
 * @typedef {object} Known what the panels of the chapter know of the question; null until it has come
 * @property {Settings | null} answered the settings that `answer` is of: the other panels go by them, so that the
 *   numbers come first
 * @property {Answer | null} answer the last good one
 * @property {import("../../types.d.ts").Refusal | null} trouble
 * @property {Catalogue | null} catalogue
 * @property {{ along: string; values: number[] } | null} sliding the slider that a hand is near, and its values
 *
 * @typedef {Known & {
 *   settings: Settings;
 *   set: (change: Settings) => void;
 *   near: (along: string, values: number[]) => void;
 * }} Asked
 *   `set` changes settings, keeps them in the link, and asks; `near` fetches the answers at all places of a slider,
 *   for when it moves
 */

/** @type {Settings} */
export const FIRST = { model: "Llama-3 8B", tokens: "8192", batch: "1", dtype: "bf16" };
/** Settings that are numbers; what a reader typed is sent as it is where it is none, so that the server can say so. */
const COUNTS = [
  "tokens",
  "batch",
  "tp",
  "pp",
  "block_size",
  "shared_prefix",
  "shared_layers",
  "encoder_tokens",
  "batched_tokens",
  "reserved_tokens",
  "reserved_batch",
  "prompt_tokens",
  "n_kv_heads",
  "dcp",
];
// the last seven: of fit-state.js
const NUMBERS = new Set([
  ...COUNTS,
  "users",
  "user_tokens",
  "memory_gb",
  "bandwidth_gb_per_s",
  "step_tokens",
  "context_mib",
  "fragmentation_mib",
]);

/** The calculator's own settings. */
export const NAMES = [
  "model",
  "dtype",
  "config",
  "config_name",
  "hub",
  "window",
  "layout",
  "indexer",
  "state",
  "mtp",
  "draft",
  ...COUNTS,
];

/** A number in digits alone, or in groups of three with one and the same separator, and what a letter makes of it. */
const NUMBER = /^(-?\d{1,15}|-?\d{1,3}(?:([,_\s])\d{3}(?:\2\d{3}){0,3})?)(\.\d{1,6})?(?:\s?([km]))?$/i;
/** @type {Record<string, number>} */
const TIMES = { "": 1, k: 1024, m: 1024 ** 2 };

/**
 * A number as it was typed: separators stand between groups of three, K is 1,024 and M 1,048,576, also of a part,
 * as in 1.5k; what is no whole number stays a text.
 *
 * @param {string} text
 */
export function asNumber(text) {
  const [, digits, , part = "", letter = ""] = text.normalize("NFKC").trim().match(NUMBER) ?? [];
  if (digits === undefined || (part && !letter)) return text;
  const number = Number(digits.replace(/[,_\s]/g, "") + part) * TIMES[letter.toLowerCase()];
  return Number.isSafeInteger(number) ? number : text;
}

/**
 * A percentage as it was typed, such as 92.5 or "92.5 %"; up to 1 it is a share, as vLLM's flag has it, unless it
 * has its sign, which the server reads too. What is no whole number from 2 on stays a text, so that no digit is
 * lost; a comma stays, too, since it may be a decimal one.
 *
 * @param {string} text
 */
export function asPercent(text) {
  const written = text.normalize("NFKC").replace(/\s/g, "");
  const plain = written.replace(/%$/, "");
  if (!(Number(plain) >= 2)) return written;
  return /^\d{1,3}$/.test(plain) ? Number(plain) : plain;
}

/**
 * The per cent that a percentage stands for, as a number to compare.
 *
 * @param {string} text
 */
export function percentOf(text) {
  const written = String(asPercent(text));
  const number = Number(written.replace(/%$/, ""));
  return number <= 1 && !written.endsWith("%") ? Number((100 * number).toFixed(6)) : number;
}

/**
 * How work is shared out, such as ["TP 2"]: of each of these settings its count, where that is not 1.
 *
 * @param {Record<string, string> | null} settings that were answered
 * @param {string[]} names
 */
export const sharesOf = (settings, names) =>
  names.flatMap((name) => {
    const ranks = String(asNumber(settings?.[name] || "1"));
    return ranks === "1" ? [] : [`${name.toUpperCase()} ${ranks}`];
  });

/**
 * Which model is asked about, as one text.
 *
 * @param {Settings} settings
 */
export const modelOf = ({ model, config = "", hub = "" }) => JSON.stringify([model, config, hub]);

/** How many bytes each unit is, by its name in small letters. @type {Record<string, number>} */
const UNITS = {
  "": 1,
  b: 1,
  ...Object.fromEntries(
    ["k", "m", "g", "t"].flatMap((letter, i) => [
      [`${letter}b`, 1000 ** (i + 1)],
      ...["", "i", "ib"].map((end) => [letter + end, 1024 ** (i + 1)]), // "42G" as ls -lh and du -h print it
    ]),
  ),
};

/**
 * Bytes as they were typed: a whole number, or a size with its unit, GB of 10⁹ and GiB of 2³⁰ bytes, also within a
 * line such as "file size = 39.59 GiB (4.82 BPW)"; what is none stays a text, and so does a part of a byte, as
 * "39.6" without its unit would be.
 *
 * @param {string} text
 */
export function asBytes(text) {
  const plain = text
    .normalize("NFKC")
    .replace(/(\d)[,_](?=\d{3}(?!\d))/g, "$1")
    .trim();
  const [, size, unit] =
    plain.match(/^(?:.*\b(?:file|model) size\s*=\s*)?(\d{1,15}(?:\.\d{1,9})?)\s*([kmgt]i?b?|b)?(?:\s*\([^)]*\))?$/i) ??
    [];
  const bytes = UNITS[(unit ?? "").toLowerCase()];
  if (size === undefined || bytes === undefined) return asNumber(text);
  return bytes === 1 && !Number.isInteger(Number(size)) ? text : Math.round(Number(size) * bytes);
}

/** What no question goes without: empty, it is sent so, and refused by its name. */
const NEEDED = new Set([
  "tokens",
  "batch",
  "users",
  "user_tokens",
  "usable_percent",
  "memory_gb",
  "bandwidth_gb_per_s",
  "context_mib",
  "fragmentation_mib",
]);

/**
 * The settings as a request: other empty ones left out, numbers as numbers.
 *
 * @param {Settings} settings
 * @returns {Record<string, string | number | boolean>}
 */
export function requestOf(settings) {
  const given = Object.entries(settings).filter(([name, value]) => value !== "" || NEEDED.has(name));
  return Object.fromEntries(
    given.map(([name, value]) => {
      if (name === "mtp" || name === "vllm") return [name, true];
      if (name === "weight_bytes") return [name, asBytes(value)];
      if (name === "usable_percent") return [name, asPercent(value)];
      return [name, NUMBERS.has(name) ? asNumber(value) : value];
    }),
  );
}

/**
 * The settings without the config and the Hub's id that belong to a model that is not the chosen one: they stay in
 * their boxes, and in no link.
 *
 * @param {Settings} settings
 * @returns {Settings}
 */
function ofModel({ config = "", config_name = "", hub = "", ...settings }) {
  if (settings.model === ":config") return { ...settings, config, config_name };
  return settings.model === ":hub" ? { ...settings, hub } : settings;
}

/** @type {Asked | null} */
let shared = null;

/**
 * The question that all panels of the chapter share.
 *
 * @param {Core} glass
 * @returns {Asked}
 */
export function question(glass) {
  shared ??= createQuestion(glass);
  return shared;
}

/**
 * As `question`, a new one.
 *
 * @param {Core} glass
 * @returns {Asked}
 */
export function createQuestion(glass) {
  /** @type {Known} */
  const known = { answered: null, answer: null, trouble: null, catalogue: null, sliding: null };
  const { state, set } = linkedState(glass, "kv", FIRST, known, { names: NAMES, kept: ofModel });
  const asker = createAsker(glass, "kv", ({ data, message = null }, /** @type {Settings} */ settings) => {
    if (data) Object.assign(state, { answer: data, answered: settings, trouble: null });
    else state.trouble = message; // the last good answer stays
  });
  /** @type {Settings | null} the settings that were asked about last */
  let asked = null;
  function ask() {
    asked = state.settings;
    asker.ask(requestOf(asked), asked);
  }

  const whole = Object.assign(state, {
    /** @type {Asked["set"]} */
    set(change) {
      set(change);
      ask();
    },
    /** @type {Asked["near"]} */
    near(along, values) {
      state.sliding = { along, values };
      asker.near(requestOf(state.settings), along, values);
    },
  });

  glass.on?.("restored", () => {
    if (state.settings !== asked) ask();
  });
  glass.calculate("kv_models").then(({ data, message }) => {
    Object.assign(state, data ? { catalogue: data } : { trouble: message });
  });
  ask();
  return whole;
}
