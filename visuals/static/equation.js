// Equations as they are read: whoever works one out with the digits that are printed gets the result that is printed.
// Pure: no DOM, no store.

import { fixed, RAISED, shown } from "./dom.js";

/**
 * One equation: the name of the result, those of its operands in order, and what is done with them. Constants that
 * are printed in full need no name.
 *
 * @template {string} Name
 * @typedef {[result: Name, operands: Name[], by: (...operands: number[]) => number]} Step
 */

/**
 * How a number is printed: with so many digits to begin with, at most with so many, and by which function.
 *
 * @typedef {{ digits?: number; most?: number; write?: (x: number, digits: number) => string }} Way
 */

const USUAL = 5; // digits of a number in a formula
const MORE = 5; // so many digits more an operand may have than it begins with
const LEAST = 1;

const LOWERED = Object.fromEntries(Object.entries(RAISED).map(([sign, raised]) => [raised, sign]));

/**
 * The number that a text prints: with a real minus sign, a power of ten, thousands, or in per cent.
 *
 * @param {string} text
 */
export function printedNumber(text) {
  const [mantissa, power = ""] = text.replace("−", "-").replaceAll(",", "").split("×10");
  const number = parseFloat(`${parseFloat(mantissa)}e${[...power].map((sign) => LOWERED[sign] ?? "").join("") || 0}`);
  return text.endsWith("%") ? number / 100 : number;
}

/**
 * The texts of quantities that stand in equations with each other, each of them printed alike wherever it stands.
 * As long as an equation does not come out, its operands have a digit more; where that does not help, since the run
 * itself has rounded, its result has one fewer, and all others begin again. An equation with NaN in it is none.
 * Numbers of one list have as many decimals as the one among them that needs most.
 *
 * @template {string} Name
 * @param {Record<Name, number>} values
 * @param {Step<NoInfer<Name>>[]} steps
 * @param {Way & { of?: { [name in NoInfer<Name>]?: Way }; lists?: NoInfer<Name>[][] }} [how] of all, and of some by
 *   name; `lists`: of which names
 * @returns {Record<Name, string>}
 */
export function writtenOut(values, steps, { of = {}, lists = [], ...all } = {}) {
  /** @type {Record<string, Required<Way> & { first: number }>} */
  const ways = {}; // `first`: the digits that it begins with
  const names = /** @type {Name[]} */ (Object.keys(values));
  for (const name of names) {
    const { digits = USUAL, write = shown, most = digits + MORE } = { ...all, ...of[name] };
    ways[name] = { digits, write, most, first: digits };
  }
  /** @type {(name: Name, value?: number) => string} */
  const alone = (name, value = values[name]) => ways[name].write(value, ways[name].digits);
  const listOf = (/** @type {Name} */ name) => lists.find((list) => list.includes(name));
  /** @type {(name: Name, value?: number) => string} */
  function text(name, value = values[name]) {
    const [own, list] = [alone(name, value), listOf(name)];
    if (!list || !isPlain(own)) return own;
    const written = list.map((one) => alone(one)).filter(isPlain);
    return fixed(value, Math.max(0, ...written.map(decimalsIn))).replace("-", "−");
  }
  /** @param {Step<Name>} step */
  function comesOut([result, operands, by]) {
    const isKnown = [result, ...operands].every((name) => Number.isFinite(values[name]));
    return !isKnown || text(result, by(...operands.map((name) => printedNumber(text(name))))) === text(result);
  }
  for (let step = steps.find((one) => !comesOut(one)); step; step = steps.find((one) => !comesOut(one))) {
    const [result, operands] = step;
    const raised = operands.filter((name) => ways[name].digits < ways[name].most);
    for (const name of raised) ways[name].digits++;
    if (raised.length) continue;
    if (ways[result].digits <= LEAST) break;
    const fewer = ways[result].digits - 1;
    for (const name of listOf(result) ?? [result])
      ways[name].most = Math.max(LEAST, Math.min(ways[name].digits, fewer)); // from now on
    for (const way of Object.values(ways)) way.digits = Math.min(way.first, way.most); // fewer may do for fewer
  }
  return /** @type {Record<Name, string>} */ (Object.fromEntries(names.map((name) => [name, text(name)])));
}

/** With brackets where it is negative, as a factor or what is taken off. @param {string} text */
export const bracketed = (text) => (text.startsWith("−") ? `(${text})` : text);

/** With its sign, also where that is plus. @param {string} text */
export const withSign = (text) => (printedNumber(text) > 0 ? `+${text}` : text);

/** How many decimals a number as printed has; NaN where a power of ten stands behind it. @param {string} text */
export const decimalsIn = (text) => (text.includes("×") ? NaN : (text.split(".")[1]?.length ?? 0));

/** Whether a text is a number without a power of ten: "–" is none. @param {string} text */
const isPlain = (text) => /\d/.test(text) && !text.includes("×");

/** As it stands after another term: its sign as the operator. @param {string} text */
export const added = (text) => (text.startsWith("−") ? `− ${text.slice(1)}` : `+ ${text}`);
