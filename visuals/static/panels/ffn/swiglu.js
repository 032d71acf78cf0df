// SwiGLU: gate → SiLU(gate), up and their product for all neurons of a token, and the strongest neurons in numbers.

import { innerOf, silu } from "../../compute.js";
import { exact, h, inBrackets, line, shown, strong, tinted } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { isChanged, neuronOff, neuronsOff } from "../../off.js";
import { createStrips } from "../../marks/strips.js";
import { swiglus } from "../../parts.js";
import { inView, link, steer, widthOf } from "../../pointing.js";
import { part } from "../../reads.js";
import { drawCurve } from "./swiglu-curve.js";
import { createNeurons, STRIPS } from "./swiglu-table.js";

const CURVE = 460; // the curve's width, where there is room
const NARROW = 420; // below this the table has four digits instead of five

/** @typedef {{ neuron, gate, silu, up, product: number }} Neuron */

/** The strongest neurons of a token, which every layer brings along. @returns {Neuron[]} */
function strongestOf({ top }, token) {
  const count = top.neuron.shape[1];
  return Array.from({ length: count }, (_, i) => {
    const [neuron, gate, up] = [top.neuron, top.gate, top.up].map(({ data }) => data[token * count + i]);
    return { neuron, gate, up, silu: silu(gate), product: silu(gate) * up };
  });
}

/** @returns {Neuron} one neuron of the whole vectors */
const neuronOf = (full, neuron) => ({
  neuron,
  ...Object.fromEntries(STRIPS.map(([name]) => [name, full[name][neuron]])),
});

/** What is here of one token: its strongest neurons, and its whole vectors once they have come. */
function createView() {
  const view = { full: null, strongest: [], chosen: 0 };
  view.read = (layer, token) => {
    const neurons = layer.neurons.get(token);
    view.full = neurons ? innerOf(neurons) : null;
    view.strongest = strongestOf(layer, token);
  };
  /** @param {number|null} neuron @returns {Neuron} that one where it is here, else the strongest */
  view.choose = (neuron) => {
    const held = view.full
      ? neuron !== null && neuronOf(view.full, neuron)
      : view.strongest.find((n) => n.neuron === neuron);
    const chosen = held || view.strongest[0];
    view.chosen = chosen.neuron;
    return chosen;
  };
  view.every = () => (view.full ? Array.from(view.full.gate, (_, i) => neuronOf(view.full, i)) : view.strongest);
  return view;
}

/** SiLU(gate) ⊙ up with the numbers of one neuron. */
function arithmetic({ neuron, gate, silu: activated, up, product }, text) {
  const factor = () => tinted("up", inBrackets(up));
  return line`${tinted("gate", "SiLU(gate)")} ⊙ ${tinted("up", "up")}   ${text("at", { neuron })}   ${tinted("gate", `SiLU(${shown(gate, 5)})`)} × ${factor()} = ${tinted("gate", shown(activated, 5))} × ${factor()} = ${strong(product)}`;
}

export const about = { tensors: ["gate", "up"], minus: "glance", unused: "neuron", absent: swiglus };

/** @param {HTMLElement} element @param {object} glass */
export default function swiglu(element, glass) {
  const canvas = h("canvas.gp-canvas", { "data-text-label": "swiglu.strips" });
  const curve = h("canvas.gp-curve", { role: "img", "data-text-label": "swiglu.curve" });
  const view = createView();
  const csv = () => {
    const { trace, layer } = glass.state;
    const off = isChanged(trace) ? [(neuron) => Number(neuronOff(trace, layer, neuron))] : [];
    return [
      ["neuron", "gate", "silu", "up", "product", ...off.map(() => "off")],
      ...view.every().map((n) => [n.neuron, n.gate, n.silu, n.up, n.product, ...off.map((of) => of(n.neuron))]),
    ];
  };
  const panel = frame(element, glass, "swiglu", { csv, parts: ["what", "formula", "myth"] });
  const [formula, note] = [h("div.gp-formula"), h("p.gp-note")];
  const table = createNeurons(glass);
  panel.body.append(canvas, note, formula, h("div.gp-columns", null, table.box, h("div", null, curve)));
  const strips = createStrips(canvas, { legend: () => [[0, panel.text("lowest")], [0.5, "0"], [1, panel.text("highest")]] });
  const wide = widthOf(panel.body, glass);
  const curveWide = widthOf(curve.parentElement, glass);
  link(canvas, glass, (x) => {
    const neuron = strips.find(x);
    return neuron === null ? null : { neuron };
  });
  const move =
    (by) =>
    ({ trace, layer }) =>
      view.full ? { neuron: Math.max(0, Math.min(trace.model.parts.ffn[layer].neurons - 1, view.chosen + by)) } : null;
  steer(canvas, glass, { ArrowLeft: move(-1), ArrowRight: move(1) });

  function noteText() {
    if (!view.full) return panel.text("partial", { count: view.strongest.length });
    const each = strips.perColumn(view.full.gate.length);
    return each > 1 ? panel.text("pooled", { each: each.toFixed(1) }) : "";
  }
  function tell(chosen) {
    const { trace, layer, query } = glass.state;
    const named = { token: query, piece: visible(trace.tokens.pieces[query]) };
    panel.title.textContent = panel.text("title", { layer, ...named });
    note.textContent = noteText();
    table.mark(chosen.neuron);
    const { neuron, gate, silu: activated, up, product } = chosen;
    formula.replaceChildren(arithmetic(chosen, panel.text));
    const factors = `gate=${exact(gate)} silu=${exact(activated)} up=${exact(up)}`;
    const reading = panel.text("read", { neuron, ...named, product: shown(product, 5) });
    panel.tell(`neuron ${neuron} ${factors} product=${exact(product)}`, reading);
  }

  function drawStrips(width, chosen) {
    const { trace, layer } = glass.state;
    const rows = STRIPS.map(([name, role]) => ({ name: panel.text(name), role, values: view.full?.[name] ?? null }));
    if (view.full) Object.assign(rows.at(-1), { off: neuronsOff(trace, layer), word: panel.text("off") });
    strips.draw(width, rows, { chosen, key: [trace, layer] });
  }

  const read = part((held, query) => view.read(held, query));
  const fill = part((strongest, digits, trace, layer) => table.fill(strongest, digits, (one) => neuronOff(trace, layer, one)));
  return inView(element, function draw() {
    const { query, neuron } = glass.state;
    const held = glass.layer();
    const width = wide();
    if (!held || width === 0) return null;
    read(held, query);
    const chosen = view.choose(neuron);
    drawStrips(width, chosen.neuron);
    const gates = view.full ? view.full.gate : view.strongest.map((n) => n.gate);
    drawCurve(curve, gates, chosen.gate, Math.min(CURVE, curveWide()));
    return () => {
      const { trace, layer } = glass.state;
      fill(view.strongest, width < NARROW ? 4 : 5, trace, layer);
      tell(chosen);
    };
  });
}
