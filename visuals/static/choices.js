// A row of buttons of which one is pressed, kept in the link under the panel's name.

import { h } from "./dom.js";

/** @param {object} glass @param {string} panel texts' section and the settings' name @param {string} name @param {string[]} values the first is the default */
export function createChoices(glass, panel, name, values, changed = () => glass.repaint()) {
  const now = () => {
    const given = glass.settings.get(panel)[name];
    return values.includes(given) ? given : values[0];
  };
  const buttons = values.map((value) => {
    const button = h("button.gp-option", { type: "button", "data-choice": value, "data-text": `${panel}.${name}_${value}` });
    button.addEventListener("click", () => {
      glass.settings.set(panel, { ...glass.settings.get(panel), [name]: value === values[0] ? "" : value });
      show();
      changed();
    });
    return button;
  });
  const show = () => buttons.forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.choice === now())));
  show();
  return { element: h("div.gp-choices", { role: "group", "data-text-label": `${panel}.${name}` }, ...buttons), now, show };
}
