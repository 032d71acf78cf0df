// What the server found wrong with a setting, in the reader's language, with the field's name as the page writes it.

import { nameOf } from "./format.js";
import { keptText } from "./kept.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {Record<string, unknown>} Params particulars of what is wrong
 *
 * @typedef {(key: string, more?: Params) => string | null} Said a text with the particulars; null where there is
 *   none
 */

const MOST = 8; // names that are listed; of more only the first few, since the message stands in a narrow column
const FEW = 4;

/**
 * @param {unknown} value
 * @returns {value is Params}
 */
const isParams = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * A particular that is a text; "" for any other.
 *
 * @param {unknown} value
 */
const textIn = (value) => (typeof value === "string" ? value : "");

/**
 * A size that was typed without its unit, such as 39.6; "" for all else.
 *
 * @param {unknown} value as the server quotes it
 */
const unitless = (value) => textIn(value).match(/^'(\d+\.\d+)'$/)?.[1] ?? "";

/**
 * What would be right: its text with its particulars; else the names that the server lists.
 *
 * @param {Said} said
 * @param {Params} trouble
 */
function expectedText(said, { field, value, expected, expected_code: code, expected_params: given }) {
  const params = isParams(given) ? given : {};
  // the page itself turns a size with its unit into bytes
  const size = field === "weight_bytes" && said("kv-fit.expected_size", params);
  if (size) return (unitless(value) && said("kv-fit.unitless", { value: unitless(value), size })) || size;
  const names = textIn(code).startsWith("one_of") ? textIn(params.names).split(", ") : [];
  const [key, told] =
    names.length > MOST
      ? [`many_${code}`, { ...params, names: names.slice(0, FEW).join(", "), count: names.length }]
      : [`expected_${code}`, params];
  return (code && said(`kv.${key}`, told)) || [expected].flat().join(", ");
}

/**
 * What was wrong with a config.json; its fields keep their names.
 *
 * @param {Said} said
 * @param {Params} params
 */
function configText(said, params) {
  const { field, value, problem, reason, near, file = "config.json" } = params;
  if (reason) {
    const count = textIn(params.names).split(", ").length; // they stand below the box themselves: settings-form.js
    const slug = textIn(problem).toLowerCase().replace(/\W+/g, "_").replace(/^_|_$/g, "");
    return said(`kv.config_${reason}`, { count, problem: (slug && said(`kv.json_${slug}`)) || problem });
  }
  const named = { field: said(`kv.config_${field}`) ?? field, file, value, near, expected: expectedText(said, params) };
  if (value !== null) return said("kv.config_wrong", named);
  return said(near ? "kv.config_missing_near" : "kv.config_missing", named);
}

/**
 * Everything that is wrong with a config.json, a line for each field; of what the cache does not need, it says so.
 *
 * @param {Said} said
 * @param {unknown[]} faults
 */
const faultsText = (said, faults) =>
  faults
    .filter(isParams)
    .map((one) => (one.spare ? said("kv.config_spare", { fault: configText(said, one) }) : configText(said, one)))
    .join("\n");

/**
 * While the calculator's settings are refused, of which ones the shown numbers still are; where none were ever
 * good, why there is nothing to show; else "".
 *
 * @param {Glass} glass
 * @param {Pick<import("./question.js").Asked, "trouble" | "answer" | "answered" | "settings">} asked
 */
export function staleText(glass, asked) {
  const { trouble, answer } = asked;
  if (!trouble) return "";
  if (!answer) return glass.text("kv.unanswered", { reason: troubleText(glass, trouble) });
  return glass.text("kv.stale", { settings: keptText(glass, asked) });
}

/**
 * Particulars with a pasted config's name in the reader's language.
 *
 * @param {Pick<Glass, "text">} glass
 * @param {Params} params
 * @returns {Params}
 */
function named(glass, params) {
  const one = (/** @type {unknown} */ value) => (typeof value === "string" ? nameOf(glass, value) : value);
  const all = (/** @type {Params} */ values) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, one(value)]));
  const { expected_params: expected } = params;
  return isParams(expected) ? { ...all(params), expected_params: all(expected) } : all(params);
}

/**
 * No blank stands between two Chinese characters, where a text's place for a number holds words.
 *
 * @param {string} text
 */
const tight = (text) => text.replace(/(?<=\p{Script=Han}) (?=\p{Script=Han})/gu, "");

/**
 * What the server says is wrong.
 *
 * @param {Pick<Glass, "text">} glass
 * @param {{ code: string; params: Params }} message
 * @returns {string}
 */
export function troubleText(glass, { code, params: given }) {
  const params = named(glass, given);
  /** @type {Said} */
  const said = (key, more = {}) => {
    const text = glass.text(key, { ...params, ...more });
    return text === key ? null : tight(text);
  };
  const hub = code === "hub" && params.reason ? said(`kv.hub_${params.reason}`) : null;
  if (hub) return hub;
  if (code === "unstated" && Array.isArray(params.faults))
    return `${said("kv.unstated")}\n${faultsText(said, params.faults)}`;
  if (code === "hf_config" && Array.isArray(params.faults)) return faultsText(said, params.faults);
  const config = code === "hf_config" && (params.reason || params.expected) ? configText(said, params) : null;
  if (config) return config;
  const field = textIn(params.field);
  const name = field && (said(`kv.field_${field}`) ?? field);
  const wrong =
    name && params.expected !== undefined
      ? said("kv.wrong_value", { field: name, expected: expectedText(said, params) })
      : null;
  return wrong ?? said(`message.${code}`) ?? (textIn(params.detail) || code);
}
