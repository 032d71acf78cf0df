// A layer's feed-forward at a token: gate → SiLU(gate), up and their product for all neurons, or what it has in their
// place, and the strongest neurons in numbers.

import { labelsOf } from "../../characters.js";
import { linkRows } from "../../controls.js";
import { h, line, shown, strong, tinted } from "../../dom.js";
import { visible } from "../../draw.js";
import { bracketed } from "../../equation.js";
import { frame } from "../../frame.js";
import { createStrips } from "../../marks/strips.js";
import { createTable, listed, writeTexts } from "../../marks/table.js";
import { neuronName } from "../../neuron-names.js";
import { nameRow, neuronOff, neuronsOff } from "../../off.js";
import { oneLine } from "../../one-line.js";
import { along, inWidth, bindPointer, bindArrowKeys, widthOf } from "../../pointing.js";
import { memo } from "../../reads.js";
import { columnOf, ffnForms, kindOf } from "../../readings/ffn-kinds.js";
import { everyNeuron, neuronsReader, VECTORS } from "../../readings/neurons.js";
import { readHere, shownIn } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";
import { neuronWritten } from "./neuron-written.js";
import { drawCurve } from "./swiglu-curve.js";

const CURVE = 460; // the curve's width, where there is room
const NARROW = 420; // below this the table has four digits instead of five

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../decode.js").Trace} Trace
 *
 * @typedef {import("../../readings/ffn-kinds.js").Kind} Kind
 *
 * @typedef {import("../../readings/neurons.js").Neuron} Neuron
 *
 * @typedef {import("../../readings/neurons.js").NeuronReading} NeuronReading
 */

/**
 * A vector's name.
 *
 * @param {string} name of VECTORS
 * @param {Kind} kind
 * @param {Say} text glass.text
 */
const vectorName = (name, { act, reads }, text) => (name === "activated" ? `${act}(${reads})` : text(`swiglu.${name}`));

/**
 * The neuron's product with its numbers.
 *
 * @param {Neuron} one
 * @param {Kind} kind
 * @param {string} name the neuron's
 * @param {Say} text
 */
function arithmetic(one, { act, activation: bend, reads, routed }, name, text) {
  const gated = reads !== "up";
  const said = neuronWritten(bend, {
    read: one[reads],
    activated: gated ? one.activated : one.product,
    up: gated ? one.up : NaN,
    weight: routed ? one.weight : 1,
    product: one.product,
  });
  const up = () => tinted("up", bracketed(said.up));
  const activation = tinted(reads, `${act}(${reads})`);
  const filled = tinted(reads, `${act}(${said.read})`);
  const at = text("at", { neuron: name });
  if (!gated) return line`${activation}   ${at}   ${filled} = ${strong(said.activated)}`;
  const formula = [activation, " ⊙ ", tinted("up", "up")];
  const [first, then] = [filled, tinted("gate", said.activated)].map((gate) => [gate, " × ", up()]);
  if (!routed) return line`${formula}   ${at}   ${first} = ${then} = ${strong(said.product)}`;
  const weight = `${said.weight} × `;
  const product = [weight, ...first, " = ", weight, ...then, " = ", strong(said.product)];
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
   * @param {number} digits
   * @param {Trace} trace
   * @param {number} layer
   */
  function fill(strongest, digits, trace, layer) {
    const ffn = trace.model.parts.ffn[layer];
    const kind = kindOf(ffn);
    neurons = strongest.slice(0, ROWS);
    /** @type {string[]} */
    const names = ["neuron", ...kind.strips.map(([vector]) => vector)];
    table.entitle((vector) =>
      vector === "neuron" ? glass.text("swiglu.neuron") : vectorName(vector, kind, glass.text),
    );
    table.hide((column) => !names.includes(column));
    table.fill(neurons, ([first, ...values], { neuron, ...found }, row) => {
      nameRow(row, first, neuronName(ffn, neuron, glass.text), neuronOff(trace, layer, neuron), glass.text);
      writeTexts(
        values,
        VECTORS.map((vector) => (names.includes(vector) ? shown(found[vector], digits) : "")),
      );
    });
  }
  const mark = (/** @type {number} */ chosen) => table.mark((i) => neurons[i]?.neuron === chosen);
  return { box: listed("", "swiglu.table", table), fill, mark };
}

/** What the panel's readers are asked for. @param {Pick<Glass, "state">} glass */
const select = ({ state: { layer, query, neuron } }) => ({ layer, query, neuron });

/** @type {import("../../frame.js").About} */
export const about = {
  tensors: ["router_scores", "experts", "expert_weight", "gate", "up"],
  difference: {
    reader: everyNeuron,
    select,
    said: ["product"],
    of: ({ text, chosen, b, glass }) =>
      text("of_neuron", { neuron: neuronName(b.trace.model.parts.ffn[b.layer], chosen.neuron, glass.text) }),
    parts: [
      {
        draw: "strips",
        rows: "neurons",
        columns: ({ kind }) =>
          kind.strips.map((/** @type {Kind["strips"][number]} */ [name, role]) => [name, role, columnOf(name, kind)]),
        words: ({ kind }) => kind,
        selects: "neuron",
      },
      {
        draw: "table",
        rows: "neurons",
        column: "product",
        title: "products",
        heading: "neuron",
        name: ({ key, b, glass }) => neuronName(b.trace.model.parts.ffn[b.layer], Number(key.neuron), glass.text),
        selects: "neuron",
      },
    ],
  },
  unused: "neuron",
  forms: ffnForms,
};

/**
 * The vectors of a token, each as a strip; the last, the product, with what is off of it.
 *
 * @param {NeuronReading} reading
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
 * What the strips leave out of what is here.
 *
 * @param {NeuronReading} reading
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
  return oneLine([...away, ...(each > 1 ? [text("pooled", { each })] : [])]);
}

/**
 * The canvas of the strips, which is pointed at.
 *
 * @param {Glass} glass
 * @param {Say} text the panel's own
 */
function createVectors(glass, text) {
  const canvas = h("canvas.gp-canvas", { "data-text-label": "swiglu.strips" });
  const {
    draw: drawIn,
    find,
    perColumn,
  } = createStrips(canvas, {
    legend: () => [
      [0, text("lowest")],
      [0.5, "0"],
      [1, text("highest")],
    ],
  });
  /** @type {NeuronReading | null} what is drawn */
  let drawn = null;
  const choose = (/** @type {number | null} */ place) =>
    place === null || !drawn?.full ? null : { neuron: drawn.full.of(place) };
  bindPointer(canvas, glass, (x) => choose(find(x)));
  const count = () => drawn?.full?.up.length ?? 0;
  const place = () => (drawn?.full ? drawn.full.place(drawn.selection.neuron) : 0);
  bindArrowKeys(canvas, glass, along(count, place, choose));

  /**
   * @param {number} width
   * @param {NeuronReading} reading
   */
  function draw(width, reading) {
    drawn = reading;
    const { trace, layer } = glass.state;
    const { neuron } = reading.selection;
    drawIn(width, stripsOf(reading, glass, text), {
      chosen: reading.full ? reading.full.place(neuron) : neuron,
      key: [trace, layer],
    });
  }
  return { canvas, draw, perColumn };
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function swiglu(element, glass) {
  const state = shownIn(glass);
  const panel = frame(element, glass, "swiglu", { parts: ["what", "formula", "myth"] });
  const vectors = createVectors(glass, panel.text);
  const curve = h("canvas.gp-curve", { role: "img", "data-text-label": "swiglu.curve" });
  const room = h("div", null, curve);
  const table = createNeurons(glass);
  const nameIn = (/** @type {NeuronReading} */ { ffn, selection }) => neuronName(ffn, selection.neuron, glass.text);

  /** @param {NeuronReading | null} reading null before it has come */
  const view = (reading) => html`
    ${vectors.canvas}
    <p class="gp-note" .textContent=${reading ? noteOf(reading, vectors.perColumn, glass, panel.text) : ""}></p>
    <div class="gp-formula">${reading && arithmetic(reading.chosen, reading.kind, nameIn(reading), panel.text)}</div>
    <div class="gp-columns">${table.box}${room}</div>
  `;
  render(view(null), panel.body);
  const curveWide = widthOf(room, glass);

  const fill = memo(table.fill);
  return inWidth(element, widthOf(panel.body, glass), function draw(width) {
    const reading = readHere(glass, neuronsReader, select(glass));
    if (!reading) return undefined;
    const { kind, full, strongest, chosen } = reading;
    vectors.draw(width, reading);
    const points = full?.[kind.reads] ?? strongest.map((one) => one[kind.reads]);
    drawCurve(curve, points, chosen[kind.reads], Math.min(CURVE, curveWide()), kind);
    return () => {
      const { trace, layer, query, language } = state;
      const named = { token: query, piece: visible(labelsOf(trace.tokens.pieces)[query]) };
      panel.title.textContent = panel.text("title", { ...kind, layer, ...named });
      render(view(reading), panel.body);
      fill(strongest, width < NARROW ? 4 : 5, trace, layer, language);
      table.mark(chosen.neuron);
      const numbers = { neuron: nameIn(reading), product: shown(chosen.product, 5) };
      panel.show(reading, panel.text("read", { ...numbers, ...named }));
    };
  });
}
