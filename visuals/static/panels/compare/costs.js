// What two networks cost beside each other: parameters, weights read for a token, bytes kept of one, and the products
// behind them.

import { html } from "../../vendor/lit-html.js";
import { exactBytes, productLine, weightName, whole } from "../kv/format.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../readings/read-by-two.js").Cost} Cost
 *
 * @typedef {import("../../readings/read-by-two.js").ReadRun} ReadRun
 */

/** How each number is written. */
const NUMBERS = { parameters: whole, read: exactBytes, kept: exactBytes, cached: exactBytes };

/**
 * The products behind one network's sums.
 *
 * @param {Glass} glass
 * @param {Say} text of the panel
 * @param {ReadRun} run
 */
function productsView(glass, text, { side, trace, cost }) {
  /** @type {Say} */
  const factor = (code, params) => glass.text(`kv.factor_${code}`, params);
  const colon = glass.text("marks.colon");
  const lines = [
    ...(cost?.weights ?? []).map((term) => `${weightName(glass.text, term.label)}${colon}${productLine(term, factor)}`),
    ...(cost?.cache ?? []).map((term) => `${text("cache")}${colon}${productLine(term, factor)}`),
  ];
  return html`<div>
    <h4 .textContent=${`${side}${colon}${glass.modelName(trace.model.name)}`}></h4>
    ${lines.map((line) => html`<p class="gp-note" .textContent=${line}></p>`)}
  </div>`;
}

/**
 * @param {Glass} glass
 * @param {Say} text of the panel
 * @param {Record<"A" | "B", ReadRun>} runs
 */
export function costsView(glass, text, { A, B }) {
  const rows = /** @type {(keyof typeof NUMBERS)[]} */ (Object.keys(NUMBERS)).map(
    (name) =>
      html`<tr>
        <th
          class="gp-token"
          scope="row"
          dir="auto"
          .textContent=${text(`cost_${name}`, { a: A.tokens, b: B.tokens })}
        ></th>
        ${[A, B].map(
          ({ costs }) => html`<td class="gp-number" .textContent=${costs ? NUMBERS[name](costs[name]) : "…"}></td>`,
        )}
      </tr>`,
  );
  return html`<div>
    <h3 class="cmp-head" .textContent=${text("costs")}></h3>
    <table class="gp-table rbt-costs">
      <thead>
        <tr>
          <th class="is-left" scope="col" .textContent=${text("cost")}></th>
          <th scope="col" .textContent=${text("a")}></th>
          <th scope="col" .textContent=${text("b")}></th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
    <details class="rbt-sums">
      <summary .textContent=${text("products")}></summary>
      ${[A, B].map((run) => productsView(glass, text, run))}
    </details>
  </div>`;
}
