// What tables get wrong about these families: the claim, what is so, where that was read, and the cell that shows it.

import { frame } from "../../frame.js";
import { inView } from "../../pointing.js";
import { readMyths } from "../../readings/families.js";
import { reactive } from "../../reads.js";
import { hold } from "../../scroll-anchor.js";
import { html, nothing, render } from "../../vendor/lit-html.js";
import { leadTo } from "../glance/words.js";
import { chooseModel, chooseView, familiesOf, VIEWS } from "./answer.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../readings/families.js").Answer} Answer
 *
 * @typedef {import("../../readings/families.js").Myth} Myth
 */

/** @type {import("../../frame.js").About} */
export const about = { namesChanges: false };

/**
 * Shows a claim's cell in the table.
 *
 * @param {Glass} glass
 * @param {Answer} answer
 * @param {Myth} myth
 */
async function look(glass, { views }, { column, row }) {
  chooseView(glass, VIEWS.find((name) => views[name].includes(column)) ?? VIEWS[0]);
  chooseModel(glass, column);
  await leadTo(glass, "families", "families");
  const found = document.querySelector(`.fa-cell[data-cell="${column} ${row}"]`);
  const cell = /** @type {HTMLElement | null} */ (found);
  if (cell) hold(() => cell.scrollIntoView({ block: "center", inline: "center" }));
  cell?.focus({ preventScroll: true });
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function familyMyths(element, glass) {
  const panel = frame(element, glass, "family-myths", { pointed: false });
  const { text } = panel;
  /** @type {{ answer: Answer | null }} */
  const first = { answer: null };
  const view = reactive(first, glass.repaint);
  familiesOf(glass).then(({ data }) => {
    view.answer = data ?? null;
  });

  /** @param {Answer} answer @param {Myth} myth */
  function card(answer, myth) {
    const { claim, right, source } = myth.said;
    const said = glass.text(claim.key, claim.params);
    return html`<div class="fa-card" data-myth=${myth.name}>
      <h3 class="gp-subtitle" .textContent=${said}></h3>
      <p class="gp-note"><strong .textContent=${text(`verdict_${myth.verdict}`)}></strong></p>
      <p .textContent=${glass.text(right.key, right.params)}></p>
      <p
        class="gp-note"
        data-source
        .textContent=${text("source", { source: glass.text(source.key, source.params) })}
      ></p>
      <button
        class="gp-option"
        aria-label=${text("look") + glass.text("marks.colon") + said}
        .textContent=${text("look")}
        @click=${() => look(glass, answer, myth)}
      ></button>
    </div>`;
  }

  return inView(element, function draw() {
    const { answer } = view;
    const reading = answer && readMyths(answer);
    panel.title.textContent = text("title");
    render(
      html`<p class="gp-note fa-notice" .textContent=${text("notice")}></p>
        <div class="fa-cards">${reading ? reading.myths.map((myth) => card(answer, myth)) : nothing}</div>`,
      panel.body,
    );
    if (reading) panel.show(reading, "");
  });
}
