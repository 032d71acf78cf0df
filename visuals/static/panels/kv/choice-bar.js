// The row above the chart: what is drawn, on which axes, in which unit, and beside which models.

import { h } from "../../dom.js";

/** @param {object} glass @param {{ settings: object }} view @param {(change: object) => void} set */
export function choiceBar(glass, view, set, { compared, most, catalogue }) {
  const text = (name, params) => glass.text(`kv-chart.${name}`, params);
  const groups = [];

  /** Buttons of which one is pressed. @param {[string, string][]} options value and text key */
  function group(name, label, options) {
    const buttons = options.map(([value, key]) => {
      const button = h("button.kv-choice", { type: "button", "data-text": key });
      button.addEventListener("click", () => set({ [name]: value }));
      return [value, button];
    });
    const element = h("div.kv-group", { role: "group", ...(label ? { "data-text-label": label } : {}) },
      ...(label ? [h("span.gp-note", { "data-text": label })] : []), h("div.kv-choices", null, ...buttons.map(([, button]) => button)));
    groups.push({ name, buttons, element });
    return element;
  }
  const scales = [["log", "kv-chart.log"], ["linear", "kv-chart.linear"]];
  const views = group("view", "", [["lines", "kv-chart.lines"], ["stack", "kv-chart.stack"]]);
  const [x, y] = [group("x", "kv-chart.axis_x", scales), group("y", "kv-chart.axis_y", scales)];
  const unit = group("unit", "kv-chart.unit", [["gib", "kv-chart.gib"], ["gb", "kv-chart.gb"]]);
  const weights = h("input", { type: "checkbox" });
  weights.addEventListener("change", () => set({ weights: weights.checked ? "1" : "" }));
  const weighed = h("label.gp-check", null, weights, h("span", { "data-text": "kv-chart.with_weights" }));
  const why = h("span.gp-note", { "data-text": "kv-chart.stack_linear" });
  const chips = h("div.kv-chips");
  const add = h("select", { "data-text-label": "kv-chart.add" });
  add.addEventListener("change", () => {
    if (add.value) set({ compare: [...compared(), add.value].join("|") });
    add.value = "";
  });
  const element = h("div.kv-choice-bar", null, views, x, y, unit, weighed, why, h("div.kv-compare", null, h("span.gp-note", { "data-text": "kv-chart.compare" }), chips, add));
  let offered = null;

  function chip(model) {
    const button = h("button.kv-chip.gp-holds", { type: "button", "aria-label": text("remove", { model }) }, `${model} ×`);
    button.addEventListener("click", () => set({ compare: compared().filter((name) => name !== model).join("|") }));
    return button;
  }

  function show() {
    const { settings } = view;
    for (const { name, buttons, element: holder } of groups) {
      for (const [value, button] of buttons) button.setAttribute("aria-pressed", String(settings[name] === value));
      if (name === "x" || name === "y") holder.hidden = settings.view === "stack";
    }
    weighed.hidden = why.hidden = settings.view !== "stack";
    weights.checked = Boolean(settings.weights);
    chips.replaceChildren(...compared().map(chip));
    add.hidden = compared().length >= most;
    const known = `${glass.state.language} ${compared()} ${Boolean(catalogue())}`;
    if (known === offered) return;
    offered = known;
    const names = (catalogue()?.models ?? []).map(({ name }) => name).filter((name) => !compared().includes(name));
    add.replaceChildren(h("option", { value: "" }, text("add")), ...names.map((name) => h("option", { value: name }, name)));
  }
  return { element, show };
}
