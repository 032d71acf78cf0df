// The row above the chart: what is drawn, on which axes, in which unit, and beside which models.

import { checkbox, segmented } from "../../controls.js";
import { h } from "../../dom.js";
import { html, render } from "../../vendor/lit-html.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {Record<string, string>} Settings
 */

/**
 * Groups of buttons of which one is pressed, each for one setting.
 *
 * @param {(change: Settings) => void} set
 */
function createGroups(set) {
  /** @type {Record<string, (chosen: string) => void>} */
  const marks = {};

  /**
   * @param {string} name of the setting
   * @param {string | undefined} label text key
   * @param {[string, string][]} options value and text key
   */
  function group(name, label, options) {
    const keys = Object.fromEntries(options);
    const buttons = segmented(Object.keys(keys), {
      label,
      text: (value) => keys[value],
      look: "kv-choice",
      choose: (value) => set({ [name]: value }),
    });
    marks[name] = buttons.mark;
    return h("div.kv-group", null, ...(label ? [h("span.gp-note", { "data-text": label })] : []), buttons.element);
  }
  const mark = (/** @type {Settings} */ settings) => {
    for (const [name, show] of Object.entries(marks)) show(settings[name]);
  };
  return { group, mark };
}

/**
 * @param {Glass} glass
 * @param {{ settings: Settings }} view
 * @param {(change: Settings) => void} set
 * @param {{
 *   compared: () => string[];
 *   most: number;
 *   catalogue: () => import("./question.js").Catalogue | null;
 * }} models
 *   `compared`: those beside the one asked about, at `most` so many
 */
export function choiceBar(glass, view, set, { compared, most, catalogue }) {
  /** @type {import("../../types.d.ts").Say} */
  const text = (name, params) => glass.text(`kv-chart.${name}`, params);
  const { group, mark } = createGroups(set);
  /** @type {[string, string][]} */
  const scales = [
    ["log", "kv-chart.log"],
    ["linear", "kv-chart.linear"],
  ];
  const views = group("view", undefined, [
    ["lines", "kv-chart.lines"],
    ["stack", "kv-chart.stack"],
  ]);
  const [x, y] = [group("x", "kv-chart.axis_x", scales), group("y", "kv-chart.axis_y", scales)];
  const unit = group("unit", "kv-chart.unit", [
    ["gib", "kv-chart.gib"],
    ["gb", "kv-chart.gb"],
  ]);
  const weights = checkbox("kv-chart.with_weights", (ticked) => set({ weights: ticked ? "1" : "" }));
  const why = h("span.gp-note", { "data-text": "kv-chart.stack_linear" });
  const chips = h("div.kv-chips");
  const add = h("select", { "data-text-label": "kv-chart.add" });
  add.addEventListener("change", () => {
    if (add.value) set({ compare: [...compared(), add.value].join("|") });
    add.value = "";
  });
  const element = h(
    "div.kv-choice-bar.gp-offer",
    null,
    views,
    x,
    y,
    unit,
    weights.element,
    why,
    h("div.kv-compare", null, h("span.gp-note", { "data-text": "kv-chart.compare" }), chips, add),
  );
  let offered = "";

  /** @param {string} model */
  function chip(model) {
    const remove = () =>
      set({
        compare: compared()
          .filter((name) => name !== model)
          .join("|"),
      });
    return html`<button
      class="kv-chip gp-holds"
      aria-label=${text("remove", { model })}
      .textContent=${`${model} ×`}
      @click=${remove}
    ></button>`;
  }

  function show() {
    const { settings } = view;
    mark(settings);
    for (const axis of [x, y]) axis.hidden = settings.view === "stack";
    weights.element.hidden = why.hidden = settings.view !== "stack";
    weights.box.checked = Boolean(settings.weights);
    render(compared().map(chip), chips);
    add.hidden = compared().length >= most;
    const known = `${glass.state.language} ${compared()} ${Boolean(catalogue())}`;
    if (known === offered) return;
    offered = known;
    const names = (catalogue()?.models ?? []).map(({ name }) => name).filter((name) => !compared().includes(name));
    add.replaceChildren(
      h("option", { value: "" }, text("add")),
      ...names.map((name) => h("option", { value: name }, name)),
    );
  }
  return { element, show };
}
