// A layer's feed-forward at a token: gate → SiLU(gate), up and their product for all neurons, or what it has in their
// place, and the strongest neurons in numbers.

import { inner } from "../../activations.js";
import { labelsOf } from "../../characters.js";
import { linkRows } from "../../controls.js";
import { exact, h, inBrackets, line, shown, strong, tinted } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { createStrips } from "../../marks/strips.js";
import { createTable, listed, writeTexts } from "../../marks/table.js";
import { isChanged, nameRow, neuronOff, neuronsOff } from "../../off.js";
import { along, inWidth, bindPointer, bindArrowKeys, widthOf } from "../../pointing.js";
import { memo } from "../../reads.js";
import { columnOf, drawnOf, ffnForms, kindOf, numberAt, vectorName } from "./kinds.js";
import { neuronName, neuronPlace, ownerHeads, ownerOf } from "../../neuron-names.js";
import { shownIn } from "../../run-for.js";
import { drawCurve } from "./swiglu-curve.js";
import { oneLine } from "../../one-line.js";

const CURVE = 460; // the curve's width, where there is room
const NARROW = 420; // below this the table has four digits instead of five

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../decode.js").Trace} Trace
 *
 * @typedef {import("../../messages.d.ts").Ffn} Ffn
 *
 * @typedef {import("./kinds.js").Drawn} Drawn
 *
 * @typedef {import("../../decode.js").Layer} Layer
 *
 * @typedef {import("./kinds.js").Kind} Kind
 *
 * @typedef {import("./kinds.js").VectorName} VectorName
 *
 * @typedef {Record<VectorName, number> & { neuron: number }} Neuron NaN of what the layer has not
 *
 * @typedef {object} View what is here of one token
 * @property {Ffn} ffn
 * @property {Kind} kind
 * @property {Drawn | null} full its whole vectors, once they have come
 * @property {Neuron[]} strongest which every layer brings along
 */

/** @type {VectorName[]} of any kind of feed-forward */
const VECTORS = ["gate", "activated", "up", "weight", "product"];

/**
 * One neuron of vectors.
 *
 * @param {import("./kinds.js").Vectors} vectors
 * @param {number} place
 * @param {number} neuron
 * @returns {Neuron}
 */
function neuronAt(vectors, place, neuron) {
  const [gate, activated, up, weight, product] = VECTORS.map((name) => numberAt(vectors, name, place));
  return { neuron, gate, activated, up, weight, product };
}

/**
 * The strongest neurons of a token, which every layer brings along.
 *
 * @param {Layer} layer
 * @param {number} token
 * @returns {Neuron[]}
 */
function strongestOf({ top, ffn }, token) {
  const count = top.neuron.shape[1];
  /** @type {(all: import("../../decoded.d.ts").NumArray) => { data: ArrayLike<number> }} */
  const row = ({ data }) => ({ data: data.subarray(token * count, (token + 1) * count) });
  const vectors = inner({
    gate: top.gate && row(top.gate),
    up: row(top.up),
    weight: top.weight && row(top.weight),
    ffn,
  });
  return Array.from({ length: count }, (_, i) => neuronAt(vectors, i, top.neuron.data[token * count + i])).filter(
    ({ product }) => !Number.isNaN(product),
  );
}

/**
 * @param {Layer} layer
 * @param {number} token
 * @returns {View}
 */
function viewOf(layer, token) {
  const neurons = layer.neurons.get(token);
  const full = neurons ? drawnOf(neurons) : null;
  return { ffn: layer.ffn, kind: kindOf(layer.ffn), full, strongest: strongestOf(layer, token) };
}

/**
 * A neuron where it is here, else the strongest.
 *
 * @param {View} view
 * @param {number | null} neuron
 */
function chosenIn({ full, strongest }, neuron) {
  const place = full && neuron !== null ? full.place(neuron) : -1;
  const held =
    full && neuron !== null
      ? place >= 0 && neuronAt(full, place, neuron)
      : strongest.find((one) => one.neuron === neuron);
  return held || strongest[0];
}

/**
 * All neurons of a token that are here.
 *
 * @param {View} view
 */
const everyIn = ({ full, strongest }) =>
  full ? Array.from(full.up, (_, i) => neuronAt(full, i, full.of(i))) : strongest;

/**
 * The neuron's product with its numbers.
 *
 * @param {Neuron} one
 * @param {Kind} kind
 * @param {string} name the neuron's
 * @param {Say} text
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

/** @param {Glass} glass */
function createNeurons(glass) {
  /** @type {[string, string][]} */
  const columns = [
    ["neuron", "th.gp-number"],
    ...VECTORS.map((name) => /** @type {[string, string]} */ ([name, "td.gp-number"])),
  ];
  const table = createTable(null, columns, { rows: ROWS, focus: true });
  /** @type {Neuron[]} */
  let neurons = [];
  /** @param {HTMLElement} row */
  function chosenBy(row) {
    const found = neurons[/** @type {HTMLTableRowElement} */ (row).sectionRowIndex];
    return found && { neuron: found.neuron };
  }
  linkRows(table.element, glass, chosenBy);

  /**
   * @param {Neuron[]} strongest
   * @param {Kind} kind
   * @param {number} digits
   * @param {(neuron: number) => boolean} off
   * @param {(neuron: number) => string} name
   */
  function fill(strongest, kind, digits, off, name) {
    neurons = strongest.slice(0, ROWS);
    /** @type {string[]} */
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
  const mark = (/** @type {number} */ chosen) => table.mark((i) => neurons[i]?.neuron === chosen);
  return { box: listed("", "swiglu.table", table), fill, mark };
}

/** @type {import("../../frame.js").About} */
export const about = {
  tensors: ["router_scores", "experts", "expert_weight", "gate", "up"],
  difference: "glance",
  unused: "neuron",
  forms: ffnForms,
};

/**
 * The saved table.
 *
 * @param {View} view
 * @param {{ trace: Trace; layer: number }} state
 */
function rowsOf(view, { trace, layer }) {
  const { kind, ffn } = view;
  const off = isChanged(trace) ? [(/** @type {number} */ neuron) => Number(neuronOff(trace, layer, neuron))] : [];
  const names = kind.strips.map(([name]) => name);
  return [
    ["neuron", ...ownerHeads(ffn), ...names.map((name) => columnOf(name, kind)), ...off.map(() => "off")],
    ...everyIn(view).map((n) => [
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
 * @param {View} view
 * @param {Glass} glass
 * @param {Say} text the panel's own
 */
function stripsOf({ full, kind }, glass, text) {
  const { trace, layer } = shownIn(glass);
  /** @type {import("../../marks/strips.js").Strip[]} */
  const rows = kind.strips.map(([one, role]) => ({
    name: vectorName(one, kind, glass.text),
    role,
    values: full?.[one] ?? null,
  }));
  if (!full) return rows;
  const places = neuronsOff(trace, layer)?.map(full.place);
  Object.assign(rows[rows.length - 1], { off: places?.filter((place) => place >= 0) ?? null, word: text("off") });
  return rows;
}

/**
 * The numbers of a neuron, as a program reads them.
 *
 * @param {View} view
 * @param {Neuron} chosen
 */
function valueOf({ ffn, kind }, chosen) {
  const factors = kind.strips
    .filter(([one]) => one !== "product")
    .map(([one]) => `${columnOf(one, kind)}=${exact(chosen[one])}`);
  return `${neuronPlace(ffn, chosen.neuron)} ${factors.join(" ")} product=${exact(chosen.product)}`;
}

/**
 * What the strips leave out of what is here.
 *
 * @param {View} view
 * @param {(count: number) => number} perColumn how many of so many neurons a column stands for
 * @param {Glass} glass
 * @param {Say} text the panel's own
 */
function noteOf({ ffn, full, strongest }, perColumn, glass, text) {
  const { neuron } = glass.state;
  if (!full) return text("partial", { count: strongest.length });
  const each = perColumn(full.up.length);
  const isAway = neuron !== null && full.place(neuron) < 0;
  const away = isAway ? [text("elsewhere", { neuron: neuronName(ffn, neuron, glass.text) })] : [];
  return oneLine([...away, ...(each > 1 ? [text("pooled", { each: each.toFixed(1) })] : [])]);
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function swiglu(element, glass) {
  const canvas = h("canvas.gp-canvas", { "data-text-label": "swiglu.strips" });
  const curve = h("canvas.gp-curve", { role: "img", "data-text-label": "swiglu.curve" });
  /** @type {View | null} null until it has come */
  let view = null;
  let shownNeuron = 0;
  const panel = frame(element, glass, "swiglu", {
    csv: () => (view ? rowsOf(view, shownIn(glass)) : []),
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
  const curveWide = widthOf(/** @type {HTMLElement} */ (curve.parentElement), glass);
  const choose = (/** @type {number | null} */ place) =>
    place === null || !view?.full ? null : { neuron: view.full.of(place) };
  bindPointer(canvas, glass, (x) => choose(strips.find(x)));
  bindArrowKeys(
    canvas,
    glass,
    along(
      () => view?.full?.up.length ?? 0,
      () => view?.full?.place(shownNeuron) ?? 0,
      choose,
    ),
  );

  /**
   * @param {View} here
   * @param {Neuron} chosen
   */
  function tell(here, chosen) {
    const { trace, layer, query } = shownIn(glass);
    const { kind } = here;
    const name = neuronName(here.ffn, chosen.neuron, glass.text);
    const named = { token: query, piece: visible(labelsOf(trace.tokens.pieces)[query]) };
    panel.title.textContent = panel.text("title", { ...kind, layer, ...named });
    note.textContent = noteOf(here, strips.perColumn, glass, panel.text);
    table.mark(chosen.neuron);
    formula.replaceChildren(arithmetic(chosen, kind, name, panel.text));
    const reading = panel.text("read", { neuron: name, ...named, product: shown(chosen.product, 5) });
    panel.tell(valueOf(here, chosen), reading);
  }

  /**
   * @param {number} width
   * @param {View} here
   * @param {number} chosen
   */
  function drawStrips(width, here, chosen) {
    const { trace, layer } = glass.state;
    const { full } = here;
    const rows = stripsOf(here, glass, panel.text);
    strips.draw(width, rows, { chosen: full ? full.place(chosen) : chosen, key: [trace, layer] });
  }

  const read = memo((/** @type {Layer} */ held, /** @type {number} */ query) => {
    view = viewOf(held, query);
  });
  /**
   * @param {View} here
   * @param {number} digits
   * @param {Trace} trace
   * @param {number} layer
   */
  function fillTable({ strongest, kind, ffn }, digits, trace, layer) {
    const name = (/** @type {number} */ neuron) => neuronName(ffn, neuron, glass.text);
    table.fill(strongest, kind, digits, (one) => neuronOff(trace, layer, one), name);
  }
  const fill = memo(fillTable);
  return inWidth(element, widthOf(panel.body, glass), function draw(width) {
    const { query, neuron } = glass.state;
    const held = glass.layer();
    if (!held) return undefined;
    read(held, query);
    const here = view;
    if (!here) return undefined;
    const chosen = chosenIn(here, neuron);
    shownNeuron = chosen.neuron;
    drawStrips(width, here, chosen.neuron);
    const { reads } = here.kind;
    const points = here.full?.[reads] ?? here.strongest.map((n) => n[reads]);
    drawCurve(curve, points, chosen[reads], Math.min(CURVE, curveWide()), here.kind);
    return () => {
      const { trace, layer, language } = shownIn(glass);
      fill(here, width < NARROW ? 4 : 5, trace, layer, language);
      tell(here, chosen);
    };
  });
}
