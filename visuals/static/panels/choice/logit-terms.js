// @ts-check
// What made this logit: an exact sum over the embedding, every head by the token that it read, and every neuron.

import { choices } from "../../controls.js";
import { exact, h, signed } from "../../dom.js";
import { frame } from "../../frame.js";
import { momentOf, offeredOf } from "../../chosen-step.js";
import { noChoice } from "../../parts.js";
import { inView } from "../../pointing.js";
import { shownIn } from "../../run-for.js";
import { neuronIn } from "../../neuron-names.js";
import { createTerms } from "../glance/terms.js";
import { word } from "../glance/words.js";

/**
 * @typedef {import("../../decoded.d.ts").Detail<"logit_terms">} Found
 *
 * @typedef {import("../glance/terms.js").Term} Term
 *
 * @typedef {import("../../types.d.ts").Say} Say
 */

const COUNT = 14;

/** @type {import("../../frame.js").About} */
export const about = { tensors: ["attention", "v", "gate", "up", "logits"], absent: noChoice };

/**
 * The terms by name, with the place of each.
 *
 * @param {Found} found
 * @param {import("../../decode.js").Trace} trace
 * @param {number} at
 * @param {Say} say the panel's own texts
 * @param {Say} text all texts
 * @returns {Term[]}
 */
function termsOf(found, { tokens: { pieces }, encoder, model }, at, say, text) {
  const { heads, neurons } = found;
  const source = encoder?.tokens.pieces ?? [];
  const [, count, tokens] = heads.shape;
  const ofHead = (/** @type {number} */ value, /** @type {number} */ i) => {
    const [layer, head, key] = [Math.floor(i / (count * tokens)), Math.floor(i / tokens) % count, i % tokens];
    return {
      value,
      words: say("head", { layer, head, key: word(pieces[key]) }),
      select: { layer, head, query: at, key },
    };
  };
  const ofCross = (/** @type {number} */ value, /** @type {number} */ i) => {
    const [layer, head, key] = [
      Math.floor(i / (count * source.length)),
      Math.floor(i / source.length) % count,
      i % source.length,
    ];
    return {
      value,
      words: say("cross", { layer, head, key: word(source[key]) }),
      select: { layer, head, query: at },
    };
  };
  return [
    { value: found.embedding, words: say("embedding", { piece: word(pieces[at]) }) },
    ...(found.patched ? [{ value: found.patched, words: say("patched") }] : []),
    ...(found.biases ? [{ value: found.biases, words: say("biases") }] : []),
    ...Array.from(heads.data, ofHead),
    ...(found.cross ? Array.from(found.cross.data, ofCross) : []),
    ...neurons.map(({ layer, neuron, value }) => ({
      value,
      words: say("neuron", { layer, neuron: neuronIn(model, layer, neuron, text) }),
      select: { layer, neuron, query: at },
    })),
  ];
}

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function logitTerms(element, glass) {
  const state = shownIn(glass);
  /** @type {Term[]} the terms by name */
  let shown = [];
  let rest = { count: 0, value: 0 }; // all others together
  const panel = frame(element, glass, "logit-terms", {
    csv: () => [
      ["term", "value"],
      ...shown.map(({ words, value }) => [words, value]),
      [panel.text("others", { count: rest.count }), rest.value],
    ],
    parts: ["what", "formula", "myth"],
    pointed: false,
  });
  const versus = choices(glass, "logit-terms", "versus", ["alone", "second"]);
  const say = h("p.wy-notice", { "data-part": "notice" });
  const list = createTerms(glass, "logit-terms");
  panel.body.append(say, h("div.gp-options", null, versus.element), list.element);

  return inView(element, function draw() {
    const { trace } = state;
    const moment = momentOf(state);
    const next = offeredOf(glass, moment);
    versus.show();
    if (!next) return;
    const target = moment.token?.id ?? next.ids[0];
    const second = next.ids.findIndex((id) => id !== target);
    const against = versus.now() === "second" && second >= 0 ? next.ids[second] : null;
    const found = glass.detail("logit_terms", { token: moment.at, target, against });
    element.toggleAttribute("data-loading", !found);
    const piece = word(moment.token?.piece ?? next.pieces[0]);
    panel.title.textContent =
      against === null
        ? panel.text("title", { piece })
        : panel.text("title_second", { piece, other: word(next.pieces[second]) });
    if (!found) return;
    const { n_layers: layers, ffn_hidden: width } = trace.model;
    shown = termsOf(found, trace, moment.at, panel.text, glass.text);
    const all = shown.length - found.neurons.length + layers * width;
    rest = { count: all - shown.length, value: found.other_neurons };
    const [first] = list.draw(shown, found.total, all, COUNT);
    say.textContent = panel.text("notice", {
      logit: signed(found.logit, 5),
      value: signed(first.value, 4),
      words: first.words,
    });
    const sums = `logit=${exact(found.logit, 7)} sum=${exact(found.total, 7)}`;
    panel.tell(`after ${moment.at} target ${target} ${sums} first=${exact(first.value)}`);
  });
}
