// What the strongest neurons write, in numbers: its length, and the tokens whose logits it raises and lowers most.

import { linkRows } from "../../controls.js";
import { h, shown, signed } from "../../dom.js";
import { visible } from "../../draw.js";
import { nameRow } from "../../off.js";

const KIND = "ffn-token";
const ROWS = 13; // the strongest ones and the selected one
const COLUMNS = ["neuron", "product", "length", "raises", "lowers"];

/** A token and what is added to its logit. */
const word = ({ piece, by }) =>
  h("span.ffn-word", null, h("span.gp-piece", null, visible(piece)), h("span.ffn-by", null, ` ${signed(by, 3)}`));

/** Bars of what one neuron adds to the logits that it moves most; its own scale. @param {object|null} row of ffn_written */
export function pushes(row, text) {
  if (!row?.norm) return [];
  const most = Math.max(...[...row.raised, ...row.lowered].map(({ by }) => Math.abs(by))) || 1;
  const line = ({ piece, by }) => {
    const bar = h(`span.ffn-bar.${by < 0 ? "is-down" : "is-up"}`, { style: `width: ${(100 * Math.abs(by)) / most}%` });
    return h(
      "tr",
      null,
      h("th.gp-token", { scope: "row" }, visible(piece)),
      h("td.gp-number", null, signed(by, 3)),
      h("td.ffn-track", null, bar),
    );
  };
  const body = h("tbody", null, ...[...row.raised, ...[...row.lowered].reverse()].map(line));
  return [h("p.gp-note", null, text("pushes", { neuron: row.neuron })), h("table.gp-table", null, body)];
}

/** @param {object} glass @returns {{ box: HTMLElement, fill: Function, mark: Function }} */
export function createWritten(glass) {
  const rows = Array.from({ length: ROWS }, () => {
    const fields = COLUMNS.map((name, i) =>
      i ? h(i < 3 ? "td.gp-number" : "td.ffn-words") : h("th.gp-number", { scope: "row" }),
    );
    return { line: h("tr", { tabindex: "0" }, ...fields), fields };
  });
  let neurons = [];
  const heads = COLUMNS.map((name, i) =>
    h(i < 3 ? "th" : "th.is-left", { scope: "col", "data-text": `${KIND}.${name}` }),
  );
  const table = h(
    "table.gp-table",
    null,
    h("thead", null, h("tr", null, ...heads)),
    h("tbody", null, ...rows.map(({ line }) => line)),
  );
  const box = h(
    "div.gp-list.ffn-written",
    { tabindex: "0", role: "region", "data-text-label": `${KIND}.table` },
    table,
  );
  linkRows(table, glass, ({ sectionRowIndex }) => (sectionRowIndex in neurons ? { neuron: neurons[sectionRowIndex] } : undefined));

  /**
   * @param {object[]} written rows of ffn_written @param {ArrayLike<number>|null} product of all neurons of that token
   * @param {(neuron: number) => boolean} off whether nothing uses what a neuron computes
   */
  function fill(written, product, off) {
    neurons = written.map(({ neuron }) => neuron);
    rows.forEach(({ line, fields }, i) => {
      const found = written[i];
      line.hidden = !found;
      if (!found) return;
      nameRow(line, fields[0], String(found.neuron), off(found.neuron), glass.text);
      fields[1].textContent = product ? shown(product[found.neuron], 5) : "…";
      fields[2].textContent = shown(found.norm, 4);
      fields[3].replaceChildren(...(found.norm ? found.raised.map(word) : []));
      fields[4].replaceChildren(...(found.norm ? found.lowered.map(word) : []));
    });
  }
  const mark = (chosen) => rows.forEach(({ line }, i) => line.classList.toggle("is-chosen", neurons[i] === chosen));
  return { box, fill, mark };
}
