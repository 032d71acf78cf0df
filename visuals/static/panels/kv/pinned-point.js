// The point of the chart that was clicked: its arithmetic, as the calculator shows it.

import { latest } from "../../latest.js";
import { readCache } from "../../readings/kv-answer.js";
import { html, nothing } from "../../vendor/lit-html.js";
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
  const use = () => view.pinned && asked.set({ tokens: String(view.pinned.tokens) });

  function pinnedView() {
    const { pinned } = view;
    if (!pinned) return nothing;
    const named = { model: nameOf(glass, pinned.model), tokens: whole(pinned.tokens) };
    return html`<div class="kv-pinned">
      <div class="kv-bar">
        <h3 class="gp-subtitle" .textContent=${text("point", named)}></h3>
        <button class="kv-button" .textContent=${text("use")} @click=${use}></button>
      </div>
      ${answerView(glass, readCache(pinned))}
    </div>`;
  }
  return { pin, pinnedView };
}
