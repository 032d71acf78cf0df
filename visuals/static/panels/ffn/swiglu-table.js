// The strongest neurons of a token, in numbers. Hovering a row previews its neuron, a click keeps it.

import { linkRows } from "../../controls.js";
import { shown } from "../../dom.js";
import { createTable, listed } from "../../marks/table.js";
import { nameRow } from "../../off.js";
import { vectorName } from "./kinds.js";

const ROWS = 24;
const VECTORS = ["gate", "activated", "up", "weight", "product"]; // of any kind of feed-forward

/** @param {object} glass @returns {{ box: HTMLElement, fill: Function, mark: Function }} */
export function createNeurons(glass) {
  const table = createTable(null, [["neuron", "th.gp-number"], ...VECTORS.map((name) => [name, "td.gp-number"])], { rows: ROWS, focus: true });
  const heads = [...table.element.querySelectorAll("thead th")];
  let neurons = [];
  linkRows(table.element, glass, ({ sectionRowIndex: i }) => neurons[i] && { neuron: neurons[i].neuron });

  /**
   * @param {{ neuron: number }[]} strongest with a number for each vector of the `kind` @param {import("./kinds.js").Kind} kind
   * @param {number} digits @param {(neuron: number) => boolean} off @param {(neuron: number) => string} name
   */
  function fill(strongest, kind, digits, off, name) {
    neurons = strongest.slice(0, ROWS);
    const names = kind.strips.map(([vector]) => vector);
    const away = VECTORS.map((vector) => !names.includes(vector));
    table.entitle((vector) => (vector === "neuron" ? glass.text("swiglu.neuron") : vectorName(vector, kind, glass.text)));
    away.forEach((gone, c) => { heads[c + 1].hidden = gone; });
    table.fill(neurons, ([first, ...values], found, line) => {
      nameRow(line, first, name(found.neuron), off(found.neuron), glass.text);
      VECTORS.forEach((vector, c) => {
        values[c].hidden = away[c];
        values[c].textContent = away[c] ? "" : shown(found[vector], digits);
      });
    });
  }
  const mark = (chosen) => table.mark((i) => neurons[i]?.neuron === chosen);
  return { box: listed("", "swiglu.table", table), fill, mark };
}
