// The address of a view: prompt, language and selection in the part after "#", so that a link brings them back.

import { pairsOf } from "./rotation.js";

/** @typedef {import("./selection.js").Selection} Selection */

/** @type {Record<keyof Selection, string>} what the address calls each part of the selection */
const SHORT = { layer: "layer", head: "head", query: "token", key: "key", pair: "pair", neuron: "neuron" };
const PLACES = /** @type {(keyof Selection)[]} */ (Object.keys(SHORT));
const RUNS = /^(a-|from-|off-|patch$|prefix$|parts$|side$)/; // fields of linked.js
const LONGEST = 100_000; // characters of a panel's setting: as many as a pasted config may have (hf_spec.py)
const SAID = 40; // characters of a wrong value that a message repeats
const ID = /^\d{1,7}$/;

/**
 * @typedef {{ field: string; value: string; expected?: string }} Fault a field of a link that cannot be used as it
 *   is
 */

/**
 * @param {string} hash
 * @returns {{
 *   chapter?: string;
 *   panel?: string;
 *   prompt?: string;
 *   language?: string;
 *   model?: string;
 *   generated: number[];
 *   selection: Partial<Selection>;
 *   settings: Object<string, Object<string, string>>;
 *   runs: boolean;
 *   faults: Fault[];
 * }}
 *   `panel`: the one of the chapter to scroll to; `runs`: whether linked.js finds more; `faults`: numbers that are
 *   none, and are left out
 */
export function readLink(hash) {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  /** @type {Partial<Selection>} */
  const selection = {};
  /** @type {Fault[]} */
  const faults = [];
  for (const name of PLACES) {
    const short = SHORT[name];
    const value = fields.get(short);
    if (value === null) continue;
    if (/^\d{1,6}$/.test(value)) selection[name] = Number(value);
    else faults.push({ field: short, value: value.slice(0, SAID) });
  }
  /** @type {Object<string, Object<string, string>>} */
  const settings = {};
  for (const [field, value] of fields) {
    const [, name, key] = /^([a-z]+(?:-[a-z]+)*)\.([a-z_]+)$/.exec(field) ?? [];
    if (!name || value.length > LONGEST) continue;
    if (!Object.hasOwn(settings, name)) settings[name] = {};
    settings[name][key] = value;
  }
  const ids = (fields.get("more") || null)?.split(".") ?? [];
  const generated = ids.filter((id) => ID.test(id)).map(Number);
  const bad = ids.find((id) => !ID.test(id));
  if (bad !== undefined) faults.push({ field: "more", value: bad.slice(0, SAID) });
  /** @param {string} name */
  const optional = (name) => fields.get(name) ?? undefined;
  return {
    chapter: optional("chapter"),
    ...(fields.has("panel") && { panel: optional("panel") }),
    prompt: optional("prompt"),
    language: optional("lang"),
    model: optional("model"),
    generated,
    selection,
    settings,
    faults,
    runs: [...fields.keys()].some((name) => RUNS.test(name)),
  };
}

/**
 * @typedef {Pick<import("./messages.d.ts").ModelMessage, "n_layers" | "n_heads" | "vocab_size"> & {
 *   parts: { rotary: { inv_freq: { shape: number[] } } | null; ffn: { neurons: number }[] };
 * }} Counts
 *   of a network, as a run or a message has them
 */

/**
 * What the link asks for and the run that it brought does not have.
 *
 * @param {ReturnType<typeof readLink>} link
 * @param {{ model: Counts; T: number }} trace
 * @returns {Fault[]}
 */
export function outside({ selection, generated }, { model, T }) {
  const layer = Math.min(selection.layer ?? 0, model.n_layers - 1);
  /** @type {Record<keyof Selection, number>} */
  const counts = {
    layer: model.n_layers,
    head: model.n_heads,
    query: T,
    key: T,
    pair: Math.max(1, pairsOf(model)),
    neuron: model.parts.ffn[layer].neurons,
  };
  /** @type {(field: string, value: unknown, count: number) => Fault} */
  const fault = (field, value, count) => ({ field, value: String(value), expected: `0–${count - 1}` });
  const beyond = PLACES.filter((name) => (selection[name] ?? -1) >= counts[name]);
  const unknown = generated.find((id) => id >= model.vocab_size);
  return [
    ...beyond.map((name) => fault(SHORT[name], selection[name], counts[name])),
    ...(unknown === undefined ? [] : [fault("more", unknown, model.vocab_size)]),
  ];
}

/**
 * @param {{
 *   chapter?: string;
 *   prompt?: string;
 *   language?: string;
 *   model?: string;
 *   generated?: number[];
 *   selection?: Partial<Selection>;
 *   settings?: Record<string, Record<string, string>>;
 *   more?: [string, string][];
 * }} view
 *   `more`: the fields of linked.js
 * @returns {string} the hash that readLink reads back
 */
export function writeLink({
  chapter,
  prompt,
  language,
  model,
  generated = [],
  selection = {},
  settings = {},
  more = [],
}) {
  const fields = new URLSearchParams();
  if (language) fields.set("lang", language);
  if (model) fields.set("model", model);
  if (chapter) fields.set("chapter", chapter);
  for (const name of PLACES) {
    const place = selection[name] ?? null;
    if (place !== null) fields.set(SHORT[name], String(place));
  }
  for (const [name, values] of Object.entries(settings)) {
    for (const [key, value] of Object.entries(values)) fields.set(`${name}.${key}`, value);
  }
  if (prompt !== undefined) fields.set("prompt", prompt);
  if (generated.length) fields.set("more", generated.join("."));
  for (const [name, value] of more) fields.set(name, value);
  return `#${fields}`;
}
