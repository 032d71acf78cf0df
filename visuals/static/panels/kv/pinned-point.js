// The point of the chart that was clicked: its arithmetic, as the calculator shows it.

import { h } from "../../dom.js";
import { latest } from "../../latest.js";
import { answerView } from "./answer.js";
import { nameOf, whole } from "./format.js";
import { requestOf } from "./question.js";

/** @typedef {import("./question.js").Answer} Answer */

/**
 * The arithmetic of the point that was clicked.
 *
 * @param {import("../../types.d.ts").Glass} glass
 * @param {{ pinned: Answer | null }} view the panel's state, which takes the answer as `pinned`
 * @param {import("./question.js").Asked} asked
 * @param {import("../../types.d.ts").Say} text of the panel
 */
export function createPinned(glass, view, asked, text) {
  const pick = latest(
    (/** @type {object} */ request) => glass.calculate("kv", request),
    ({ data }) => {
      if (data) view.pinned = data;
    },
  );
  /**
   * @param {string} model
   * @param {number} tokens
   */
  function pin(model, tokens) {
    const { answer, answered } = asked;
    if (!answer || !answered) return;
    const { batch, dtype } = answer;
    const own = model === nameOf(glass, answer.model);
    pick({ ...(own ? requestOf(answered) : { batch, dtype, model }), tokens });
  }
  const point = answerView(glass);
  const use = h("button.kv-button", {
    "data-text": "kv-chart.use",
    click: () => view.pinned && asked.set({ tokens: String(view.pinned.tokens) }),
  });
  const title = h("h3.gp-subtitle");
  const element = h("div.kv-pinned", { hidden: "" }, h("div.kv-bar", null, title, use), point.element);

  function show() {
    const { pinned } = view;
    element.hidden = !pinned;
    if (!pinned) return;
    title.textContent = text("point", { model: nameOf(glass, pinned.model), tokens: whole(pinned.tokens) });
    point.show(pinned);
  }
  return { element, pin, show };
}
