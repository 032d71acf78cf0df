// SwiGLU at one token: the quadrants of gate × up, one neuron's arithmetic, and what the strongest neurons write.

import { innerOf, once, silu, strongestNeuron } from "../../compute.js";
import { exact, h, inBrackets, line, shown, strong, sub, tinted } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { neuronOff, neuronsOff } from "../../off.js";
import { swiglus } from "../../parts.js";
import { inView, link, steer, widthOf } from "../../pointing.js";
import { part } from "../../reads.js";
import { quadrants, signsOf } from "./gates.js";
import { createScatter } from "./scatter.js";
import { createWritten, pushes } from "./written.js";

const KIND = "ffn-token";
/** All neurons of a token with their product and quadrants; computed once. */
const fullOf = once((neurons) => {
  const full = innerOf(neurons);
  return { ...full, quadrants: quadrants(full.gate, full.up) };
});

/** The neurons at what is pointed at, where they are here; else at what is locked; null until those have come. */
function neuronsAt({ state }) {
  for (const { layer, query } of [state, state.locked]) {
    const held = state.trace.layers.get(layer);
    const neurons = held?.neurons.get(query);
    if (neurons) return { layer, token: query, full: fullOf(neurons), best: strongestNeuron(held, query) };
  }
  return null;
}

let written = { found: null, extra: null, all: null }; // the last that was put together
/** What the strongest neurons wrote, and the locked neuron where it is none of them; null until it has come. */
function writtenAt(glass) {
  const { layer, query: token, neuron } = glass.state.locked;
  const found = glass.detail("ffn_written", { layer, token, neuron: null });
  if (!found) return null;
  const listed = neuron === null || found.rows.some((row) => row.neuron === neuron);
  const extra = listed ? null : glass.detail("ffn_written", { layer, token, neuron });
  if (found !== written.found || extra !== written.extra) {
    const rows = extra ? [...extra.rows, ...found.rows] : found.rows;
    written = { found, extra, all: { layer, token, rows, rest: found.rest, whole: found.whole, count: found.rows.length } };
  }
  return written.all;
}

/** From gate to product, with the numbers of one neuron, and the length of what it writes where that is here. */
function arithmetic({ gate, up, product }, neuron, row, text) {
  const [g, u, activated] = [gate[neuron], up[neuron], silu(gate[neuron])];
  const lines = [
    line`${text("at", { neuron })}   ${tinted("gate", "SiLU(gate)")} = ${tinted("gate", `${shown(g, 5)} × σ(${shown(g, 5)})`)} = ${strong(activated)}`,
    line`${tinted("gate", "SiLU(gate)")} · ${tinted("up", "up")} = ${inBrackets(activated)} × ${tinted("up", inBrackets(u))} = ${strong(product[neuron])}`,
  ];
  if (row?.norm === 0) return [...lines, line`${text("silent")}`];
  const size = () => shown(Math.abs(product[neuron]), 5);
  return row ? [...lines, line`‖${text("writes")}‖ = |${shown(product[neuron], 5)}| × ‖W${sub("down")}[:, ${String(neuron)}]‖ = ${size()} × ${shown(row.column, 5)} = ${strong(row.norm)}`] : lines;
}

export const about = { tensors: ["gate", "up", "ffn_out"], minus: "detail", unused: "neuron", absent: swiglus };

/** @param {HTMLElement} element @param {object} glass */
export default function ffnToken(element, glass) {
  const { state } = glass;
  const canvas = h("canvas.gp-canvas", { "data-text-label": `${KIND}.chart` });
  const view = { at: null, chosen: 0 };
  const csv = () => {
    if (!view.at) return [];
    const { gate, up, silu: activated, product } = view.at.full;
    return [
      ["neuron", "gate", "silu", "up", "product", "quadrant"],
      ...Array.from(gate, (g, i) => [i, g, activated[i], up[i], product[i], signsOf(g, up[i])]),
    ];
  };
  const panel = frame(element, glass, KIND, { csv, parts: ["what", "formula", "myth"] });
  const [formula, note, push] = [h("div.gp-formula"), h("p.gp-note"), h("div.ffn-pushes")];
  const [subtitle, sums] = [h("h3.gp-subtitle"), h("p.gp-note")];
  const written = createWritten(glass);
  const left = h("div", null, canvas);
  panel.body.append(h("div.gp-columns", null, left, h("div", null, formula, push)), note, subtitle, sums, written.box);
  const scatter = createScatter(canvas, panel.text);
  const wide = widthOf(left, glass);
  link(canvas, glass, (x, y) => {
    const neuron = view.at && scatter.find(x, y);
    return neuron === null ? null : { neuron };
  });
  const move =
    (by) =>
    ({ trace }) => ({ neuron: Math.max(0, Math.min(trace.model.ffn_hidden - 1, view.chosen + by)) });
  steer(canvas, glass, { ArrowLeft: move(-1), ArrowRight: move(1) });
  const named = ({ layer, token }) => ({ layer, token, piece: visible(state.trace.tokens.pieces[token]) });

  function tell({ layer, token, full }, neuron, row) {
    const { gate, up, product } = full;
    const counts = full.quadrants.map(({ count }) => count).join(",");
    const wrote = row ? ` writes=${exact(row.norm)} raises=${row.raised[0].id}:${exact(row.raised[0].by)}` : "";
    panel.tell(
      `layer ${layer} token ${token} neuron ${neuron} gate=${exact(gate[neuron])} silu=${exact(silu(gate[neuron]))} up=${exact(up[neuron])} product=${exact(product[neuron])} quadrants=${counts}${wrote}`,
      panel.text("read", { neuron, gate: shown(gate[neuron], 4), up: shown(up[neuron], 4), product: shown(product[neuron], 5) }),
    );
  }

  /** The list of what is written: of the locked token, whose name is above it. */
  function list(found) {
    subtitle.textContent = panel.text("written_title", named(found ?? { layer: state.locked.layer, token: state.locked.query }));
    sums.textContent = found
      ? panel.text("sums", { count: found.count, whole: shown(found.whole, 4), rest: shown(found.rest, 4) })
      : "";
    const held = state.trace.layers.get(state.locked.layer)?.neurons.get(state.locked.query);
    const { trace, locked } = state;
    written.fill(found?.rows ?? [], held ? fullOf(held).product : null, (neuron) => neuronOff(trace, found?.layer ?? locked.layer, neuron));
  }

  const listAgain = part(list);
  return inView(element, function draw() {
    const at = neuronsAt(glass);
    const found = writtenAt(glass);
    const width = wide();
    element.classList.toggle("is-coming", !at);
    if (!at || width === 0) return;
    listAgain(found);
    const chosen = state.neuron ?? at.best;
    Object.assign(view, { at, chosen });
    const here = found && found.layer === at.layer && found.token === at.token;
    const row = here ? found.rows.find((r) => r.neuron === chosen) : null;
    panel.title.textContent = panel.text("title", named(at));
    note.textContent = panel.text("note", { f: at.full.gate.length });
    scatter.draw(width, at.full, { off: neuronsOff(state.trace, at.layer), word: glass.text("off.word") }, chosen);
    written.mark(chosen);
    push.replaceChildren(...pushes(row, panel.text));
    formula.replaceChildren(...arithmetic(at.full, chosen, row, panel.text));
    tell(at, chosen, row);
  });
}
