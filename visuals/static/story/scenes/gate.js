// SwiGLU: a neuron that adds much to the answer, its gate on SiLU's curve, and what it is for.

import { silu } from "../../activations.js";
import { labelsOf } from "../../characters.js";
import { exact, h, svg } from "../../dom.js";
import { visible } from "../../draw.js";
import { bracketed } from "../../equation.js";
import { glossOf } from "../../gloss.js";
import { answerNeuron, layerForAnswer } from "../../readings/answer-neuron.js";
import { memo } from "../../reads.js";
import { createFold } from "../fold.js";
import { sentences } from "../../panels/glance/words.js";
import { answerOf, bold, count, few, fewOut, named as namedToken, signed, told } from "../words.js";

/** @typedef {import("../../readings/answer-neuron.js").AnswerNeuron} AnswerNeuron */

const ALIKE = 0.9; // tokens are raised alike where each gets this share of what the first does

const [HIGH, BELOW] = [236, 46]; // px, and px under the axis
const [LEAST, NAMED] = [4, 5]; // how far the axis goes at least, and how many tokens are named

/**
 * From the gate to the product, in digits that come out.
 *
 * @param {Pick<AnswerNeuron, "gate" | "open" | "up" | "product">} neuron
 */
export const writtenOf = ({ gate, open, up, product }) =>
  fewOut({ gate, open, up, product }, [
    ["open", ["gate"], silu],
    ["product", ["open", "up"], (a, b) => a * b],
  ]);

/**
 * SiLU, with the gate of one neuron on it.
 *
 * @param {number} width
 * @param {AnswerNeuron} neuron
 */
function curveOf(width, neuron) {
  const [{ gate, open }, said] = [neuron, writtenOf(neuron)];
  const reach = Math.max(LEAST, Math.ceil(Math.abs(gate)) + 1);
  const x = (/** @type {number} */ g) => width * (0.5 + g / (2 * reach));
  const y = (/** @type {number} */ s) => HIGH - BELOW - ((HIGH - BELOW - 20) * s) / reach;
  const across = Array.from({ length: 121 }, (_, i) => -reach + (2 * reach * i) / 120);
  const points = across.map((g) => `${x(g)},${y(silu(g))}`).join(" ");
  const closed = gate < 0;
  return [
    svg("line.st-axis", { x1: 0, x2: width, y1: y(0), y2: y(0) }),
    svg("line.st-axis", { x1: x(0), x2: x(0), y1: 10, y2: HIGH - BELOW + 20 }),
    svg("text", { x: width, y: y(0) + 38, "text-anchor": "end" }, "gate"),
    svg("text", { x: x(0) - 8, y: 22, "text-anchor": "end" }, "SiLU(gate)"),
    svg("polyline.st-silu", { points }),
    svg("line.st-drop", { x1: x(gate), x2: x(gate), y1: y(0), y2: y(open) }),
    svg("circle.st-gate", { cx: x(gate), cy: y(open), r: 8 }),
    svg("text", { x: x(gate), y: y(0) + 20, "text-anchor": "middle", style: "fill: var(--glass-gate)" }, said.gate),
    svg(
      "text",
      { x: x(gate) + (closed ? 14 : -14), y: y(open) - 8, "text-anchor": closed ? "start" : "end" },
      `SiLU = ${said.open}`,
    ),
  ];
}

/**
 * What the neuron is for: which tokens it raises most, and where the answer is not among them, that it is not the
 * neuron that makes it.
 *
 * @param {import("../scene.js").Glass} glass
 * @param {AnswerNeuron} neuron
 * @param {{ answer: string; layer: number; whole: number }} of `whole`: what the layer's neurons add together
 */
function purposeOf(glass, { neuron, raised, adds, rank, names }, { answer, layer, whole }) {
  const { text } = glass;
  const gloss = glossOf(glass);
  const pieces = raised
    .slice(0, NAMED)
    .map(({ piece, by }) => text("story.gate_raised", { piece: visible(piece) + gloss(piece), by: signed(by) }));
  const dot = pieces.some((one) => one.includes("·")) ? text("story.gate_dot") : "";
  const given = { answer, raised: pieces.join(text("why.list")), dot };
  const placed = text(`story.gate_${rank === 1 ? "first" : "later"}`, { layer, neuron, rank });
  const raises = text(names ? "story.gate_raises" : "story.gate_others", given);
  const some = raised.slice(0, NAMED);
  const isAlike = names && some.length > 1 && some.every(({ by }) => by >= ALIKE * some[0].by);
  const alike = isAlike ? text("story.gate_kind") : "";
  const isAlone = adds >= whole / 2;
  const together = isAlone ? "" : text("story.gate_together");
  return sentences(text, placed, raises, sentences(text, alike, together));
}

/**
 * @param {import("../scene.js").Glass} glass
 * @returns {import("../scene.js").Scene}
 */
export function createGate(glass) {
  const { state, text } = glass;
  const drawing = svg("svg.st-silus", { role: "img" });
  const formula = h("p.st-formula", { lang: "en" });
  const [opens, raises] = [h("p.st-note"), h("p.st-note")];
  const element = h("div", null, drawing, formula);
  const paint = memo((/** @type {number} */ width, /** @type {AnswerNeuron} */ found, _language) => {
    const { open, up, product } = writtenOf(found);
    drawing.setAttribute("viewBox", `0 0 ${width} ${HIGH}`);
    drawing.setAttribute("aria-label", text("story.gate_curve"));
    drawing.replaceChildren(...curveOf(width, found));
    formula.textContent = `SiLU(gate) · up = ${bracketed(open)} · ${bracketed(up)} = ${product}`;
  });
  return {
    name: "gate",
    behind: ["ffn", "ffn-token"],
    element,
    notes: h("div", null, opens, createFold("story.gate_fold", raises)),
    has: ({ parts: { ffn, stack } }) =>
      !stack && ffn.every(({ gated, activation, experts }) => gated && activation === "silu" && !experts),
    draw(width) {
      const { trace, language } = state;
      if (!trace?.next) return null;
      const [query, answer] = [trace.T - 1, trace.next.ids[0]];
      const terms = glass.detail("logit_terms", { token: query, target: answer, against: null });
      const layer = terms ? layerForAnswer(terms) : -1;
      const asked = { layer, token: query, neuron: null, target: answer };
      const written = terms && glass.detail("ffn_written", asked);
      const found = written && answerNeuron(written, answer);
      if (!terms || !found) return null;
      const { neuron, gate, up, adds, open, product } = found;
      paint(width, found, language);
      const named = answerOf(text, trace.next.pieces[0], trace.model.eos_ids.includes(answer));
      const [whole, said] = [terms.ffn.data[layer], writtenOf(found)];
      // what it writes may point away from the answer, and minus turns it round
      opens.textContent = text(`story.gate_note${product < 0 ? "_turned" : ""}`);
      raises.textContent = purposeOf(glass, found, { answer: named, layer, whole });
      return {
        form: gate > 0 && few(gate, 2) === few(open, 2) ? "_open" : "",
        words: {
          layer: String(layer),
          neuron: bold(String(neuron)),
          word: bold(namedToken(text, labelsOf(trace.tokens.pieces), query)),
          gate: told(said.gate, gate),
          open: told(said.open, open),
          product: told(said.product, product),
          count: count(trace.model.parts.ffn[layer].neurons, language),
          adds: told(signed(adds), adds),
          whole: told(signed(whole), whole),
          answer: bold(named + glossOf(glass)(named)),
        },
        value: [
          `layer ${layer} neuron ${neuron} gate=${exact(gate)} up=${exact(up)}`,
          `product=${exact(product)} adds=${exact(adds)} whole=${exact(whole)}`,
        ].join(" "),
        select: { layer, query, neuron },
      };
    },
  };
}
