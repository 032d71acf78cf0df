// A layer's feed-forward at a token: gate → SiLU(gate), up and their product for all neurons, or what it has in their
// place, and the strongest neurons in numbers.

import { inner } from "../../activations.js";
import { linkRows } from "../../controls.js";
import { exact, h, inBrackets, line, shown, strong, tinted } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { createStrips } from "../../marks/strips.js";
import { createTable, listed, writeTexts } from "../../marks/table.js";
import { isChanged, nameRow, neuronOff, neuronsOff } from "../../off.js";
import { along, inWidth, bindPointer, bindArrowKeys, widthOf } from "../../pointing.js";
import { memo } from "../../reads.js";
import { columnOf, drawnOf, ffnForms, kindOf, vectorName } from "./kinds.js";
import { neuronName, neuronPlace, ownerHeads, ownerOf } from "../../neuron-names.js";
import { drawCurve } from "./swiglu-curve.js";

const CURVE = 460; // the curve's width, where there is room
const NARROW = 420; // below this the table has four digits instead of five

/**
 * @typedef {{
 *   neuron: number;
 *   gate?: number;
 *   activated?: number;
 *   up?: number;
 *   weight?: number;
 *   product: number;
 * }} Neuron
 *   as far as the layer has them
 */

/**
 * One neuron of vectors.
 *
 * @returns {Neuron}
 */
const neuronAt = ({ strips }, vectors, place, neuron) => ({
  neuron,
  ...Object.fromEntries(strips.map(([name]) => [name, vectors[name][place]])),
  product: vectors.product[place],
});

/**
 * The strongest neurons of a token, which every layer brings along.
 *
 * @returns {Neuron[]}
 */
function strongestOf({ top, ffn }, token) {
  const count = top.neuron.shape[1];
  const row = (all) => all && { shape: [count], data: all.data.subarray(token * count, (token + 1) * count) };
  const vectors = inner({ gate: row(top.gate), up: row(top.up), weight: row(top.weight), ffn });
  const kind = kindOf(ffn);
  return Array.from({ length: count }, (_, i) => neuronAt(kind, vectors, i, top.neuron.data[token * count + i])).filter(
    ({ product }) => !Number.isNaN(product),
  );
}

/** What is here of one token: its strongest neurons, and its whole vectors once they have come. */
function createView() {
  const view = { full: null, strongest: [], chosen: 0, ffn: null, kind: null };
  view.read = (layer, token) => {
    const neurons = layer.neurons.get(token);
    view.ffn = layer.ffn;
    view.kind = kindOf(layer.ffn);
    view.full = neurons ? drawnOf(neurons) : null;
    view.strongest = strongestOf(layer, token);
  };
  /**
   * @param {number | null} neuron
   * @returns {Neuron} that one where it is here, else the strongest
   */
  view.choose = (neuron) => {
    const place = view.full && neuron !== null ? view.full.place(neuron) : -1;
    const held = view.full
      ? place >= 0 && neuronAt(view.kind, view.full, place, neuron)
      : view.strongest.find((n) => n.neuron === neuron);
    const chosen = held || view.strongest[0];
    view.chosen = chosen.neuron;
    return chosen;
  };
  view.every = () =>
    view.full ? Array.from(view.full.up, (_, i) => neuronAt(view.kind, view.full, i, view.full.of(i))) : view.strongest;
  return view;
}

/**
 * The neuron's product with its numbers.
 *
 * @param {Neuron} one
 * @param {import("./kinds.js").Kind} kind
 * @param {string} name the neuron's
 */
function arithmetic(one, { act, reads, routed }, name, text) {
  const up = () => tinted("up", inBrackets(one.up));
  const activation = tinted(reads, `${act}(${reads})`);
  const filled = tinted(reads, `${act}(${shown(one[reads], 5)})`);
  const at = text("at", { neuron: name });
  if (reads === "up") return line`${activation}   ${at}   ${filled} = ${strong(one.product)}`;
  const formula = [activation, " ⊙ ", tinted("up", "up")];
  const [first, then] = [filled, tinted("gate", shown(one.activated, 5))].map((gate) => [gate, " × ", up()]);
  if (!routed) return line`${formula}   ${at}   ${first} = ${then} = ${strong(one.product)}`;
  const weight = `${shown(one.weight, 5)} × `;
  const product = [weight, ...first, " = ", weight, ...then, " = ", strong(one.product)];
  return line`${text("weight")} · ${formula}   ${at}   ${product}`;
}

const ROWS = 24;
const VECTORS = ["gate", "activated", "up", "weight", "product"]; // of any kind of feed-forward

/**
 * @param {import("../../types.d.ts").Glass} glass
 * @returns {{ box: HTMLElement; fill: Function; mark: Function }}
 */
function createNeurons(glass) {
  /** @type {[string, string][]} */
  const columns = [
    ["neuron", "th.gp-number"],
    ...VECTORS.map((name) => /** @type {[string, string]} */ ([name, "td.gp-number"])),
  ];
  const table = createTable(null, columns, { rows: ROWS, focus: true });
  let neurons = [];
  /** @param {HTMLTableRowElement} row */
  const chosenBy = ({ sectionRowIndex: i }) => neurons[i] && { neuron: neurons[i].neuron };
  linkRows(table.element, glass, chosenBy);

  /**
   * @param {{ neuron: number }[]} strongest with a number for each vector of the `kind`
   * @param {import("./kinds.js").Kind} kind
   * @param {number} digits
   * @param {(neuron: number) => boolean} off
   * @param {(neuron: number) => string} name
   */
  function fill(strongest, kind, digits, off, name) {
    neurons = strongest.slice(0, ROWS);
    const names = ["neuron", ...kind.strips.map(([vector]) => vector)];
    table.entitle((vector) =>
      vector === "neuron" ? glass.text("swiglu.neuron") : vectorName(vector, kind, glass.text),
    );
    table.hide((column) => !names.includes(column));
    table.fill(neurons, ([first, ...values], found, line) => {
      nameRow(line, first, name(found.neuron), off(found.neuron), glass.text);
      writeTexts(
        values,
        VECTORS.map((vector) => (names.includes(vector) ? shown(found[vector], digits) : "")),
      );
    });
  }
  const mark = (chosen) => table.mark((i) => neurons[i]?.neuron === chosen);
  return { box: listed("", "swiglu.table", table), fill, mark };
}

export const about = {
  tensors: ["router_scores", "experts", "expert_weight", "gate", "up"],
  difference: "glance",
  unused: "neuron",
  forms: ffnForms,
};

/**
 * The saved table.
 *
 * @param {ReturnType<typeof createView>} view
 */
function rowsOf({ kind, ffn, every }, { trace, layer }) {
  const off = isChanged(trace) ? [(neuron) => Number(neuronOff(trace, layer, neuron))] : [];
  const names = kind.strips.map(([name]) => name);
  return [
    ["neuron", ...ownerHeads(ffn), ...names.map((name) => columnOf(name, kind)), ...off.map(() => "off")],
    ...every().map((n) => [
      n.neuron,
      ...ownerOf(ffn, n.neuron),
      ...names.map((name) => n[name]),
      ...off.map((of) => of(n.neuron)),
    ]),
  ];
}

/**
 * The vectors of a token, each as a strip; the last, the product, with what is off of it.
 *
 * @param {ReturnType<typeof createView>} view
 * @param {import("../../types.d.ts").Glass} glass
 * @param {Function} text the panel's own
 */
function stripsOf({ full, kind }, glass, text) {
  const { trace, layer } = glass.state;
  const rows = kind.strips.map(([one, role]) => ({
    name: vectorName(one, kind, glass.text),
    role,
    values: full?.[one] ?? null,
  }));
  if (!full) return rows;
  const places = neuronsOff(trace, layer)?.map(full.place);
  Object.assign(rows.at(-1), { off: places?.filter((place) => place >= 0) ?? null, word: text("off") });
  return rows;
}

/** The numbers of a neuron, as a program reads them. */
function valueOf({ ffn, kind }, chosen) {
  const factors = kind.strips
    .filter(([one]) => one !== "product")
    .map(([one]) => `${columnOf(one, kind)}=${exact(chosen[one])}`);
  return `${neuronPlace(ffn, chosen.neuron)} ${factors.join(" ")} product=${exact(chosen.product)}`;
}

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function swiglu(element, glass) {
  const canvas = h("canvas.gp-canvas", { "data-text-label": "swiglu.strips" });
  const curve = h("canvas.gp-curve", { role: "img", "data-text-label": "swiglu.curve" });
  const view = createView();
  const panel = frame(element, glass, "swiglu", {
    csv: () => rowsOf(view, glass.state),
    parts: ["what", "formula", "myth"],
  });
  const [formula, note] = [h("div.gp-formula"), h("p.gp-note")];
  const table = createNeurons(glass);
  panel.body.append(canvas, note, formula, h("div.gp-columns", null, table.box, h("div", null, curve)));
  const strips = createStrips(canvas, {
    legend: () => [
      [0, panel.text("lowest")],
      [0.5, "0"],
      [1, panel.text("highest")],
    ],
  });
  const curveWide = widthOf(curve.parentElement, glass);
  const choose = (place) => (place === null || !view.full ? null : { neuron: view.full.of(place) });
  bindPointer(canvas, glass, (x) => choose(strips.find(x)));
  bindArrowKeys(
    canvas,
    glass,
    along(
      () => view.full?.up.length ?? 0,
      () => view.full.place(view.chosen),
      choose,
    ),
  );

  const name = (neuron) => neuronName(view.ffn, neuron, glass.text);

  function noteText() {
    const { neuron } = glass.state;
    if (!view.full) return panel.text("partial", { count: view.strongest.length });
    const each = strips.perColumn(view.full.up.length);
    const away =
      neuron !== null && view.full.place(neuron) < 0 ? [panel.text("elsewhere", { neuron: name(neuron) })] : [];
    return [...away, ...(each > 1 ? [panel.text("pooled", { each: each.toFixed(1) })] : [])].join(" ");
  }
  function tell(chosen) {
    const { trace, layer, query } = glass.state;
    const { kind } = view;
    const named = { token: query, piece: visible(trace.tokens.pieces[query]) };
    panel.title.textContent = panel.text("title", { ...kind, layer, ...named });
    note.textContent = noteText();
    table.mark(chosen.neuron);
    formula.replaceChildren(arithmetic(chosen, kind, name(chosen.neuron), panel.text));
    const reading = panel.text("read", { neuron: name(chosen.neuron), ...named, product: shown(chosen.product, 5) });
    panel.tell(valueOf(view, chosen), reading);
  }

  function drawStrips(width, chosen) {
    const { trace, layer } = glass.state;
    const { full } = view;
    const rows = stripsOf(view, glass, panel.text);
    strips.draw(width, rows, { chosen: full ? full.place(chosen) : chosen, key: [trace, layer] });
  }

  const read = memo((held, query) => view.read(held, query));
  const fill = memo((strongest, digits, trace, layer, _language) =>
    table.fill(strongest, view.kind, digits, (one) => neuronOff(trace, layer, one), name),
  );
  return inWidth(element, widthOf(panel.body, glass), function draw(width) {
    const { query, neuron } = glass.state;
    const held = glass.layer();
    if (!held) return null;
    read(held, query);
    const chosen = view.choose(neuron);
    drawStrips(width, chosen.neuron);
    const { reads } = view.kind;
    const points = view.full ? view.full[reads] : view.strongest.map((n) => n[reads]);
    drawCurve(curve, points, chosen[reads], Math.min(CURVE, curveWide()), view.kind);
    return () => {
      const { trace, layer, language } = glass.state;
      fill(view.strongest, width < NARROW ? 4 : 5, trace, layer, language);
      tell(chosen);
    };
  });
}
