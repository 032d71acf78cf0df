// What can stand in place of a network's own parts: a row of choices for each part that it can have another of.

import { shownIn } from "../../run-for.js";
import { partName } from "../../run-changes.js";
import { html, nothing } from "../../vendor/lit-html.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("./change-list.js").Chosen} Chosen the changes that are chosen
 */

/**
 * The changes with this part in place of another of its field, or without it where it is there.
 *
 * @param {Chosen["changes"]} changes
 * @param {string} part
 */
export function exchanged(changes, part) {
  const [field] = part.split(":");
  const others = (changes.parts ?? []).filter((one) => one.split(":")[0] !== field);
  const parts = changes.parts?.includes(part) ? others : [...others, part];
  return { ...changes, parts };
}

/** Fields whose choices are numbers, of what is said beside them. */
const NUMBERS = ["window"];
/** Fields of which there is more to say. */
const EXPLAINED = ["position", "window"];

/**
 * A row of choices for each field that the network that is shown can have another part of.
 *
 * @param {Glass} glass
 * @param {Chosen} view
 */
export function partsView(glass, view) {
  const { text } = glass;
  const offered = shownIn(glass).trace.whole ? {} : (glass.detail("parts", {})?.offered ?? {});
  const fields = Object.entries(offered);
  if (!fields.length) return nothing;
  /** @param {string} field @param {string | number} value */
  const choice = (field, value) => {
    const part = `${field}:${value}`;
    const name = partName(part, text);
    return html`<button
      class="gp-option"
      data-part-choice=${part}
      aria-label=${name}
      aria-pressed=${String(view.changes.parts?.includes(part) ?? false)}
      .textContent=${NUMBERS.includes(field) ? String(value) : name}
      @click=${() => {
        view.changes = exchanged(view.changes, part);
      }}
    ></button>`;
  };
  const rows = fields.map(([field, values]) => {
    const label = text(`part.field_${field}`);
    return html`<div class="cmp-row">
      <span class="cmp-field" .textContent=${label}></span>
      <div class="gp-choices" role="group" aria-label=${label}>${values.map((value) => choice(field, value))}</div>
    </div>`;
  });
  const tokens = shownIn(glass).trace.T;
  const explained = EXPLAINED.filter((field) => Object.hasOwn(offered, field)).map((field) =>
    text(`compare.exchange_${field}`, { tokens }),
  );
  return html`<div>
    <h3 class="cmp-head" .textContent=${text("compare.exchange")}></h3>
    <p class="gp-note" .textContent=${text("compare.exchange_hint")}></p>
    <div class="cmp-parts">
      ${rows} ${explained.map((words) => html`<p class="gp-note" .textContent=${words}></p>`)}
    </div>
  </div>`;
}
