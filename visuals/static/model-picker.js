// The list to choose a network from: a plain select. gradio's own field runs the network each time it loses the focus,
// whether or not another is chosen, and a key opens its list anew where the focus has gone.

import { h } from "./dom.js";

/** These would choose another network, which runs at once, while the list is closed. */
const MOVES = /^(Arrow|Page|Home|End)/;

/**
 * @typedef {{ value: string }} Props gradio's: `value` is the name of the network that is chosen
 * @param {ReturnType<typeof import("./models.js").createModels>} models
 * @param {import("./types.d.ts").Texts} texts
 */
export function createModelPicker(models, { text, translate }) {
  /** @type {Props} */
  let props = { value: "" };
  let choose = () => {};
  let listed = "";
  const select = h("select", { "data-text-label": "bar.model", change: pick, keydown: open });

  function pick() {
    props.value = select.value;
    choose();
  }
  /** @param {KeyboardEvent} event */
  function open(event) {
    if (!MOVES.test(event.key) || !select.showPicker) return; // else the browser shows the list by itself, or chooses
    event.preventDefault();
    select.showPicker();
  }
  function draw() {
    const offers = models.list();
    const heading = text("bar.models_small");
    const now = JSON.stringify([offers, heading]);
    if (now !== listed) {
      /** @param {boolean} small */
      const options = (small) =>
        offers.filter((one) => one.small === small).map(({ name, label }) => h("option", { value: name }, label));
      const small = options(true);
      select.replaceChildren(...options(false), ...(small.length ? [h("optgroup", { label: heading }, ...small)] : []));
      listed = now;
    }
    select.value = props.value;
  }
  /**
   * @param {HTMLElement} element
   * @param {Props} given
   * @param {() => void} chosen another network is to run
   */
  function attach(element, given, chosen) {
    [props, choose] = [given, chosen];
    element.replaceChildren(select);
    translate(element);
    draw();
  }
  return { attach, draw };
}
