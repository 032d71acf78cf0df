// The masks that networks use, drawn over this run's tokens; the selected row under those that hide more; GLM's blank
// infilling; and which networks are trained with which mask.

import { labelsOf } from "../../characters.js";
import { slider } from "../../controls.js";
import { h, sample } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { createTable, writeTexts } from "../../marks/table.js";
import { inWidth, widthOf } from "../../pointing.js";
import { masksReader } from "../../readings/mask-kinds.js";
import { readHere } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";
import { lostIn } from "./alike.js";
import { selectedCell, weightsTable } from "./cell-selection.js";
import { createExample } from "./glm-example.js";
import { createTiles, layoutTiles, TILES } from "./mask-tiles.js";
import { createWeightRows } from "./weight-rows.js";

/** @typedef {import("../../readings/mask-kinds.js").MasksReading} MasksReading */
/** @typedef {import("../../types.d.ts").Glass} Glass */
/** @typedef {(name: string, params?: Record<string, unknown>) => string} Text */

const KIND = "mask-kinds";
const NAMES = /** @type {("window" | "prefix")[]} */ (["window", "prefix"]);
const TRAINED = ["clm", "mlm", "spans", "blanks", "chatglm", "window"];

/** A setting, 0 where none is set or it is no number of tokens. @param {Glass} glass @param {string} name */
function setOf({ settings }, name) {
  const given = Number(settings.get(KIND)[name]);
  return Number.isInteger(given) && given > 0 ? given : 0;
}
/** @param {Glass} glass */
const select = (glass) => ({ ...selectedCell(glass), window: setOf(glass, "window"), prefix: setOf(glass, "prefix") });

/** @param {Glass} glass */
function createSliders(glass) {
  const sliders = NAMES.map((name) =>
    slider("gp-slider", `${KIND}.${name}`, { min: 1, step: 1 }, (value) =>
      glass.settings.set(KIND, { ...glass.settings.get(KIND), [name]: value }),
    ),
  );
  /** @param {MasksReading} reading */
  function show({ selection, tokens }) {
    NAMES.forEach((name, i) => {
      const words = glass.text(`${KIND}.tokens`, { count: selection[name] });
      sliders[i].show(selection[name], words, { max: name === "prefix" ? Math.max(1, tokens - 1) : tokens });
    });
  }
  return { element: h("div.gp-sliders", null, ...sliders.map(({ element }) => element)), show };
}

/**
 * The same sliders over B − A.
 *
 * @param {Glass} glass
 * @param {(run: any) => any} readIn
 */
function slidersOfBoth(glass, readIn) {
  const { element, show } = createSliders(glass);
  return { elements: [element], show: (/** @type {any} */ _a, /** @type {any} */ b) => show(readIn(b)) };
}

export const about = {
  tensors: ["scores", "attention"],
  difference: {
    reader: masksReader,
    select,
    controls: slidersOfBoth,
    without: "b_minus_a.without_glm",
    said: ["lost_sliding"],
    parts: [{ ...weightsTable, column: "weight_sliding", title: "weights_sliding" }],
  },
  unused: /** @type {const} */ ("head"),
};

/** Which masks belong to which networks, and what those are trained to do. @param {Text} text */
function createTrained(text) {
  const table = createTable(
    KIND,
    [
      ["networks", "th.gp-token.at-wide"],
      ["mask", "td.at-part"],
      ["trained", "td.at-part"],
    ],
    { rows: TRAINED.length, look: ".gp-stacked" },
  );
  const fill = () =>
    table.fill(TRAINED, (fields, name) => {
      writeTexts(
        fields,
        ["networks", "mask", "trained"].map((column) => text(`${column}_${name}`)),
      );
      for (const [i, column] of ["mask", "trained"].entries()) fields[i + 1].dataset.head = text(column);
    });
  return { element: table.element, fill };
}

/**
 * How many pairs a tile's mask lets through, in words. @param {MasksReading} reading @param {string} name @param
 * {Text} text
 */
function countOf({ pairs, tokens, source, target }, name, text) {
  const all = tokens * tokens;
  if (name === "blank") return text("pairs", { count: pairs.blank, all: (tokens + 2) ** 2 });
  if (name !== "encoder_decoder") return text("pairs", { count: pairs[/** @type {"causal"} */ (name)], all });
  const { encoder, decoder, cross } = pairs;
  return text("pairs_three", { encoder, decoder, cross, source, target });
}

/**
 * What to notice: of the row under the first of the narrower masks.
 *
 * @param {MasksReading} reading
 * @param {string[]} pieces
 * @param {Text} text
 * @param {import("../../types.d.ts").Texts["text"]} whole of the page
 */
function noticeOf({ own, pairs, tokens, narrowed, selection: { query, window } }, pieces, text, whole) {
  const { lost } = narrowed[narrowed.length - 1];
  return text(`notice_${own}`, {
    tokens,
    pairs: pairs.own,
    all: tokens * tokens,
    query: visible(labelsOf(pieces)[query]),
    window,
    sliding: pairs.sliding,
    lost: lostIn(whole, lost),
  });
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function maskKinds(element, glass) {
  const { state } = glass;
  const panel = frame(element, glass, KIND, { parts: ["what", "formula", "myth", "source"], pointed: false });
  const [sliders, tiles, example] = [createSliders(glass), createTiles(glass), createExample(glass)];
  const trained = createTrained(panel.text);
  const rows = createWeightRows(glass, `${KIND}.rows`);
  const wide = widthOf(panel.body, glass);
  const legend = h(
    "div.gp-samples",
    null,
    ...[
      ["both", "k"],
      ["back", "q"],
      ["across", "v"],
    ].map(([name, hue]) => sample("span.gp-swatch", `${KIND}.${name}`, hue)),
    sample("span.gp-swatch.is-masked", `${KIND}.hidden`),
  );

  /** The cell of a tile under the pointer, in words. */
  function pointedText() {
    const cell = tiles.pointed();
    if (!cell) return panel.text("point");
    const [query, key] = [cell.query, cell.key].map(visible);
    return panel.text(cell.sees ? "sees" : "sees_not", { mask: panel.text(`name_${cell.kind}`), query, key });
  }
  /** @param {string} name @param {number} i @param {MasksReading | null} reading */
  const tileView = (name, i, reading) => html`
    <figure>
      <figcaption .textContent=${panel.text(`name_${name}`)}></figcaption>
      ${tiles.canvases[i]}
      <p class="gp-note" .textContent=${reading ? countOf(reading, name, panel.text) : ""}></p>
      <p class="gp-note" .textContent=${panel.text(`means_${name}`)}></p>
    </figure>
  `;
  /** @param {MasksReading | null} reading null before it has come */
  const view = (reading) => html`
    <p
      class="wy-notice"
      .textContent=${reading ? noticeOf(reading, state.trace?.tokens.pieces ?? [], panel.text, glass.text) : ""}
    ></p>
    ${sliders.element} ${legend}
    <p class="gp-note at-pointed" .textContent=${pointedText()}></p>
    <div class="at-masks" style=${`--columns: ${layoutTiles(wide()).columns}`}>
      ${TILES.map((name, i) => tileView(name, i, reading))}
    </div>
    <h3 class="gp-subtitle" .textContent=${panel.text("rows_title")}></h3>
    ${rows.canvas}
    <h3 class="gp-subtitle" .textContent=${panel.text("example_title")}></h3>
    <p class="at-told" .textContent=${panel.text("example_says")}></p>
    <div class="gp-columns">
      <div>${example.order} ${example.table}</div>
      <div>${example.canvas}</div>
    </div>
    <h3 class="gp-subtitle" .textContent=${panel.text("trained_title")}></h3>
    ${trained.element}
    <p class="at-told" .textContent=${panel.text("translation")}></p>
  `;
  render(view(null), panel.body);

  return inWidth(element, wide, function draw(width) {
    const reading = readHere(glass, masksReader, select(glass));
    element.toggleAttribute("data-loading", !reading);
    if (!reading) return undefined;
    tiles.draw(layoutTiles(width).size, reading);
    const { narrowed, weights, own } = reading;
    const titled = narrowed.map(({ kind, weights: left }) => ({ title: panel.text(`row_${kind}`), weights: left }));
    rows.draw(width, [{ title: panel.text(`own_${own}`), weights }, ...titled], "attention.ceiling");
    const fillExample = example.draw();
    void tiles.pointed(); // which a line names
    return () => {
      const { layer, head, query } = reading.selection;
      const piece = visible(labelsOf(state.trace?.tokens.pieces ?? [])[query] ?? "");
      panel.title.textContent = panel.text("title", { layer, head, query: piece });
      sliders.show(reading);
      fillExample();
      trained.fill();
      render(view(reading), panel.body);
      panel.show(reading, "");
    };
  });
}
