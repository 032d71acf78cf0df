// Where the parameters of the families are: a bar for each, by part, and of one the products that its bar is the sum
// of.

import { percent, sample } from "../../dom.js";
import { frame } from "../../frame.js";
import { oneLine } from "../../one-line.js";
import { inView } from "../../pointing.js";
import { productOf, readParameters } from "../../readings/families.js";
import { reactive } from "../../reads.js";
import { html, nothing, render } from "../../vendor/lit-html.js";
import { weightName, whole } from "../kv/format.js";
import { troubleText } from "../kv/trouble.js";
import { chooseModel, familiesOf, modelOf, sized, viewOf } from "./answer.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../readings/families.js").Answer} Answer
 *
 * @typedef {import("../../readings/families.js").Counted} Counted
 */

/**
 * The hue of each part.
 *
 * @type {Record<string, string>}
 */
const HUES = {
  embedding: "residual",
  attention: "q",
  ffn: "gate",
  experts: "up",
  shared_experts: "output",
  rest: "norm",
};

/** @type {import("../../frame.js").About} */
export const about = { namesChanges: false };

/** @type {(glass: Glass, name: string) => string} */
const groupName = (glass, name) => glass.text(`families.group_${name}`);
/** @type {(part: number, total: number) => string} */
const percentOf = (part, total) => percent(part / total, 3);

/**
 * The products of one model, by group, and what they sum to.
 *
 * @param {Glass} glass
 * @param {Say} text the panel's own
 * @param {Counted} column
 */
function termsView(glass, text, { name, parameters: { groups, total, active, published } }) {
  const lists = groups.map(
    ({ group, weights, parts }) =>
      html`<div class="fa-group">
        <h4>
          ${`${groupName(glass, group)}${glass.text("marks.colon")}${whole(weights)}`}<span class="gp-note"
            >${` ${percentOf(weights, total)}`}</span
          >
        </h4>
        <ul>
          ${parts.map(
            (part) =>
              html`<li>
                <span class="fa-part" .textContent=${weightName(glass.text, part.label)}></span
                ><span class="fa-product">${`${productOf(part)} = `}<strong>${whole(part.weights)}</strong></span>
              </li>`,
          )}
        </ul>
      </div>`,
  );
  const said = [text("sum", { total: whole(total) })];
  if (published) said.push(text(published.exact ? "published_exact" : "published", { count: whole(published.total) }));
  if (active)
    said.push(
      text("active_text", { active: whole(active), share: percentOf(active, total) }),
      ...(published?.active && !published.exact ? [text("active_published", { count: whole(published.active) })] : []),
    );
  return html`<h3 class="gp-subtitle" .textContent=${text("of", { name })}></h3>
    ${lists}
    <p .textContent=${oneLine(said)}></p>`;
}

/**
 * A model's bar, a button that shows its products.
 *
 * @param {Glass} glass
 * @param {Say} text the panel's own
 * @param {Counted} column
 * @param {boolean} chosen
 */
function barView(glass, text, { id, name, parameters: { groups, total, active } }, chosen) {
  const { state } = glass;
  const pieces = groups.map(({ group, weights }) => {
    const look = `flex-grow: ${weights / total}; background: var(--glass-${HUES[group]})`;
    const counted = `${whole(weights)} (${percentOf(weights, total)})`;
    const said = groupName(glass, group) + glass.text("marks.colon") + counted;
    return html`<span class="fa-piece" style=${look} title=${said}></span>`;
  });
  const size =
    text("size", { total: sized(total, state.language) }) +
    (active ? ` · ${text("active", { active: sized(active, state.language) })}` : "");
  return html`<button
    class="fa-model"
    data-model=${id}
    aria-pressed=${String(chosen)}
    @click=${() => chooseModel(glass, id)}
  >
    <span class="fa-name"><strong>${name}</strong><span class="fa-size" .textContent=${size}></span></span>
    <span class="fa-bar" aria-hidden="true">${pieces}</span>
  </button>`;
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function familyParameters(element, glass) {
  const panel = frame(element, glass, "family-parameters", { pointed: false });
  const { text } = panel;
  /** @type {{ answer: Answer | null; trouble: import("../../types.d.ts").Refusal | null }} */
  const first = { answer: null, trouble: null };
  const view = reactive(first, glass.repaint);
  familiesOf(glass).then(({ data, message }) =>
    Object.assign(view, { answer: data ?? null, trouble: message ?? null }),
  );
  const samples = Object.entries(HUES).map(([name, hue]) => sample("span.fa-swatch", `families.group_${name}`, hue));

  /** @param {import("../../readings/families.js").ParametersReading | null} reading null until the answer is here */
  const body = (reading) =>
    html`<p class="gp-note fa-notice" .textContent=${text("notice")}></p>
      <p class="gp-samples fa-legend">${samples}</p>
      <div class="fa-bars">
        ${view.trouble ? html`<p class="gp-note" .textContent=${troubleText(glass, view.trouble)}></p>` : nothing}
        ${reading ? reading.columns.map((column) => barView(glass, text, column, column === reading.chosen)) : nothing}
      </div>
      <div class="fa-sum">${reading ? termsView(glass, text, reading.chosen) : nothing}</div>`;
  render(body(null), panel.body);

  return inView(element, function draw() {
    const { answer } = view;
    const reading = answer && readParameters(answer, viewOf(glass), modelOf(glass));
    panel.title.textContent = text("title");
    render(body(reading), panel.body);
    if (reading) panel.show(reading, "");
  });
}
