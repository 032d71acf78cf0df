// Products with their factors named.

import { html, nothing } from "../../vendor/lit-html.js";
import { exactBytes, origin, whole } from "./format.js";

/**
 * @typedef {import("./format.js").Factor} Factor
 *
 * @typedef {import("./format.js").Named} Named
 */

/** "= bytes", the end of a product. @param {string | number} bytes */
const equals = (bytes) =>
  html`<span class="kv-result" data-answer="beside"
    ><span class="kv-times">=</span><strong .textContent=${exactBytes(bytes)}></strong
  ></span>`;

/**
 * One product, each factor over its name.
 *
 * @param {Factor[]} factors
 * @param {Named} name
 * @param {string | number} bytes
 */
export function product(factors, name, bytes) {
  const parts = factors.map(({ value, code, params, how }, i) => {
    const came = origin(how, name);
    const cell = html`<span class="kv-factor"
      ><span class="kv-number" .textContent=${whole(value)}></span
      ><span class="kv-name" .textContent=${name(code, params)}></span
      >${came ? html`<span class="kv-how" .textContent=${came}></span>` : nothing}</span
    >`;
    return i ? html`<span class="kv-pair"><span class="kv-times">×</span>${cell}</span>` : cell;
  });
  return html`<p class="kv-product">${parts}${equals(bytes)}</p>`;
}

/**
 * A product under its title.
 *
 * @param {string} title
 * @param {Factor[]} factors
 * @param {Named} name
 * @param {string | number} bytes
 */
export const titled = (title, factors, name, bytes) =>
  html`<div class="kv-term">
    <h4 .textContent=${title}></h4>
    ${product(factors, name, bytes)}
  </div>`;

/**
 * A product in two lines of running text, first the names, then the numbers; for narrow places.
 *
 * @param {Factor[]} factors
 * @param {Named} name
 * @param {string | number} bytes
 */
export function shortProduct(factors, name, bytes) {
  const names = factors.map(({ code, params }) => name(code, params));
  const sum = `${factors.map(({ value }) => whole(value)).join(" × ")} = `;
  return html`<div class="kv-short" data-answer="beside">
    <p class="gp-note" .textContent=${names.join(" × ")}></p>
    <p><span .textContent=${sum}></span><strong .textContent=${exactBytes(bytes)}></strong></p>
  </div>`;
}
