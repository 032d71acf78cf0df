// What the server found wrong with a setting, in the reader's language, with the field's name as the page writes it.

import { nameOf } from "./format.js";

const MOST = 8; // names that are listed; of more only the first few, since the message stands in a narrow column
const FEW = 4;

/**
 * What would be right: its text with its particulars; else the names that the server lists.
 *
 * @param {Function} said
 * @param {{ expected?: string | string[]; expected_code?: string; expected_params?: object }} trouble
 */
function expectedText(said, { expected, expected_code: code, expected_params: params }) {
  const names = code?.startsWith("one_of") ? params.names.split(", ") : [];
  const [key, told] =
    names.length > MOST
      ? [`many_${code}`, { ...params, names: names.slice(0, FEW).join(", "), count: names.length }]
      : [`expected_${code}`, params];
  return (code && said(`kv.${key}`, told)) || [expected].flat().join(", ");
}

/** What was wrong with a config.json; its fields keep their names. */
function configText(said, params) {
  const { field, value, problem, reason, names = "", file = "config.json" } = params;
  if (reason) {
    const count = names.split(", ").length; // they stand below the box themselves: settings-form.js
    const slug = problem?.toLowerCase().replace(/\W+/g, "_").replace(/^_|_$/g, "");
    return said(`kv.config_${reason}`, { count, problem: (slug && said(`kv.json_${slug}`)) ?? problem });
  }
  const named = { field: said(`kv.config_${field}`) ?? field, file, value, expected: expectedText(said, params) };
  return said(value === null ? "kv.config_missing" : "kv.config_wrong", named);
}

/**
 * While the calculator's settings are refused, of which ones the shown numbers still are; where none were ever
 * good, why there is nothing to show; else "".
 *
 * @param asked what question() gives
 */
export function staleText(glass, { trouble, answer }) {
  if (!trouble) return "";
  if (!answer) return glass.text("kv.unanswered", { reason: troubleText(glass, trouble) });
  return glass.text("kv.stale", { model: nameOf(glass, answer.model), dtype: answer.dtype });
}

/** Particulars with a pasted config's name in the reader's language. */
function named(glass, params) {
  const one = (value) => (typeof value === "string" ? nameOf(glass, value) : value);
  const all = (values) => Object.fromEntries(Object.entries(values).map(([name, value]) => [name, one(value)]));
  return params.expected_params ? { ...all(params), expected_params: all(params.expected_params) } : all(params);
}

/** No blank stands between two Chinese characters, where a text's place for a number holds words. */
const tight = (text) => text.replace(/(?<=\p{Script=Han}) (?=\p{Script=Han})/gu, "");

/**
 * @param {import("../../types.d.ts").Glass} glass
 * @param {{ code: string; params: object }} message
 * @returns {string}
 */
export function troubleText(glass, { code, params: given }) {
  const params = named(glass, given);
  const said = (key, more = {}) => {
    const text = glass.text(key, { ...params, ...more });
    return text === key ? null : tight(text);
  };
  const hub = code === "hub" && params.reason && said(`kv.hub_${params.reason}`);
  if (hub) return hub;
  if (code === "hf_config" && (params.reason || params.expected)) return configText(said, params);
  const name = params.field && (said(`kv.field_${params.field}`) ?? params.field);
  if (name && params.expected !== undefined)
    return said("kv.wrong_value", { field: name, expected: expectedText(said, params) });
  return said(`message.${code}`) ?? params.detail ?? code;
}
