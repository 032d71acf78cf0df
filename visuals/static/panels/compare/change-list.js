// What is to be changed in the next run: offers at the selected place, and the changes that are chosen.

import { KINDS, changeName, listed } from "../../run-changes.js";
import { shownIn } from "../../run-for.js";
import { html, nothing } from "../../vendor/lit-html.js";
import { added, atSelection, has, removed } from "./changes.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../run-changes.js").Changes} Changes
 *
 * @typedef {import("../../run-changes.js").Change} Change
 *
 * @typedef {{ changes: Changes }} Chosen the changes that are chosen
 */

/** A change in words, of the network that is shown. @type {(glass: Glass, change: Change) => string} */
const nameOf = (glass, change) => changeName("off", change, shownIn(glass).trace.model, glass.text);

/**
 * A button for each kind of change, which chooses what is selected of that kind.
 *
 * @param {Glass} glass
 * @param {Say} text of the panel
 * @param {Chosen} view
 */
export function offersView(glass, text, view) {
  const state = shownIn(glass);
  const { trace, kept, locked } = state;
  const here = atSelection({ trace, kept, ...locked });
  const offers = KINDS.flatMap((kind) => {
    const value = here[kind];
    if (value === undefined) return [];
    const add = () => {
      if (value !== null) view.changes = added(view.changes, kind, value);
    };
    const words = value === null ? text(`no_${kind}`) : nameOf(glass, { kind, value });
    return [html`<button class="cmp-button" ?disabled=${value === null} .textContent=${words} @click=${add}></button>`];
  });
  return html`${state.run?.encoder ? html`<p class="gp-note" .textContent=${text("stacks_hint")}></p>` : nothing}
    <div class="cmp-row">${offers}</div>`;
}

/**
 * The chosen changes as buttons that take them back, and the buttons that run them or drop them all.
 *
 * @param {Glass} glass
 * @param {Say} text of the panel
 * @param {Chosen} view
 * @param {{ made: Changes; run: () => unknown }} newest `made`: the changes of the newest run, others wait for one;
 *   `run`: makes one with what is chosen
 */
export function chosenView(glass, text, view, { made, run }) {
  const set = (/** @type {Changes} */ changes) => {
    view.changes = changes;
  };
  const chosen = listed(view.changes);
  const waits = (/** @type {Change} */ { kind, value }) => !has(made, kind, value);
  const chips = chosen.map((change) => {
    const { kind, value } = change;
    const name = waits(change) ? text("not_yet", { change: nameOf(glass, change) }) : nameOf(glass, change);
    return html`<button
      class=${`cmp-chip gp-holds${waits(change) ? " is-pending" : ""}`}
      aria-label=${text("remove", { change: name })}
      .textContent=${`${name} ×`}
      @click=${() => set(removed(view.changes, kind, value))}
    ></button>`;
  });
  const isChanged = listed(made).length > 0;
  const hint = chosen.some(waits) ? text("pending") : !chosen.length && isChanged ? text("still_changed") : "";
  const none = html`<p class="gp-note" .textContent=${text("none_chosen")}></p>`;
  return html`<div class="cmp-row">
      <div class="cmp-chosen">${chosen.length ? chips : none}</div>
      <button
        class="cmp-button"
        ?disabled=${!chosen.length && !isChanged}
        .textContent=${text("run")}
        @click=${run}
      ></button>
      <button
        class="cmp-button"
        ?disabled=${!chosen.length}
        .textContent=${text("clear")}
        @click=${() => set({})}
      ></button>
    </div>
    <p class="gp-note" role="status" .textContent=${hint}></p>`;
}
