// A feed-forward across tokens: where the strongest neurons of a layer fire, and how sparse each layer is.

import { labelsOf } from "../../characters.js";
import { h, shown } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { neuronName } from "../../neuron-names.js";
import { ffnsOff } from "../../off.js";
import { inWidth, bindPointer, widthOf } from "../../pointing.js";
import { ffnForms, kindOf } from "../../readings/ffn-kinds.js";
import { firingReader, mapReader, meanName, MEASURES } from "../../readings/firing.js";
import { readHere, shownIn } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";
import { createMap, createViews, opened } from "./neuron-map.js";
import { drawSparsity, findLayer } from "./sparsity.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../readings/firing.js").FiringReading} FiringReading
 */

const KIND = "ffn-tokens";

/**
 * What the panel's readers are asked for, with the map of a layer: that which is pointed at, or the locked one.
 *
 * @param {Pick<Glass, "state">} glass
 * @param {{ layer: number }} [place]
 */
const select = ({ state }, { layer } = state) => ({
  layer,
  query: state.query,
  neuron: state.neuron,
  measured: state.layer,
});

/** What a compared run's layer is called in texts. @param {import("../../difference/face.js").Run} run */
const kindIn = ({ trace, layer }) => kindOf(trace.model.parts.ffn[layer]);

/** @param {Glass} glass */
function viewControls(glass) {
  const { element, mark } = createViews(glass);
  return { elements: [element], show: mark };
}

/** @type {import("../../frame.js").About} */
export const about = {
  tensors: ["router_scores", "experts", "expert_weight", "gate", "up"],
  difference: {
    reader: mapReader,
    select: (glass) => ({ ...select(glass), other: glass.sides()?.B.id }), // both maps are of B's neurons
    controls: viewControls,
    of: ({ text, named, chosen: { layer, neuron }, b, glass }) =>
      text("of_neuron_at", { ...named, neuron: neuronName(b.trace.model.parts.ffn[layer], neuron, glass.text) }),
    said: ["product"],
    parts: [
      { draw: "map", create: createMap, called: "n_product", title: "strongest" },
      {
        draw: "table",
        rows: "means",
        column: "mean",
        title: "firing",
        heading: "place",
        name: ({ key: { layer, measure }, b, text }) =>
          text("measure", { layer, name: text(`n_${measure}`, { ...kindIn(b) }) }),
        free: ["query", "neuron"],
        most: 12,
      },
    ],
  },
  unused: "neuron",
  forms: ffnForms,
};

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function ffnTokens(element, glass) {
  const state = shownIn(glass);
  const map = createMap(glass, `${KIND}.map`);
  const chart = h("canvas.gp-canvas", { "data-text-label": `${KIND}.chart` });
  const panel = frame(element, glass, KIND, { parts: ["what", "formula", "myth"] });
  const views = createViews(glass);
  const wide = widthOf(panel.body, glass);
  bindPointer(chart, glass, (x) => ({ layer: findLayer(wide(), state.trace.model.n_layers, x) }));
  /** What the measured layer is called. @param {FiringReading} reading */
  const measuredKind = ({ selection }) => kindOf(state.trace.model.parts.ffn[selection.measured]);

  /** How sparsely the measured layer fires, in words. @param {FiringReading} reading */
  function measuresOf(reading) {
    const { layers, selection } = reading;
    const mean = (/** @type {(typeof MEASURES)[number]} */ name) =>
      layers ? shown(100 * layers.columns[meanName(name)][selection.measured], 3) : "…";
    const means = Object.fromEntries(MEASURES.map((name) => [name, mean(name)]));
    return panel.text("measures", { ...measuredKind(reading), layer: selection.measured, ...means });
  }

  /** @param {FiringReading | null} reading null before it has come */
  const view = (reading) => html`
    ${views.element}
    <p
      class="gp-note"
      .textContent=${reading ? panel.text(opened(glass) ? "note_gates" : "note", { ...reading.kind }) : ""}
    ></p>
    ${map.element}
    <h3 class="gp-subtitle" .textContent=${reading ? panel.text("sparsity_title") : ""}></h3>
    <p class="gp-note" .textContent=${reading ? measuresOf(reading) : ""}></p>
    ${chart}
  `;
  render(view(null), panel.body);

  /**
   * @param {number} width
   * @param {FiringReading} reading
   */
  function draw(width, reading) {
    const { trace } = state;
    const { answer, layers, selection } = reading;
    const held = trace.layers.get(selection.layer) ?? null;
    map.draw([{ trace, layer: selection.layer, held, details: { map: answer } }], width);
    chart.hidden = !layers;
    if (!layers) return;
    /** @type {Say} */
    const text = (name, more) => panel.text(name, { ...measuredKind(reading), ...more });
    const unused = { off: ffnsOff(trace), word: glass.text("off.word") };
    drawSparsity(chart, width, layers, { layer: selection.measured, text, ...unused });
  }

  /** @param {FiringReading} reading */
  function wordsOf({ answer, ffn, kind, values, selection: { neuron, query } }) {
    const asked = state.neuron;
    const nameOf = (/** @type {number} */ one) => neuronName(ffn, one, glass.text);
    const isElsewhere = asked !== null && !answer.neurons.includes(asked);
    const elsewhere = isElsewhere ? `${panel.text("not_here", { neuron: nameOf(asked) })} ` : "";
    const words = panel.text("read", {
      ...kind,
      neuron: nameOf(neuron),
      token: query,
      piece: visible(labelsOf(state.trace.tokens.pieces)[query]),
      product: shown(values.product, 5),
      read: shown(values[kind.reads], 4),
    });
    return elsewhere + words;
  }

  return inWidth(element, wide, function drawPanel(width) {
    const reading = readHere(glass, firingReader, select(glass), select(glass, state.locked));
    element.classList.toggle("is-coming", !reading);
    if (!reading) return undefined;
    draw(width, reading);
    return () => {
      const { answer, ffn, selection } = reading;
      const sizes = { count: answer.neurons.length, f: ffn.neurons, tokens: state.trace.T };
      panel.title.textContent = panel.text("title", { layer: selection.layer, ...sizes });
      views.mark();
      render(view(reading), panel.body);
      panel.show(reading, wordsOf(reading));
    };
  });
}
