// SwiGLU across tokens: where the strongest neurons of a layer fire, and how sparse each layer is.

import { silu } from "../../compute.js";
import { exact, h, shown } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { ffnsOff } from "../../off.js";
import { swiglus } from "../../parts.js";
import { inView, link, widthOf } from "../../pointing.js";
import { part } from "../../reads.js";
import { meanOf } from "./gates.js";
import { createMap, productsOf, spokenOf } from "./neuron-map.js";
import { drawSparsity, findLayer, MEASURES } from "./sparsity.js";
import { createViews, opened } from "./views.js";

const KIND = "ffn-tokens";

export const about = { tensors: ["gate", "up"], minus: "detail", unused: "neuron", absent: swiglus };

/** @param {HTMLElement} element @param {object} glass */
export default function ffnTokens(element, glass) {
  const { state } = glass;
  const map = createMap(glass, `${KIND}.map`);
  const chart = h("canvas.gp-canvas", { "data-text-label": `${KIND}.chart` });
  const view = { answer: null, layer: 0, values: [], firing: null };
  const csv = () => {
    if (!view.answer) return [];
    const { neurons, gate, up } = view.answer;
    const { T, tokens } = state.trace;
    const rows = neurons.flatMap((neuron, i) =>
      tokens.pieces.map((piece, t) => [
        neuron,
        t,
        piece,
        gate.data[i * T + t],
        up.data[i * T + t],
        view.values[i * T + t],
      ]),
    );
    return [["neuron", "token", "piece", "gate", "up", "product"], ...rows];
  };
  const panel = frame(element, glass, KIND, { csv, parts: ["what", "formula", "myth"] });
  const views = createViews(glass);
  const [note, subtitle, measures] = [h("p.gp-note"), h("h3.gp-subtitle"), h("p.gp-note")];
  panel.body.append(views.element, note, map.element, subtitle, measures, chart);
  const wide = widthOf(panel.body, glass);
  link(chart, glass, (x) => ({ layer: findLayer(wide(), state.trace.model.n_layers, x) }));

  /** The answer of the layer that is pointed at, where it is here; else of the locked one. */
  function answerAt() {
    for (const { layer } of [state, state.locked]) {
      const answer = glass.detail("ffn_map", { layer });
      if (answer) return { answer, layer };
    }
    return null;
  }

  /** What is told of a neuron at a token: of one that the map has not, once all of the token's are here; until then of the map's first. */
  function factsOf(query, neuron) {
    const { answer, layer, values } = view;
    const at = answer.neurons.indexOf(neuron);
    const all = at < 0 && neuron !== null && state.trace.layers.get(layer)?.neurons.get(query);
    if (all) return { neuron, gate: all.gate.data[neuron], up: all.up.data[neuron], product: silu(all.gate.data[neuron]) * all.up.data[neuron] };
    const cell = Math.max(0, at) * state.trace.T + query;
    return { neuron: answer.neurons[Math.max(0, at)], gate: answer.gate.data[cell], up: answer.up.data[cell], product: values[cell] };
  }

  function tell(query, neuron) {
    const { answer, layer, firing } = view;
    const facts = factsOf(query, neuron);
    const shares = firing
      ? MEASURES.map(
          ([name]) =>
            ` ${name}=${exact(firing[name].data[state.layer * state.trace.T + query])} mean_${name}=${exact(meanOf(firing[name], state.layer))}`,
        ).join("")
      : "";
    const params = {
      neuron: facts.neuron,
      token: query,
      piece: visible(state.trace.tokens.pieces[query]),
      product: shown(facts.product, 5),
      gate: shown(facts.gate, 4),
    };
    panel.tell(
      `layer ${layer} neuron ${params.neuron} token ${query} gate=${exact(facts.gate)} up=${exact(facts.up)} product=${exact(facts.product)} measured layer ${state.layer}${shares}`,
      (neuron !== null && !answer.neurons.includes(neuron) ? `${panel.text("not_here", { neuron })} ` : "") + panel.text("read", params),
    );
  }

  function drawMeasures(width, layer, query) {
    const { firing } = view;
    const params = Object.fromEntries(MEASURES.map(([name]) => [name, firing ? shown(100 * meanOf(firing[name], layer), 3) : "…"]));
    subtitle.textContent = panel.text("sparsity_title");
    measures.textContent = panel.text("measures", { layer, ...params });
    chart.hidden = !firing;
    if (firing) drawSparsity(chart, width, firing, { layer, token: query, text: panel.text, off: ffnsOff(state.trace), word: glass.text("off.word") });
  }

  const prepare = part((open, answer, layer) => {
    const { trace } = state;
    Object.assign(view, { answer, layer, values: productsOf(answer) });
    panel.title.textContent = panel.text("title", { layer, count: answer.neurons.length, f: trace.model.parts.ffn[layer].neurons, tokens: trace.T });
    note.textContent = panel.text(open ? "note_gates" : "note");
    views.mark();
  });
  return inView(element, function draw() {
    const { layer, query } = state;
    const found = answerAt();
    view.firing = glass.detail("ffn_firing", {});
    const width = wide();
    element.classList.toggle("is-coming", !found);
    if (!found || width === 0) return;
    prepare(opened(glass), found.answer, found.layer);
    const { trace } = state;
    const run = { trace, layer: found.layer, held: trace.layers.get(found.layer), details: { map: found.answer } };
    map.draw([run], width);
    drawMeasures(width, layer, query);
    tell(query, spokenOf(state, run));
  });
}
