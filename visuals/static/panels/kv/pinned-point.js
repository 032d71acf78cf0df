// The point of the chart that was clicked: its arithmetic, as the calculator shows it.

import { h } from "../../dom.js";
import { latest } from "../../latest.js";
import { answerView } from "./answer.js";
import { nameOf, whole } from "./format.js";
import { requestOf } from "./question.js";

/**
 * The arithmetic of the point that was clicked.
 *
 * @param {import("../../types.d.ts").Glass} glass
 * @param {object} view the panel's state, which takes the answer as `pinned`
 * @param {ReturnType<typeof import("./question.js").question>} asked
 * @param {Function} text of the panel
 */
export function createPinned(glass, view, asked, text) {
  const pick = latest(
    ({ model, tokens, own }) =>
      glass.calculate("kv", {
        ...(own ? requestOf(asked.answered) : { batch: asked.answer.batch, dtype: asked.answer.dtype, model }),
        tokens,
      }),
    ({ data }) => {
      if (data) view.pinned = data;
    },
  );
  function pin({ customdata }) {
    const [model, tokens] = customdata;
    pick({ model, tokens, own: model === nameOf(glass, asked.answer.model) });
  }
  const point = answerView(glass);
  const use = h("button.kv-button", {
    "data-text": "kv-chart.use",
    click: () => asked.set({ tokens: String(view.pinned.tokens) }),
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
