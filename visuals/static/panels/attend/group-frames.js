// A line of frames with names in them: what is grouped.

import { html } from "../../vendor/lit-html.js";

/**
 * @param {string[][]} groups
 * @param {(group: number, item: number) => boolean} chosen
 * @param {string} look
 */
export const framesOf = (groups, chosen, look) =>
  html`<div class=${`at-grouped ${look}`}>
    ${groups.map(
      (names, group) =>
        html`<span class="at-group"
          >${names.map(
            (name, item) => html`<span class=${chosen(group, item) ? "is-chosen" : ""} .textContent=${name}></span>`,
          )}</span
        >`,
    )}
  </div>`;

/**
 * The numbers of so many heads, group by group.
 *
 * @param {number} groups
 * @param {number} size
 */
export const headsByGroup = (groups, size) =>
  Array.from({ length: groups }, (_, group) => Array.from({ length: size }, (__, i) => String(group * size + i)));
