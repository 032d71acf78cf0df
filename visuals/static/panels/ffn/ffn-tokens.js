// A feed-forward across tokens: where the strongest neurons of a layer fire, and how sparse each layer is.

import { exact, h, shown } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { ffnsOff } from "../../off.js";
import { inWidth, bindPointer, widthOf } from "../../pointing.js";
import { memo } from "../../reads.js";
import { columnOf, drawnOf, ffnForms, kindOf, meanOf } from "./kinds.js";
import { neuronName, neuronPlace, ownerHeads, ownerOf } from "../../neuron-names.js";
import { cellsOf, createMap, createViews, opened, spokenOf } from "./neuron-map.js";
import { drawSparsity, findLayer, MEASURES } from "./sparsity.js";

const KIND = "ffn-tokens";

export const about = {
  tensors: ["router_scores", "experts", "expert_weight", "gate", "up"],
  difference: "detail",
  unused: "neuron",
  forms: ffnForms,
};

/**
 * A row for each neuron of the map at each token.
 *
 * @returns {(string | number)[][]}
 */
function tableOf({ answer: { neurons }, cells, ffn, kind }, { T, tokens: { pieces } }) {
  const names = ["gate", "up", "weight", "product"].filter((name) => cells[name]);
  const rows = neurons.flatMap((neuron, i) =>
    pieces.map((piece, t) => [
      neuron,
      ...ownerOf(ffn, neuron),
      t,
      piece,
      ...names.map((name) => cells[name][i * T + t]),
    ]),
  );
  return [["neuron", ...ownerHeads(ffn), "token", "piece", ...names.map((name) => columnOf(name, kind))], ...rows];
}

/**
 * What is told of a neuron at a token: of one that the map has not, once all of the token's are here; until then of
 * the map's first.
 */
function factsOf({ answer, layer, cells }, trace, query, neuron) {
  const at = answer.neurons.indexOf(neuron);
  const all = at < 0 && neuron !== null && trace.layers.get(layer)?.neurons.get(query);
  const [from, place] = all ? [drawnOf(all), drawnOf(all).place(neuron)] : [cells, Math.max(0, at) * trace.T + query];
  const number = (name) => (from[name] ? (from[name][place] ?? NaN) : null);
  return {
    neuron: all ? neuron : answer.neurons[Math.max(0, at)],
    gate: number("gate"),
    up: number("up"),
    product: number("product"),
  };
}

/** The numbers of a neuron that there are, as a program reads them. */
const valuesOf = (facts) =>
  ["gate", "up", "product"]
    .filter((name) => facts[name] !== null)
    .map((name) => `${name}=${exact(facts[name])}`)
    .join(" ");

/** The answer of the layer that is pointed at, where it is here; else of the locked one. */
function answerAt(glass) {
  for (const { layer } of [glass.state, glass.state.locked]) {
    const answer = glass.detail("ffn_map", { layer });
    if (answer) return { answer, layer };
  }
  return null;
}

/** How many neurons fire at a token and in the mean, by each measure, as a program reads them. */
const sharesOf = (firing, { layer, trace }, query) =>
  MEASURES.map(([name]) => {
    const own = firing[name].data[layer * trace.T + query];
    return ` ${name}=${exact(own)} mean_${name}=${exact(meanOf(firing[name], layer))}`;
  }).join("");

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function ffnTokens(element, glass) {
  const { state } = glass;
  const map = createMap(glass, `${KIND}.map`);
  const chart = h("canvas.gp-canvas", { "data-text-label": `${KIND}.chart` });
  const view = { answer: null, layer: 0, cells: null, ffn: null, kind: null, firing: null };
  const panel = frame(element, glass, KIND, {
    csv: () => (view.answer ? tableOf(view, state.trace) : []),
    parts: ["what", "formula", "myth"],
  });
  const views = createViews(glass);
  const [note, subtitle, measures] = [h("p.gp-note"), h("h3.gp-subtitle"), h("p.gp-note")];
  panel.body.append(views.element, note, map.element, subtitle, measures, chart);
  const wide = widthOf(panel.body, glass);
  bindPointer(chart, glass, (x) => ({ layer: findLayer(wide(), state.trace.model.n_layers, x) }));

  function tell(query, neuron) {
    const { answer, layer, firing, kind, ffn } = view;
    const facts = factsOf(view, state.trace, query, neuron);
    const shares = firing ? sharesOf(firing, state, query) : "";
    const params = {
      neuron: neuronName(ffn, facts.neuron, glass.text),
      token: query,
      piece: visible(state.trace.tokens.pieces[query]),
      product: shown(facts.product, 5),
      read: shown(facts[kind.reads], 4),
    };
    const isElsewhere = neuron !== null && !answer.neurons.includes(neuron);
    const elsewhere = isElsewhere ? `${panel.text("not_here", { neuron: neuronName(ffn, neuron, glass.text) })} ` : "";
    const at = `layer ${layer} ${neuronPlace(ffn, facts.neuron)} token ${query}`;
    panel.tell(
      `${at} ${valuesOf(facts)} measured layer ${state.layer}${shares}`,
      elsewhere + panel.text("read", { ...kind, ...params }),
    );
  }

  function drawMeasures(width, layer, query) {
    const { firing } = view;
    const means = MEASURES.map(([name]) => [name, firing ? shown(100 * meanOf(firing[name], layer), 3) : "…"]);
    const kind = kindOf(state.trace.model.parts.ffn[layer]);
    const text = (name, more) => panel.text(name, { ...kind, ...more });
    subtitle.textContent = panel.text("sparsity_title");
    measures.textContent = panel.text("measures", { ...kind, layer, ...Object.fromEntries(means) });
    chart.hidden = !firing;
    if (firing)
      drawSparsity(chart, width, firing, {
        layer,
        token: query,
        text,
        off: ffnsOff(state.trace),
        word: glass.text("off.word"),
      });
  }

  const prepare = memo((open, answer, layer, _language) => {
    const { trace } = state;
    const ffn = trace.model.parts.ffn[layer];
    const kind = kindOf(ffn);
    Object.assign(view, { answer, layer, ffn, kind, cells: cellsOf(answer, ffn) });
    panel.title.textContent = panel.text("title", {
      layer,
      count: answer.neurons.length,
      f: ffn.neurons,
      tokens: trace.T,
    });
    note.textContent = panel.text(open ? "note_gates" : "note", kind);
    views.mark();
  });
  return inWidth(element, wide, function draw(width) {
    const { layer, query } = state;
    const found = answerAt(glass);
    view.firing = glass.detail("ffn_firing", {});
    element.classList.toggle("is-coming", !found);
    if (!found) return;
    prepare(opened(glass), found.answer, found.layer, state.language);
    const { trace } = state;
    const run = { trace, layer: found.layer, held: trace.layers.get(found.layer), details: { map: found.answer } };
    map.draw([run], width);
    drawMeasures(width, layer, query);
    tell(query, spokenOf(state, run));
  });
}
