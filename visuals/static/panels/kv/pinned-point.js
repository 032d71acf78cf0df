// The point of the chart that was clicked: its arithmetic, as the calculator shows it.

import { latest } from "../../latest.js";
import { memo } from "../../reads.js";
import { readCache } from "../../readings/kv-answer.js";
import { html, nothing } from "../../vendor/lit-html.js";
import { answerView } from "./answer.js";
import { nameOf, whole } from "./format.js";
import { requestOf } from "./question.js";

/** @typedef {import("./question.js").Answer} Answer */

/**
 * The arithmetic of the point that was clicked, which follows the settings as its line does.
 *
 * @param {import("../../types.d.ts").Glass} glass
 * @param {{ pinned: Answer | null }} view the panel's state, which takes the answer as `pinned`
 * @param {import("./question.js").Asked} asked
 * @param {import("../../types.d.ts").Say} text of the panel
 */
export function createPinned(glass, view, asked, text) {
  /** @type {{ model: string; tokens: number } | null} the point, by its model's name in the answers */
  let point = null;
  let clicked = false; // and its arithmetic has not been shown yet
  const pick = latest(
    (/** @type {object} */ request) => glass.calculate("kv", request),
    ({ data }) => {
      if (point) view.pinned = data ?? null; // the settings do not fit its model: no line is drawn either
    },
  );
  const ask = memo((/** @type {string} */ request) => pick(JSON.parse(request)));
  /**
   * Asks for the point under the settings that the lines are of; takes it away with its line.
   *
   * @param {string[]} compared the models beside the one asked about
   */
  function follow(compared) {
    const { answer, answered } = asked;
    if (!point || !answer || !answered) return;
    const { model, tokens } = point;
    const { n_kv_heads: _ofKinds, ...request } = requestOf(answered);
    if (model === answer.model) ask(JSON.stringify({ ...request, tokens }));
    else if (compared.includes(model)) ask(JSON.stringify({ ...request, model, compared: true, tokens }));
    else {
      point = null;
      view.pinned = null;
    }
  }
  /**
   * @param {string} name the model's, as it is drawn
   * @param {number} tokens
   * @param {string[]} compared
   */
  function pin(name, tokens, compared) {
    const own = asked.answer?.model;
    point = { model: own !== undefined && name === nameOf(glass, own) ? own : name, tokens };
    clicked = true;
    follow(compared);
  }
  /**
   * Once what was asked by a click is drawn, the page goes there as far as it must: as a whole, or, where the
   * window is too low for it, its first product.
   *
   * @param {HTMLElement} body the panel's
   */
  function bringIntoView(body) {
    const drawn = body.querySelector(".kv-pinned");
    if (!clicked || !drawn || view.pinned?.tokens !== point?.tokens) return;
    clicked = false;
    const fits = drawn.getBoundingClientRect().height < window.innerHeight;
    (fits ? drawn : drawn.querySelector(".kv-term"))?.scrollIntoView({ block: "nearest" });
  }
  const use = () => view.pinned && asked.set({ tokens: String(view.pinned.tokens) });

  function pinnedView() {
    const { pinned } = view;
    if (!pinned) return nothing;
    const named = { model: nameOf(glass, pinned.model), tokens: whole(pinned.tokens) };
    return html`<div class="kv-pinned gp-offer">
      <div class="kv-bar">
        <h3 class="gp-subtitle" .textContent=${text("point", named)}></h3>
        <button class="kv-button" .textContent=${text("use")} @click=${use}></button>
      </div>
      ${answerView(glass, readCache(pinned))}
    </div>`;
  }
  return { pin, follow, pinnedView, bringIntoView };
}
