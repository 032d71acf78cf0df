// What made this logit: an exact sum over the embedding, every head by the token that it read, and every neuron.

import { labelsOf } from "../../characters.js";
import { momentOf, offeredOf } from "../../chosen-step.js";
import { choices } from "../../controls.js";
import { signed } from "../../dom.js";
import { frame } from "../../frame.js";
import { neuronIn } from "../../neuron-names.js";
import { noChoice } from "../../parts.js";
import { inView } from "../../pointing.js";
import { logitTermsReader } from "../../readings/choice.js";
import { readHere, shownIn } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";
import { createTerms } from "../glance/terms.js";
import { word } from "../glance/words.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../glance/terms.js").Term} Term
 *
 * @typedef {import("../../readings/choice.js").LogitTerm} LogitTerm
 *
 * @typedef {import("../../chosen-step.js").Moment} Moment
 *
 * @typedef {import("../../chosen-step.js").Offered} Offered
 */

const KIND = "logit-terms";
const COUNT = 14;

/** @type {import("../../frame.js").About} */
export const about = { tensors: ["attention", "v", "gate", "up", "logits"], absent: noChoice };

/**
 * A term in words, and the place to look at when it is pressed.
 *
 * @param {Glass} glass
 * @param {LogitTerm} term
 * @param {number} query from where heads look
 * @returns {Term}
 */
function namedTerm(glass, { part, layer, head, neuron, key, value }, query) {
  const { tokens, encoder, model } = shownIn(glass).trace;
  const pieces = labelsOf((part === "cross" && encoder ? encoder : { tokens }).tokens.pieces);
  const isNeuron = layer !== null && neuron !== null;
  const words = glass.text(`${KIND}.${part}`, {
    layer,
    head,
    neuron: isNeuron ? neuronIn(model, layer, neuron, glass.text) : "",
    key: word(pieces[key ?? query]),
    piece: word(pieces[query] ?? ""),
  });
  if (isNeuron) return { value, words, select: { layer, neuron, query } };
  if (layer === null || head === null) return { value, words };
  return { value, words, select: { layer, head, query, ...(part === "head" && key !== null && { key }) } };
}

/**
 * Whose logit is read, and less whose.
 *
 * @param {Moment} moment
 * @param {Offered} offered
 * @param {boolean} second less that of the runner-up
 */
function askedOf({ at, token }, { ids, pieces }, second) {
  const target = token?.id ?? ids[0];
  const runnerUp = second ? ids.findIndex((id) => id !== target) : -1;
  return {
    selection: { token: at, target, against: ids[runnerUp] ?? null },
    names: { piece: word(token?.piece ?? pieces[0]), other: word(pieces[runnerUp] ?? "") },
  };
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function logitTerms(element, glass) {
  const state = shownIn(glass);
  const panel = frame(element, glass, KIND, { parts: ["what", "formula", "myth"], pointed: false });
  const versus = choices(glass, KIND, "versus", ["alone", "second"]);
  const list = createTerms(glass, KIND);

  /** @param {string} notice */
  const view = (notice) => html`
    <p class="wy-notice" data-part="notice" .textContent=${notice}></p>
    <div class="gp-options">${versus.element}</div>
    ${list.element}
  `;
  render(view(""), panel.body);

  return inView(element, function draw() {
    versus.show();
    const moment = momentOf(state);
    const offered = offeredOf(glass, moment);
    if (!offered) return undefined;
    const { selection, names } = askedOf(moment, offered, versus.now() === "second");
    const reading = readHere(glass, logitTermsReader, selection);
    return () => {
      panel.title.textContent = panel.text(selection.against === null ? "title" : "title_second", names);
      element.toggleAttribute("data-loading", !reading);
      if (!reading) return;
      const { terms, others, values } = reading;
      const named = terms.map((one) => namedTerm(glass, one, moment.at));
      const [first] = list.draw(named, values.sum, terms.length + others.count, COUNT);
      const said = { logit: signed(values.logit, 5), value: signed(values.first, 4), words: first.words };
      render(view(panel.text("notice", said)), panel.body);
      panel.show(reading, "");
    };
  });
}
