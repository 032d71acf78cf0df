// One head as one map, in three views, and one cell of it taken apart: q·k, mask, softmax, α·v, what the head writes.

import { strongest } from "../../arrays.js";
import { labelsOf } from "../../characters.js";
import { shareSaid } from "../../counts.js";
import { h, shown } from "../../dom.js";
import { cellNames, visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { createStrips } from "../../marks/strips.js";
import { scoreForms } from "../../parts.js";
import { along, inView, bindPointer, bindArrowKeys, widthOf } from "../../pointing.js";
import { reactive } from "../../reads.js";
import { cellReader, columnOf } from "../../readings/cell.js";
import { pairOf } from "../../rotation.js";
import { readHere, shownIn } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";
import { createCellSteps } from "./cell-steps.js";
import { BESIDE, createCarried, createWritten, productStrips } from "./carried.js";
import { carriedLines, cellWritten, maskLine, productLine, scoreLines, weightLine } from "./formulas.js";
import { chosenView, createViews, headMap } from "./head-map.js";
import { jobOfHead } from "./known.js";
import { sinkText } from "./sink.js";
import { oneLine } from "../../one-line.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../types.d.ts").Model} Model
 *
 * @typedef {import("../../readings/cell.js").CellReading} CellReading
 *
 * @typedef {import("../../readings/cell.js").Writer} Writer
 */

const BRIGHTEST = 2; // rows of a column that a worksheet names: a lesson compares two
const GIVEN = 3; // numbers of a strip that a worksheet writes out: enough to reckon with by hand

/**
 * What the panel's reader is asked about.
 *
 * @param {Glass} glass
 * @returns {import("../../readings/cell.js").CellSelection}
 */
const select = ({ state: { layer, head, query, key, locked } }) => ({ layer, head, query, key, locked });
/** What does not matter to what is written where the selection is locked. */
const POINTED = ["layer", "head", "query", "key"];

/**
 * How titles name where a head writes: where the panel reads, it is asked.
 *
 * @param {CellReading} reading
 * @param {import("../../decode.js").Trace} trace
 */
function writerNames({ selection: { locked } }, { tokens: { pieces } }) {
  const { layer, head, query } = /** @type {Writer} */ (locked);
  return { layer, head, m: query, piece: visible(labelsOf(pieces)[query]) };
}

/** The map's views, and a finger's way from cell to cell. @param {Glass} glass */
function createMapControls(glass) {
  const [views, steps] = [createViews(glass), createCellSteps(glass)];
  function mark() {
    views.mark(chosenView(glass));
    steps.draw();
  }
  return { views: views.element, steps: steps.element, mark };
}

/** @param {Glass} glass */
function viewControls(glass) {
  const { views, steps, mark } = createMapControls(glass);
  return { elements: [views, steps], show: mark };
}

/** @type {import("../../frame.js").About} */
export const about = {
  tensors: ["q", "k", "q_rot", "k_rot", "position_bias", "scores", "attention", "v", "attn_out"],
  difference: {
    reader: cellReader,
    select,
    waits: ["values"],
    beside: true,
    controls: viewControls,
    said: ["qk", "score", "weight"],
    parts: [
      { draw: "cells", create: headMap, view: chosenView },
      {
        draw: "table",
        rows: "head_sizes",
        column: "value",
        title: "head_sizes",
        heading: "place",
        name: ({ key, text }) => text(`n_${key.size}`),
        named: writerNames,
        needs: ["write"],
        free: POINTED,
        step: 1,
        bare: true,
      },
      {
        draw: "table",
        rows: "head_channels",
        column: "written",
        title: "head_channels",
        heading: "channel",
        name: ({ key }) => String(key.channel),
        named: writerNames,
        needs: ["write"],
        free: POINTED,
      },
      {
        draw: "strips",
        rows: ["products", "values"],
        title: "vectors",
        columns: [
          ["q", "q"],
          ["k", "k"],
          ["qk_terms", "text"],
          ["carried", "v"],
          ["out", "output"],
        ],
        pairs: true,
      },
    ],
  },
  unused: "head",
  forms: scoreForms,
};

const productCanvas = () => h("canvas.gp-canvas", { "data-text-label": "cell.products" });
/** @param {HTMLElement} holder */
const canvasIn = (holder) => /** @type {HTMLCanvasElement} */ (holder.firstElementChild);

/**
 * The strips of the head's dimensions: the pointer and the arrow keys choose one in all of them, and its pair.
 *
 * @param {Glass} glass
 */
function createDimensions(glass) {
  const state = shownIn(glass);
  // what is multiplied, and what comes of it, which a lesson covers until it has been guessed
  const [factors, products] = [{}, { "data-answer": "" }].map((more) => h("div", more, productCanvas()));
  const [given, made] = [factors, products].map((holder) => createStrips(canvasIn(holder), BESIDE));
  const carried = createCarried();
  const view = reactive({ dimension: 0 });
  const choose = (/** @type {number | null} */ i) => {
    if (i === null) return null;
    view.dimension = i;
    const pair = pairOf(state.trace.model.parts.rotary, i);
    return pair === null ? {} : { pair };
  };
  const keys = along(
    () => state.trace.model.head_dim,
    () => view.dimension,
    choose,
  );
  /** @type {[HTMLCanvasElement, (x: number) => number | null][]} */
  const pointable = [
    [canvasIn(factors), given.find],
    [canvasIn(products), made.find],
    [carried.canvases[0], carried.find],
    [carried.canvases[1], carried.find],
  ];
  for (const [canvas, find] of pointable) {
    bindPointer(canvas, glass, (x) => choose(find(x)));
    bindArrowKeys(canvas, glass, keys);
  }
  const holder = h("div", null, factors, products);
  const [wide, carriedWide] = [widthOf(holder, glass), widthOf(carried.holder, glass)];

  /** @param {CellReading} reading */
  function draw({ cell: { q, k, terms }, carried: found }) {
    const inLesson = state.presenting === true;
    if (inLesson) [view.dimension] = strongest(terms, 1); // nobody points: the product that counts most is written out
    view.dimension = Math.min(view.dimension, q.length - 1);
    const [ofQ, ofK, ofTerms] = productStrips(q, k, terms);
    const how = { chosen: state.covered ? null : view.dimension, lead: ofTerms };
    given.draw(wide(), [ofQ, ofK], how);
    made.draw(wide(), [ofTerms], how);
    if (found) carried.draw(carriedWide(), found, inLesson ? null : view.dimension);
  }
  const hasRoom = () => wide() > 0 && carriedWide() > 0;
  return { holder, carried, draw, hasRoom, now: () => view.dimension };
}

/**
 * The map, a few milliseconds a frame.
 *
 * @param {Glass} glass
 * @param {import("../../frame.js").Panel} panel
 */
function createHeadMap(glass, panel) {
  const state = shownIn(glass);
  const [{ views, steps, mark }, map] = [createMapControls(glass), headMap(glass, "cell.map")];
  map.element.dataset.answer = "drawn";
  /** @param {number} width */
  function draw(width) {
    const values = glass.detail("values", { layer: state.layer });
    const held = glass.layer();
    if (held && !map.draw([{ held, trace: state.trace, details: { values } }], width)) glass.unfinished();
  }
  /** What its colours are, in words. */
  function note() {
    const block = map.block();
    return oneLine([panel.text(`scale_${chosenView(glass)}`), block > 1 ? panel.text("pooled", { block }) : ""]);
  }
  return { elements: [views, map.element, steps], draw, mark, note };
}

/**
 * One product, the score, and the softmax.
 *
 * @param {CellReading} reading
 * @param {Model} model
 * @param {number} dimension
 * @param {Say} text
 */
function arithmeticOf({ cell: found }, model, dimension, text) {
  const product = productLine(dimension, found.q[dimension], found.k[dimension]);
  const said = cellWritten(model, found);
  const softmax = [maskLine(model, found, text), weightLine(said, text)];
  return { product, score: scoreLines(model, found, said, text), softmax };
}

/**
 * Some numbers of the strips that a lesson shows before the answer, so that a worksheet can be reckoned with: where
 * most is added.
 *
 * @param {CellReading | null} reading
 * @param {"steps" | "carried"} part
 * @param {Say} text
 */
function givenIn(reading, part, text) {
  const steps = part === "steps";
  if (!reading || !(steps || reading.carried)) return "";
  const { cell: found, carried, values } = reading;
  const { q, k, terms } = found;
  const of = steps ? terms : (carried?.v ?? []);
  const said = strongest(of, GIVEN).map((i) => {
    const numbers = steps ? { q: shown(q[i], 3), k: shown(k[i], 3) } : { v: shown(of[i], 3) };
    return text(`given_${part}_at`, { i, ...numbers });
  });
  return text(`given_${part}`, { numbers: said.join(" · "), weight: shown(values.weight, 5) });
}

/**
 * What a worksheet says of the score, or of what is handed over: the latter also where it gives numbers to reckon
 * with.
 *
 * @param {CellReading} reading
 * @param {"steps" | "carried"} part
 * @param {Say} text
 */
function resultOf({ cell: found, carried, values }, part, text) {
  const most = Math.max(...found.terms);
  const { size = 0, share = 0, v = [], out = [] } = carried ?? {};
  const numbers = { most, product: values.qk, score: values.score, weight: values.weight, size, share };
  const said = Object.entries(numbers).map(([name, value]) => [name, shown(value, name === "share" ? 4 : 5)]);
  const at = strongest(v, GIVEN).map((i) => text("result_at", { i, out: shown(out[i], 3) }));
  return text(`result_${part}`, { ...Object.fromEntries(said), at: at.join(" · ") });
}

/**
 * What a worksheet says of the map: which rows give the chosen column most.
 *
 * @param {CellReading} reading
 * @param {Glass} glass
 * @param {Say} text
 */
function resultOfMap({ selection: { head, key } }, glass, text) {
  const [{ trace }, held] = [shownIn(glass), glass.layer()];
  if (!held) return "";
  const column = columnOf(held, trace.model, head, key);
  const pieces = labelsOf(trace.tokens.pieces).map((piece) => visible(piece));
  const rows = strongest(column, BRIGHTEST)
    .filter((row) => column[row] > 0)
    .sort((a, b) => a - b);
  const said = rows.map((row) =>
    text("result_row", {
      row,
      piece: pieces[row],
      weight: shareSaid(glass.text, column[row]),
    }),
  );
  return text("result_map", { key: pieces[key], rows: said.join(" · ") });
}

/**
 * @param {CellReading | null} reading null before there is one
 * @param {object} parts
 * @param {ReturnType<typeof createHeadMap>} parts.map
 * @param {ReturnType<typeof createDimensions>} parts.dimensions
 * @param {HTMLElement} parts.written
 * @param {Glass} glass
 * @param {Say} text
 */
function viewOf(reading, { map, dimensions, written }, glass, text) {
  const state = shownIn(glass);
  const step = (/** @type {string} */ name) => html`<h3 class="gp-subtitle" data-text=${`cell.step_${name}`}></h3>`;
  const lines = reading ? arithmeticOf(reading, state.trace.model, dimensions.now(), text) : null;
  const carried = reading?.carried;
  const given = (/** @type {"steps" | "carried"} */ part) => (state.presenting ? givenIn(reading, part, text) : "");
  const sink = reading ? sinkText(reading.cell.weights, carried?.norms ?? null, reading.selection, text) : "";
  return html`
    <div class="at-cell">
      <div
        class="at-map"
        data-part="map"
        data-result=${reading && state.presenting ? resultOfMap(reading, glass, text) : ""}
      >
        ${map.elements}
        <p class="gp-note" .textContent=${reading ? map.note() : ""}></p>
        <p class="gp-note at-sink" data-answer="beside" .textContent=${sink}></p>
      </div>
      <div class="at-steps" data-part="steps" data-given=${given("steps")}>
        <h3 class="gp-subtitle" data-answer="beside" data-text="cell.step_score"></h3>
        ${dimensions.holder}
        <div data-answer="beside">
          <div class="gp-formula" lang="en">${lines?.product}</div>
          <div class="gp-formula" lang="en" data-result=${reading ? resultOf(reading, "steps", text) : ""}>
            ${lines?.score}
          </div>
          <div>
            ${step("softmax")}
            <div class="gp-formula" lang="en">${lines?.softmax}</div>
            <p class="gp-note" data-text="cell.softmax_note"></p>
          </div>
        </div>
      </div>
    </div>
    <div class="at-carries" data-part="carried">
      <div class="at-carried" data-given=${given("carried")}>
        <h3 class="gp-subtitle" data-answer="beside" data-text="cell.step_carried"></h3>
        <p class="gp-note" .textContent=${text(carried ? "carried_note" : "values_locked")}></p>
        ${dimensions.carried.holder}
        <div
          class="gp-formula"
          lang="en"
          data-answer="beside"
          data-result=${reading && carried ? resultOf(reading, "carried", text) : ""}
          ?hidden=${!carried}
        >
          ${carried && carriedLines({ weight: reading.values.weight, ...carried }, text)}
        </div>
      </div>
      ${step("written")} ${written}
    </div>
  `;
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function cell(element, glass) {
  const state = shownIn(glass);
  const panel = frame(element, glass, "cell", { parts: ["what", "formula", "sinks", "myth"] });
  const { text } = panel;
  const [map, dimensions, written] = [createHeadMap(glass, panel), createDimensions(glass), createWritten(glass, text)];
  /** @param {CellReading | null} reading */
  const view = (reading) => viewOf(reading, { map, dimensions, written: written.element }, glass, text);
  render(view(null), panel.body);
  const mapWide = widthOf(/** @type {HTMLElement} */ (panel.body.querySelector(".at-map")), glass);

  /** @param {CellReading} reading */
  function tell(reading) {
    const { scored, here } = jobOfHead(glass);
    panel.title.textContent = [text("title", cellNames(state)), scored, here].filter(Boolean).join(" · ");
    const { qk, score, weight } = reading.values;
    const numbers = { product: shown(qk, 5), score: shown(score, 5), weight: shown(weight, 5) };
    panel.show(reading, text("read", { ...cellNames(state), ...numbers }));
  }

  return inView(element, function draw() {
    const reading = readHere(glass, cellReader, select(glass));
    if (!reading || mapWide() === 0 || !dimensions.hasRoom()) return undefined;
    map.draw(mapWide());
    dimensions.draw(reading);
    return () => {
      map.mark();
      for (const canvas of dimensions.carried.canvases) canvas.hidden = !reading.carried;
      const { layer, head, query } = reading.selection;
      written.draw(reading.written, layer, head, query, state.language);
      render(view(reading), panel.body);
      tell(reading);
    };
  });
}
