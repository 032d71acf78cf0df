// What made this logit: an exact sum over the embedding, every head by the token that it read, and every neuron.

import { choices } from "../../controls.js";
import { exact, h, signed } from "../../dom.js";
import { frame } from "../../frame.js";
import { momentOf, offeredOf } from "../../chosen-step.js";
import { noChoice } from "../../parts.js";
import { inView } from "../../pointing.js";
import { neuronIn } from "../../neuron-names.js";
import { createTerms } from "../glance/terms.js";
import { word } from "../glance/words.js";

const COUNT = 14;

export const about = { tensors: ["attention", "v", "gate", "up", "logits"], absent: noChoice };

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function logitTerms(element, glass) {
  const { state } = glass;
  let [shown, rest] = [[], { count: 0, value: 0 }]; // the terms by name, and all others together
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

  /** The terms by name, with the place of each. */
  function termsOf(found, at) {
    const { heads, neurons } = found;
    const [, count, tokens] = heads.shape;
    const { pieces } = state.trace.tokens;
    const ofHead = (value, i) => {
      const [layer, head, key] = [Math.floor(i / (count * tokens)), Math.floor(i / tokens) % count, i % tokens];
      return {
        value,
        words: panel.text("head", { layer, head, key: word(pieces[key]) }),
        select: { layer, head, query: at, key },
      };
    };
    const ofCross = (value, i) => {
      const { T, tokens: source } = state.trace.encoder;
      const [layer, head, key] = [Math.floor(i / (count * T)), Math.floor(i / T) % count, i % T];
      return {
        value,
        words: panel.text("cross", { layer, head, key: word(source.pieces[key]) }),
        select: { layer, head, query: at },
      };
    };
    return [
      { value: found.embedding, words: panel.text("embedding", { piece: word(pieces[at]) }) },
      ...["patched", "biases"].filter((one) => found[one]).map((of) => ({ value: found[of], words: panel.text(of) })),
      ...Array.from(heads.data, ofHead),
      ...(found.cross ? Array.from(found.cross.data, ofCross) : []),
      ...neurons.map(({ layer, neuron, value }) => ({
        value,
        words: panel.text("neuron", { layer, neuron: neuronIn(state.trace.model, layer, neuron, glass.text) }),
        select: { layer, neuron, query: at },
      })),
    ];
  }

  return inView(element, function draw() {
    const { trace } = state;
    const moment = momentOf(state);
    const next = offeredOf(glass, moment);
    versus.show();
    if (!next) return;
    const target = moment.token?.id ?? next.ids[0];
    const second = next.ids.findIndex((id) => id !== target);
    const against = versus.now() === "second" ? next.ids[second] : null;
    const found = glass.detail("logit_terms", { token: moment.at, target, against });
    element.toggleAttribute("data-loading", !found);
    const piece = word(moment.token?.piece ?? next.pieces[0]);
    panel.title.textContent = panel.text(against === null ? "title" : "title_second", {
      piece,
      other: word(next.pieces[second]),
    });
    if (!found) return;
    const { n_layers: layers, ffn_hidden: width } = trace.model;
    shown = termsOf(found, moment.at);
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
