// The strongest neurons of a token, in numbers. Hovering a row previews its neuron, a click keeps it.

import { linkRows } from "../../controls.js";
import { h, shown } from "../../dom.js";
import { nameRow } from "../../off.js";

const ROWS = 24;
/** Name and role of each strip, from the top, and of each column. */
export const STRIPS = [["gate", "gate"], ["silu", "gate"], ["up", "up"], ["product", "output"]];

function makeRow() {
  const fields = [h("th.gp-number", { scope: "row" }), ...STRIPS.map(() => h("td.gp-number"))];
  return { line: h("tr", { tabindex: "0" }, ...fields), fields };
}

/** @param {object} glass @returns {{ box: HTMLElement, fill: Function, mark: Function }} */
export function createTable(glass) {
  const rows = Array.from({ length: ROWS }, makeRow);
  let shownNeurons = [];
  const names = ["neuron", ...STRIPS.map(([name]) => name)];
  const head = names.map((name) => h("th", { scope: "col", "data-text": `swiglu.${name}` }));
  const body = h("tbody", null, ...rows.map(({ line }) => line));
  const table = h("table.gp-table", null, h("thead", null, h("tr", null, ...head)), body);
  const box = h("div.gp-list", { tabindex: "0", role: "region", "data-text-label": "swiglu.table" }, table);

  linkRows(table, glass, ({ sectionRowIndex }) => shownNeurons[sectionRowIndex] && { neuron: shownNeurons[sectionRowIndex].neuron });

  /** @param {{ neuron, gate, silu, up, product: number }[]} strongest @param {number} digits @param {(neuron: number) => boolean} off */
  function fill(strongest, digits, off) {
    shownNeurons = strongest;
    rows.forEach(({ line, fields: [name, ...values] }, i) => {
      const found = strongest[i];
      line.hidden = !found;
      if (!found) return;
      nameRow(line, name, String(found.neuron), off(found.neuron), glass.text);
      STRIPS.forEach(([strip], c) => {
        values[c].textContent = shown(found[strip], digits);
      });
    });
  }
  const mark = (chosen) =>
    rows.forEach(({ line }, i) => line.classList.toggle("is-chosen", shownNeurons[i]?.neuron === chosen));
  return { box, fill, mark };
}
