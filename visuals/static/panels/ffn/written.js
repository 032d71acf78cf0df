// What the strongest neurons write, in numbers: its length, and the tokens to whose logits it adds
// most and least.

import { linkRows } from "../../controls.js";
import { h, shown, signed } from "../../dom.js";
import { visible } from "../../draw.js";
import { glossed } from "../../gloss.js";
import { createTable, listed, writeTexts } from "../../marks/table.js";
import { neuronName } from "../../neuron-names.js";
import { nameRow, neuronOff } from "../../off.js";
import { memo } from "../../reads.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../gloss.js").Gloss} Gloss
 *
 * @typedef {import("../../messages.d.ts").MovedToken} MovedToken
 *
 * @typedef {import("../../messages.d.ts").NeuronWrites} Writes
 *
 * @typedef {import("../../readings/neuron-writes.js").Written} Written
 */

const KIND = "ffn-token";
const ROWS = 13; // the strongest ones and the selected one
/** @type {[string, string][]} */
const COLUMNS = [
  ["neuron", "th.gp-number"],
  ["product", "td.gp-number"],
  ["length", "td.gp-number"],
  ["raises", "td.ffn-words"],
  ["lowers", "td.ffn-words"],
];

/**
 * A token and what is added to its logit.
 *
 * @param {Gloss} gloss
 * @returns {(token: MovedToken) => HTMLElement}
 */
const wordWith =
  (gloss) =>
  ({ piece, by }) =>
    h(
      "span.ffn-word",
      null,
      h("span.gp-piece", null, ...glossed(visible(piece), gloss(piece))),
      h("span.ffn-by", null, ` ${signed(by, 3)}`),
    );

/**
 * Bars of what one neuron adds to the logits to which it adds most and least; its own scale.
 *
 * @param {Writes | null} row
 * @param {string} name its neuron's
 * @param {Say} text
 * @param {Gloss} gloss
 */
export function pushes(row, name, text, gloss) {
  if (!row?.norm) return [];
  const most = Math.max(...[...row.raised, ...row.lowered].map(({ by }) => Math.abs(by))) || 1;
  const line = (/** @type {MovedToken} */ { piece, by }) => {
    const half = (50 * Math.abs(by)) / most; // of the track: what lowers runs to the left of its middle
    const style = `width: ${half}%; margin-left: ${by < 0 ? 50 - half : 50}%`;
    const bar = h(`span.ffn-bar.${by < 0 ? "is-down" : "is-up"}`, { style });
    return h(
      "tr",
      null,
      h("th.gp-token", { scope: "row" }, ...glossed(visible(piece), gloss(piece))),
      h("td.gp-number", null, signed(by, 3)),
      h("td.ffn-track", null, bar),
    );
  };
  const body = h("tbody", null, ...[...row.raised, ...[...row.lowered].reverse()].map(line));
  return [h("p.gp-note", null, text("pushes", { neuron: name })), h("table.gp-table", null, body)];
}

/** @param {Glass} glass */
export function createWritten(glass) {
  const table = createTable(KIND, COLUMNS, { rows: ROWS, focus: true });
  // on a telephone these stand in the cells
  for (const { fields } of table.rows) for (const i of [3, 4]) fields[i].dataset.textHead = `${KIND}.${COLUMNS[i][0]}`;
  /** @type {number[]} */
  let neurons = [];
  /** @param {HTMLElement} row */
  function chosenBy(row) {
    const { sectionRowIndex } = /** @type {HTMLTableRowElement} */ (row);
    return sectionRowIndex in neurons ? { neuron: neurons[sectionRowIndex] } : undefined;
  }
  linkRows(table.element, glass, chosenBy);

  /**
   * @param {Written | null} written null before it has come
   * @param {import("../../readings/neurons.js").Drawn | null} full the token's neurons, null while they are on
   *   their way
   * @param {import("../../decode.js").Trace} trace
   * @param {number} layer
   * @param {Gloss} gloss
   */
  function fillAnew(written, full, trace, layer, gloss) {
    const word = wordWith(gloss);
    const rows = written?.rows ?? [];
    const ffn = trace.model.parts.ffn[layer];
    neurons = rows.map(({ neuron }) => neuron);
    table.fill(rows, (fields, { neuron, norm, raised, lowered }, row) => {
      const product = full && (full.product[full.place(neuron)] ?? 0); // of an expert without the token
      nameRow(row, fields[0], neuronName(ffn, neuron, glass.text), neuronOff(trace, layer, neuron), glass.text);
      writeTexts(fields.slice(1, 3), [product === null ? "…" : shown(product, 5), shown(norm, 4)]);
      fields[3].replaceChildren(...(norm ? raised.map(word) : []));
      fields[4].replaceChildren(...(norm ? lowered.map(word) : []));
    });
  }
  const fill = memo(fillAnew);
  const mark = (/** @type {number} */ chosen) => table.mark((i) => neurons[i] === chosen);
  return { box: listed(".ffn-written", `${KIND}.table`, table), fill, mark };
}
