// Cross-attention: where each token that a decoder writes looks in the source, for every head of the layer, and one
// cell of it taken apart. Its queries are the decoder's, its keys the encoder's; no mask hides any, and no position
// comes in.

import { labelsOf } from "../../characters.js";
import { h, line, share, shown, strong, sub, tinted } from "../../dom.js";
import { visible } from "../../draw.js";
import { writtenOut } from "../../equation.js";
import { frame } from "../../frame.js";
import { createMemory } from "../../marks/runs.js";
import { createStrips } from "../../marks/strips.js";
import { looksAtSource } from "../../parts.js";
import { along, inWidth, bindPointer, bindArrowKeys, widthOf } from "../../pointing.js";
import { reactive } from "../../reads.js";
import { crossReader, mostSeen } from "../../readings/cross.js";
import { readHere, shownIn } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";
import { createLargest } from "./attention-row.js";
import { productStrips } from "./carried.js";
import { clickedSource, crossTrace } from "./cross-choice.js";
import { createCrossMaps } from "./cross-maps.js";
import { productLine, sumOf, weightLine } from "./formulas.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../readings/cross.js").CrossReading} CrossReading
 *
 * @typedef {import("../../readings/cross.js").CrossTrace} CrossTrace
 */

const KIND = "cross";
const LISTED = 8;

/**
 * What the panel's reader is asked about.
 *
 * @param {Glass} glass
 * @param {number | null} [pointed] the source token under the pointer
 * @returns {import("../../readings/cross.js").CrossSelection}
 */
function select(glass, pointed = null) {
  const { layer, head, query } = glass.state;
  return { layer, head, query, source: pointed ?? clickedSource(glass) };
}

/** What a run has read. @param {import("../../decode.js").Trace} trace */
const sourceOf = (trace) => /** @type {CrossTrace} */ (trace).encoder;

/**
 * A source token by its text in B, and in A where that is another one.
 *
 * @param {import("../../difference/from-reading.js").RowAbout} row
 */
function sourceName({ index, a, b }) {
  const [first, second] = [a, b].map(({ trace }) => visible(labelsOf(sourceOf(trace).tokens.pieces)[index]));
  return first === second ? `${second} (${index})` : `${first} → ${second} (${index})`;
}

/** @type {import("../../frame.js").About} */
export const about = {
  only: looksAtSource,
  unused: "cross",
  difference: {
    reader: crossReader,
    select,
    points: "source",
    most: { rows: "row", column: "weight" },
    // Positions of the source are subtracted one by one.
    lacks(glass, { A, B }) {
      const [a, b] = [sourceOf(A).T, sourceOf(B).T];
      return a === b ? null : glass.text("b_minus_a.sources", { a, b });
    },
    said: ["weight", "score"],
    of: ({ text, named, chosen: { source }, b }) =>
      text("of_source", { ...named, source: visible(labelsOf(sourceOf(b.trace).tokens.pieces)[source]) }),
    parts: [
      { draw: "crossMaps", create: createCrossMaps },
      {
        draw: "table",
        rows: "row",
        column: "weight",
        title: "source_weights",
        heading: "source",
        name: sourceName,
        points: true,
        kept: true,
      },
      { draw: "strips", rows: "products", columns: [["q", "q"]], title: "source_query", pairs: true },
    ],
  },
  tensors: ["cross_q", "cross_k", "cross_scores", "cross_attention"],
};

/**
 * The strips of the chosen cell; the pointer and the arrow keys choose a dimension.
 *
 * @param {Glass} glass
 * @param {Say} text
 */
function createProducts(glass, text) {
  const canvas = h("canvas.gp-canvas", { "data-text-label": `${KIND}.products` });
  const holder = h("div", null, canvas);
  const [strips, wide] = [createStrips(canvas), widthOf(holder, glass)];
  const view = reactive({ dimension: 0 });
  const choose = (/** @type {number | null} */ i) => {
    if (i !== null) view.dimension = i;
    return i === null ? null : {};
  };
  bindPointer(canvas, glass, (x) => choose(strips.find(x)));
  bindArrowKeys(
    canvas,
    glass,
    along(
      () => shownIn(glass).trace.model.head_dim,
      () => view.dimension,
      choose,
    ),
  );
  /** @param {CrossReading} reading */
  const chosen = ({ cell: { q } }) => Math.min(view.dimension, q.length - 1);
  /** @param {CrossReading} reading */
  function draw(reading) {
    const { q, k, terms } = reading.cell;
    const named = productStrips(q, k, terms, [text("strip_q"), text("strip_k")]);
    strips.draw(wide(), named, { chosen: chosen(reading) });
  }
  return { holder, chosen, draw };
}

/**
 * One product, their sum, the score and its weight.
 *
 * @param {CrossReading} reading
 * @param {number} dimension
 * @param {number} scale what multiplies q·k
 * @param {Say} text
 */
function arithmeticOf({ cell }, dimension, scale, text) {
  const { terms, score, top, total, weight } = cell;
  const said = writtenOut(
    { dot: terms.reduce((sum, term) => sum + term, 0), factor: scale, score, top, total, weight },
    [
      ["score", ["dot", "factor"], (product, by) => product * by],
      ["weight", ["score", "top", "total"], (a, most, sum) => Math.exp(a - most) / sum],
    ],
    { of: { factor: { digits: 6 }, total: { digits: 6 } } },
  );
  const factor = scale === 1 ? "" : ` · ${said.factor}`;
  const [ofQ, ofK] = ["q", "k"].map((name) => () => tinted(name, name));
  const summed = ["Σ", sub("i"), " ", ofQ(), sub("i"), ofK(), sub("i")];
  return [
    productLine(dimension, cell.q[dimension], cell.k[dimension]),
    line`${ofQ()}·${ofK()} = ${summed} = ${sumOf(terms, text, said.dot)}`,
    line`${text("score")} = ${ofQ()}·${ofK()}${factor} = ${strong(said.score)}`,
    weightLine(said, text),
  ];
}

/**
 * Where the head looks most, in words.
 *
 * @param {CrossReading} reading
 * @param {CrossTrace} trace
 * @param {Say} text
 */
function noteOf({ selection: { head, query }, row: { weights } }, { T, tokens, encoder }, text) {
  const { pieces } = encoder.tokens;
  const most = mostSeen(weights);
  const named = {
    piece: visible(labelsOf(tokens.pieces)[query]),
    most: visible(labelsOf(pieces)[most]),
    weight: share(weights[most]),
  };
  return text("note", { ...named, head, written: T, read: pieces.length });
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function crossPanel(element, glass) {
  const panel = frame(element, glass, KIND, { parts: ["what", "formula", "myth"] });
  const { text } = panel;
  const maps = createCrossMaps(glass, `${KIND}.maps`);
  /** @type {(runs: Parameters<typeof maps.draw>[0]) => Parameters<typeof maps.draw>[0]} */
  const both = createMemory();
  const products = createProducts(glass, text);
  const table = createLargest(KIND, "source", LISTED, (count) => text("rest", { count }));
  table.element.dataset.part = "weights";
  const mapHolder = h("div.gp-scroll", { "data-part": "map" }, maps.element);
  const step = (/** @type {string} */ name) => html`<h3 class="gp-subtitle" data-text=${`${KIND}.step_${name}`}></h3>`;

  /** @param {CrossReading} reading */
  function arithmetic(reading) {
    const { cross_scale: scale } = crossTrace(glass).model.parts;
    return arithmeticOf(reading, products.chosen(reading), scale ?? 1, text);
  }
  /** @param {CrossReading | null} reading null before there is one */
  const view = (reading) => html`
    <p class="gp-note" .textContent=${reading ? noteOf(reading, crossTrace(glass), text) : ""}></p>
    ${mapHolder}
    <div class="gp-columns">
      <div>
        ${step("cell")} ${products.holder}
        <div class="gp-formula" lang="en" data-part="formula">${reading && arithmetic(reading)}</div>
        <p class="at-words" data-text=${`${KIND}.no_mask`}></p>
      </div>
      <div>${step("row")} ${table.element}</div>
    </div>
  `;
  render(view(null), panel.body);

  /** @param {CrossReading} reading */
  function tell(reading) {
    const { layer, head, query, source } = reading.selection;
    const { tokens, encoder } = crossTrace(glass);
    const piece = visible(labelsOf(tokens.pieces)[query]);
    panel.title.textContent = text("title", { layer, head, query, piece });
    const { score, weight } = reading.values;
    const numbers = { score: shown(score, 5), weight: shown(weight, 5) };
    const named = { layer, head, query: piece, source: visible(labelsOf(encoder.tokens.pieces)[source]) };
    panel.show(reading, text("read", { ...named, ...numbers }));
  }

  return inWidth(element, widthOf(mapHolder, glass), function draw(width) {
    const [reading, held] = [readHere(glass, crossReader, select(glass, maps.pointed())), glass.layer()];
    if (!reading || !held) return undefined;
    const trace = crossTrace(glass);
    maps.draw(both([{ trace, held }]), width, reading.selection.source);
    products.draw(reading);
    return () => {
      render(view(reading), panel.body);
      table.fill(reading.row, trace.encoder.tokens.pieces);
      tell(reading);
    };
  });
}
