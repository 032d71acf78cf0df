// An example log is of a model, a context and a format: the calculator is set to them, and can be set back.

import { html, nothing } from "../../vendor/lit-html.js";
import { whole } from "./format.js";
import { FIRST } from "./question.js";

/**
 * @typedef {import("./log-examples.js").Example} Example
 *
 * @typedef {{ settings: Record<string, string>; set: (change: Record<string, string>) => void }} Calculator
 *
 * @typedef {object} Taken
 * @property {Example} example
 * @property {Record<string, string>} before the calculator's settings
 */

/** Texts of the reader's own, which no example takes away. */
const KEPT = ["config", "config_name", "hub"];

/**
 * Every setting of the calculator as an example has it: what the example does not name is left as the formula has
 * it.
 *
 * @param {Record<string, string>} settings
 * @param {Example["of"]} of
 * @returns {Record<string, string>}
 */
export function settingsOf(settings, of) {
  const names = Object.keys(settings).filter((name) => !KEPT.includes(name));
  /** @type {Record<string, string>} */
  const first = FIRST;
  return { ...Object.fromEntries(names.map((name) => [name, first[name] ?? ""])), ...of };
}

/**
 * Sets the calculator to what the example's log is of. Where it still is as the example before set it, the way back
 * leads to what was before both.
 *
 * @param {Calculator} calculator
 * @param {Example} example
 * @param {Taken | null} last
 * @returns {Taken}
 */
export function take(calculator, example, last) {
  const { settings } = calculator;
  const untouched =
    last && Object.entries(settingsOf(settings, last.example.of)).every(([name, value]) => settings[name] === value);
  const before = untouched ? last.before : { ...settings };
  calculator.set(settingsOf(settings, example.of));
  return { example, before };
}

/**
 * What the calculator was set to, and the way back.
 *
 * @param {Taken | null} taken
 * @param {(name: string, params?: Record<string, unknown>) => string} text of the panel
 * @param {() => void} back
 */
export function takenView(taken, text, back) {
  if (!taken) return nothing;
  const { engine, of } = taken.example;
  const told = { engine, ...of, tokens: whole(of.tokens), batch: whole(of.batch) };
  return html`<div class="kv-log-taken">
    <p class="gp-note" .textContent=${text("example_of", told)}></p>
    <button type="button" class="kv-button" .textContent=${text("example_back")} @click=${back}></button>
  </div>`;
}
