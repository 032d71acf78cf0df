// The strongest neurons of a token, in numbers. Hovering a row previews its neuron, a click keeps it.

import { linkRows } from "../../controls.js";
import { shown } from "../../dom.js";
import { createTable, listed } from "../../marks/table.js";
import { nameRow } from "../../off.js";

const ROWS = 24;
/** Name and role of each strip, from the top, and of each column. */
export const STRIPS = [["gate", "gate"], ["silu", "gate"], ["up", "up"], ["product", "output"]];

/** @param {object} glass @returns {{ box: HTMLElement, fill: Function, mark: Function }} */
export function createNeurons(glass) {
  const columns = [["neuron", "th.gp-number"], ...STRIPS.map(([name]) => [name, "td.gp-number"])];
  const table = createTable("swiglu", columns, { rows: ROWS, focus: true });
  let neurons = [];
  linkRows(table.element, glass, ({ sectionRowIndex: i }) => neurons[i] && { neuron: neurons[i].neuron });

  /** @param {{ neuron, gate, silu, up, product: number }[]} strongest @param {number} digits @param {(neuron: number) => boolean} off */
  function fill(strongest, digits, off) {
    neurons = strongest.slice(0, ROWS);
    table.fill(neurons, ([name, ...values], found, line) => {
      nameRow(line, name, String(found.neuron), off(found.neuron), glass.text);
      STRIPS.forEach(([strip], c) => { values[c].textContent = shown(found[strip], digits); });
    });
  }
  const mark = (chosen) => table.mark((i) => neurons[i]?.neuron === chosen);
  return { box: listed("", "swiglu.table", table), fill, mark };
}
