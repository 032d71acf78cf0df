// A feed-forward across tokens: where the strongest neurons of a layer fire, and how sparse each layer is.

import { labelsOf } from "../../characters.js";
import { exact, h, shown } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { ffnsOff } from "../../off.js";
import { inWidth, bindPointer, widthOf } from "../../pointing.js";
import { memo } from "../../reads.js";
import { columnOf, ffnForms, kindOf } from "../../readings/ffn-kinds.js";
import { meanOf } from "../../readings/firing.js";
import { drawnOf, numberAt } from "../../readings/neurons.js";
import { neuronName, neuronPlace, ownerHeads, ownerOf } from "../../neuron-names.js";
import { shownIn } from "../../run-for.js";
import { cellsOf, createMap, createViews, opened, spokenOf } from "./neuron-map.js";
import { drawSparsity, findLayer, MEASURES } from "./sparsity.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../decode.js").Trace} Trace
 *
 * @typedef {import("./neuron-map.js").Answer} Answer
 *
 * @typedef {import("../../readings/ffn-kinds.js").VectorName} VectorName
 *
 * @typedef {import("../../decoded.d.ts").Detail<"ffn_firing">} Firing
 *
 * @typedef {object} View the map's layer
 * @property {Answer} answer
 * @property {number} layer
 * @property {ReturnType<typeof cellsOf>} cells
 * @property {import("../../messages.d.ts").Ffn} ffn
 * @property {import("../../readings/ffn-kinds.js").Kind} kind
 *
 * @typedef {Record<"gate" | "up" | "product", number | null>} Facts what is told of a neuron, null of what it has
 *   not
 */

/** @type {("gate" | "up" | "product")[]} */
const TOLD = ["gate", "up", "product"];
const KIND = "ffn-tokens";

/** @type {import("../../frame.js").About} */
export const about = {
  tensors: ["router_scores", "experts", "expert_weight", "gate", "up"],
  difference: "detail",
  unused: "neuron",
  forms: ffnForms,
};

/**
 * A row for each neuron of the map at each token.
 *
 * @param {View} view
 * @param {Trace} trace
 * @returns {(string | number)[][]}
 */
function tableOf({ answer: { neurons }, cells, ffn, kind }, { T, tokens: { pieces } }) {
  const names = /** @type {VectorName[]} */ (["gate", "up", "weight", "product"]).filter((name) => cells[name]);
  const rows = neurons.flatMap((neuron, i) =>
    pieces.map((piece, t) => [
      neuron,
      ...ownerOf(ffn, neuron),
      t,
      piece,
      ...names.map((name) => numberAt(cells, name, i * T + t)),
    ]),
  );
  return [["neuron", ...ownerHeads(ffn), "token", "piece", ...names.map((name) => columnOf(name, kind))], ...rows];
}

/**
 * What is told of a neuron at a token: of one that the map has not, once all of the token's are here; until then of
 * the map's first.
 *
 * @param {View} view
 * @param {Trace} trace
 * @param {number} query
 * @param {number | null} neuron
 */
function factsOf({ answer, layer, cells }, trace, query, neuron) {
  const at = answer.neurons.indexOf(neuron ?? -1);
  const neurons = at < 0 && neuron !== null ? trace.layers.get(layer)?.neurons.get(query) : undefined;
  const all = neurons && drawnOf(neurons);
  const here = Math.max(0, at);
  const own = all && neuron !== null ? { from: all, place: all.place(neuron), neuron } : null;
  const told = own ?? { from: cells, place: here * trace.T + query, neuron: answer.neurons[here] };
  const number = (/** @type {keyof Facts} */ name) => (told.from[name] ? numberAt(told.from, name, told.place) : null);
  return {
    neuron: told.neuron,
    gate: number("gate"),
    up: number("up"),
    product: number("product"),
  };
}

/** The numbers of a neuron that there are, as a program reads them. @param {Facts} facts */
const valuesOf = (facts) =>
  TOLD.flatMap((name) => {
    const value = facts[name];
    return value === null ? [] : [`${name}=${exact(value)}`];
  }).join(" ");

/** The answer of the layer that is pointed at, where it is here; else of the locked one. @param {Glass} glass */
function answerAt(glass) {
  for (const { layer } of [glass.state, glass.state.locked]) {
    const answer = glass.detail("ffn_map", { layer });
    if (answer) return { answer, layer };
  }
  return null;
}

/**
 * How many neurons fire at a token and in the mean, by each measure, as a program reads them.
 *
 * @param {Firing} firing
 * @param {{ layer: number; trace: Trace }} state
 * @param {number} query
 */
const sharesOf = (firing, { layer, trace }, query) =>
  MEASURES.map(([name]) => {
    const own = firing[name].data[layer * trace.T + query];
    return ` ${name}=${exact(own)} mean_${name}=${exact(meanOf(firing[name], layer))}`;
  }).join("");

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function ffnTokens(element, glass) {
  const state = shownIn(glass);
  const map = createMap(glass, `${KIND}.map`);
  const chart = h("canvas.gp-canvas", { "data-text-label": `${KIND}.chart` });
  /** @type {View | null} null until it has come */
  let view = null;
  /** @type {Firing | null} */
  let firing = null;
  const panel = frame(element, glass, KIND, {
    csv: () => (view ? tableOf(view, state.trace) : []),
    parts: ["what", "formula", "myth"],
  });
  const views = createViews(glass);
  const [note, subtitle, measures] = [h("p.gp-note"), h("h3.gp-subtitle"), h("p.gp-note")];
  panel.body.append(views.element, note, map.element, subtitle, measures, chart);
  const wide = widthOf(panel.body, glass);
  bindPointer(chart, glass, (x) => ({ layer: findLayer(wide(), state.trace.model.n_layers, x) }));

  /**
   * @param {View} here
   * @param {number} query
   * @param {number | null} neuron
   */
  function tell(here, query, neuron) {
    const { answer, layer, kind, ffn } = here;
    const facts = factsOf(here, state.trace, query, neuron);
    const shares = firing ? sharesOf(firing, state, query) : "";
    const params = {
      neuron: neuronName(ffn, facts.neuron, glass.text),
      token: query,
      piece: visible(labelsOf(state.trace.tokens.pieces)[query]),
      product: shown(facts.product ?? NaN, 5),
      read: shown(facts[kind.reads] ?? NaN, 4),
    };
    const isElsewhere = neuron !== null && !answer.neurons.includes(neuron);
    const elsewhere = isElsewhere ? `${panel.text("not_here", { neuron: neuronName(ffn, neuron, glass.text) })} ` : "";
    const at = `layer ${layer} ${neuronPlace(ffn, facts.neuron)} token ${query}`;
    panel.tell(
      `${at} ${valuesOf(facts)} measured layer ${state.layer}${shares}`,
      elsewhere + panel.text("read", { ...kind, ...params }),
    );
  }

  /**
   * @param {number} width
   * @param {number} layer
   * @param {number} query
   */
  function drawMeasures(width, layer, query) {
    const found = firing;
    const means = MEASURES.map(([name]) => [name, found ? shown(100 * meanOf(found[name], layer), 3) : "…"]);
    const kind = kindOf(state.trace.model.parts.ffn[layer]);
    /** @type {Say} */
    const text = (name, more) => panel.text(name, { ...kind, ...more });
    subtitle.textContent = panel.text("sparsity_title");
    measures.textContent = panel.text("measures", { ...kind, layer, ...Object.fromEntries(means) });
    chart.hidden = !found;
    if (found)
      drawSparsity(chart, width, found, {
        layer,
        token: query,
        text,
        off: ffnsOff(state.trace),
        word: glass.text("off.word"),
      });
  }

  const prepare = memo((/** @type {boolean} */ open, /** @type {Answer} */ answer, /** @type {number} */ layer) => {
    const { trace } = state;
    const ffn = trace.model.parts.ffn[layer];
    const kind = kindOf(ffn);
    view = { answer, layer, ffn, kind, cells: cellsOf(answer, ffn) };
    panel.title.textContent = panel.text("title", {
      layer,
      count: answer.neurons.length,
      f: ffn.neurons,
      tokens: trace.T,
    });
    note.textContent = panel.text(open ? "note_gates" : "note", { ...kind });
    views.mark();
  });
  return inWidth(element, wide, function draw(width) {
    const { layer, query } = state;
    const found = answerAt(glass);
    firing = glass.detail("ffn_firing", {});
    element.classList.toggle("is-coming", !found);
    if (!found) return;
    prepare(opened(glass), found.answer, found.layer, state.language);
    const { trace } = state;
    const held = trace.layers.get(found.layer) ?? null;
    const run = { trace, layer: found.layer, held, details: { map: found.answer } };
    map.draw([run], width);
    drawMeasures(width, layer, query);
    if (view) tell(view, query, spokenOf(state, run));
  });
}
