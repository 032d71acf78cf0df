// What is to be changed in the next run: offers at the selected place, and the changes that are chosen.

import { h } from "../../dom.js";
import { KINDS, changeName, listed } from "../../run-changes.js";
import { shownIn } from "../../run-for.js";
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
export function createOffers(glass, text, view) {
  const state = shownIn(glass);
  const here = () => atSelection({ ...state, ...state.locked });
  const add = (/** @type {Change["kind"]} */ kind) => {
    const value = here()[kind] ?? null;
    if (value !== null) view.changes = added(view.changes, kind, value);
  };
  const offers = Object.fromEntries(KINDS.map((kind) => [kind, h("button.cmp-button", { click: () => add(kind) })]));
  const stacks = h("p.gp-note", { hidden: "", "data-text": "compare.stacks_hint" });
  const row = h("div.cmp-row", null, ...KINDS.map((kind) => offers[kind]));

  function draw() {
    const values = here();
    stacks.hidden = !state.run?.encoder;
    for (const kind of KINDS) {
      const value = values[kind];
      offers[kind].hidden = value === undefined;
      if (value === undefined) continue;
      offers[kind].disabled = value === null;
      offers[kind].textContent = value === null ? text(`no_${kind}`) : nameOf(glass, { kind, value });
    }
  }
  return { elements: [stacks, row], draw };
}

/**
 * The chosen changes as buttons that take them back, and the buttons that run them or drop them all.
 *
 * @param {Glass} glass
 * @param {Say} text of the panel
 * @param {Chosen} view
 */
export function createChosen(glass, text, view) {
  const { state } = glass;
  const set = (/** @type {Changes} */ changes) => {
    view.changes = changes;
  };
  const chosen = h("div.cmp-chosen");
  const hint = h("p.gp-note", { role: "status" });
  const run = h("button.cmp-button", {
    "data-text": "compare.run",
    click: () => glass.change({ ...view.changes, source: state.kept?.id }),
  });
  const clear = h("button.cmp-button", { "data-text": "compare.clear", click: () => set({}) });

  /**
   * One change; `made`: those of the newest run, which others wait for a run beside.
   *
   * @param {Change} change
   * @param {Changes} made
   */
  function chipOf({ kind, value }, made) {
    const change = nameOf(glass, { kind, value });
    const waits = !has(made, kind, value);
    const name = waits ? text("not_yet", { change }) : change;
    const chip = h(
      "button.cmp-chip.gp-holds",
      { "aria-label": text("remove", { change: name }), click: () => set(removed(view.changes, kind, value)) },
      `${name} ×`,
    );
    chip.classList.toggle("is-pending", waits);
    return chip;
  }

  /** @param {Changes} made the changes of the newest run */
  function draw(made) {
    const chips = listed(view.changes).map((change) => chipOf(change, made));
    chosen.replaceChildren(...(chips.length ? chips : [h("p.gp-note", null, text("none_chosen"))]));
    const [isPending, isChanged] = [chips.some((chip) => chip.matches(".is-pending")), listed(made).length > 0];
    hint.textContent = isPending ? text("pending") : !chips.length && isChanged ? text("still_changed") : "";
    clear.disabled = !chips.length;
    run.disabled = !chips.length && !isChanged;
  }
  return { elements: [h("div.cmp-row", null, chosen, run, clear), hint], draw };
}
