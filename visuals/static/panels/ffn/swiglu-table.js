// The strongest neurons of a token, in numbers. Hovering a row previews its neuron, a click keeps it.

import { linkRows } from "../../controls.js";
import { shown } from "../../dom.js";
import { createTable, listed, writeTexts } from "../../marks/table.js";
import { nameRow } from "../../off.js";
import { vectorName } from "./kinds.js";

const ROWS = 24;
const VECTORS = ["gate", "activated", "up", "weight", "product"]; // of any kind of feed-forward

/** @param {object} glass @returns {{ box: HTMLElement, fill: Function, mark: Function }} */
export function createNeurons(glass) {
  const table = createTable(null, [["neuron", "th.gp-number"], ...VECTORS.map((name) => [name, "td.gp-number"])], { rows: ROWS, focus: true });
  let neurons = [];
  linkRows(table.element, glass, ({ sectionRowIndex: i }) => neurons[i] && { neuron: neurons[i].neuron });

  /**
   * @param {{ neuron: number }[]} strongest with a number for each vector of the `kind` @param {import("./kinds.js").Kind} kind
   * @param {number} digits @param {(neuron: number) => boolean} off @param {(neuron: number) => string} name
   */
  function fill(strongest, kind, digits, off, name) {
    neurons = strongest.slice(0, ROWS);
    const names = ["neuron", ...kind.strips.map(([vector]) => vector)];
    table.entitle((vector) => (vector === "neuron" ? glass.text("swiglu.neuron") : vectorName(vector, kind, glass.text)));
    table.hide((column) => !names.includes(column));
    table.fill(neurons, ([first, ...values], found, line) => {
      nameRow(line, first, name(found.neuron), off(found.neuron), glass.text);
      writeTexts(values, VECTORS.map((vector) => (names.includes(vector) ? shown(found[vector], digits) : "")));
    });
  }
  const mark = (chosen) => table.mark((i) => neurons[i]?.neuron === chosen);
  return { box: listed("", "swiglu.table", table), fill, mark };
}
