// Of which settings the shown figures still are, while the calculator's present ones are refused: all that they depend
// on.

import { nameOf, whole } from "./format.js";
import { asNumber, modelOf, NAMES, sharesOf } from "./question.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("./question.js").Settings} Settings
 */

const SHARES = ["tp", "pp", "dcp"];
/** Settings that are said by themselves. */
const SAID = ["model", "tokens", "batch", "dtype", "config", "config_name", "hub", ...SHARES];

/**
 * A setting under its name, such as "Tokens per page 16".
 *
 * @param {Pick<Glass, "text">} glass
 * @param {string} name
 * @param {string} value
 */
function settingText(glass, name, value) {
  const label = glass.text(`kv.field_${name}`);
  if (name === "mtp") return label;
  const [number, choice] = [asNumber(value), glass.text(`kv.choice_${value}`)];
  const said = typeof number === "number" ? whole(number) : choice.startsWith("kv.") ? value : choice;
  return `${label}${glass.text("marks.colon")}${said}`;
}

/**
 * The settings of the last good answer in words, "" before there is one. A config pasted before the present one,
 * which is refused, is said to be that, since both may have one name.
 *
 * @param {Pick<Glass, "text">} glass
 * @param {Pick<import("./question.js").Asked, "answer" | "answered" | "settings">} asked
 */
export function keptText(glass, { answer, answered, settings }) {
  if (!answer) return "";
  const given = answered ?? {};
  const name = nameOf(glass, answer.model);
  const isOther =
    settings.model === ":config" && answered?.model === ":config" && modelOf(answered) !== modelOf(settings);
  const { tokens, batch, dtype } = answer;
  const main = glass.text("kv-calculator.settings", {
    model: isOther ? glass.text("kv-calculator.config_before", { name }) : name,
    tokens: whole(tokens),
    batch: whole(batch),
    dtype,
  });
  const others = NAMES.filter((one) => !SAID.includes(one) && given[one]);
  const parts = [main, ...sharesOf(answered, SHARES), ...others.map((one) => settingText(glass, one, given[one]))];
  return parts.join(glass.text("kv.list_comma"));
}
