// DeepSeek's sparse attention: k keys that are chosen for a query, all heads together, beside the last k tokens; what
// each loses, what is computed, and what the cache then holds.

import { labelsOf } from "../../characters.js";
import { slider } from "../../controls.js";
import { byteUnit } from "../../counts.js";
import { count, fixed, h, line, phrase, shown, strong, sub } from "../../dom.js";
import { writtenOut } from "../../equation.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { createTable, listed, writeTexts } from "../../marks/table.js";
import { inWidth, widthOf } from "../../pointing.js";
import { KEY_BYTES, sparseReader } from "../../readings/sparse-attention.js";
import { readHere } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";
import { lostIn } from "./alike.js";
import { selectedCell, weightsTable } from "./cell-selection.js";
import { createNamedMap } from "./named-map.js";
import { createWeightRows } from "./weight-rows.js";

/** @typedef {import("../../readings/sparse-attention.js").SparseReading} SparseReading */
/** @typedef {import("../../readings/sparse-attention.js").Chooser} Chooser */
/** @typedef {import("../../types.d.ts").Glass} Glass */
/** @typedef {(name: string, params?: Record<string, unknown>) => string} Text */

const KIND = "sparse-attention";
const CHOOSERS = /** @type {Chooser[]} */ (["best", "formula", "window"]);
// DeepSeek-V3.2 at its longest: tokens, k, and per pair the multiply-adds of 128 heads on latents (scores over 512 + 64
// numbers, sums over 512) and of 64 index heads of width 128; bytes a token and layer of the latent in bfloat16.
const LARGE = { tokens: 131_072, k: 2048, main: 128 * (576 + 512), indexer: 64 * 128, latent: 576 * 2 };

/** How many keys are set, 0 for as many as it is at first. @param {Glass} glass */
const setOf = ({ settings }) => Math.max(0, Math.round(Number(settings.get(KIND).k) || 0));
/** @param {Glass} glass */
const select = (glass) => ({ ...selectedCell(glass), k: setOf(glass) });

/** @param {Glass} glass */
function createCount(glass) {
  const range = slider("gp-slider", `${KIND}.k`, { min: 1, step: 1 }, (k) => glass.settings.set(KIND, { k }));
  /** @param {SparseReading} reading */
  const show = ({ selection: { k }, tokens }) => range.show(k, glass.text(`${KIND}.k_of`, { k }), { max: tokens });
  return { element: range.element, show };
}

/**
 * The same slider over B − A.
 *
 * @param {Glass} glass
 * @param {(run: any) => any} readIn
 */
function countOfBoth(glass, readIn) {
  const { element, show } = createCount(glass);
  return { elements: [element], show: (/** @type {any} */ _a, /** @type {any} */ b) => show(readIn(b)) };
}

export const about = {
  tensors: ["q_rot", "k_rot", "scores", "attention", "v"],
  waits: ["values"],
  difference: {
    reader: sparseReader,
    select,
    controls: countOfBoth,
    said: ["best_lost", "window_lost"],
    parts: [{ ...weightsTable, column: "weight_top_k", title: "weights_top_k" }],
  },
  unused: /** @type {const} */ ("head"),
};

/**
 * @param {Text} text
 * @param {import("../../types.d.ts").Texts["text"]} whole of the page
 */
function createChoices(text, whole) {
  /** @type {[string, string][]} */
  const columns = [
    ["chosen_by", "th.gp-token.at-chooser"],
    ["lost", "td.gp-number"],
    ["lost_by_all", "td.gp-number"],
    ["changed", "td.gp-number"],
    ["changed_in_all", "td.gp-number"],
  ];
  const table = createTable(KIND, columns, { rows: CHOOSERS.length });
  /** @param {SparseReading} reading */
  const fill = ({ choices, selection: { k } }) =>
    table.fill(CHOOSERS, (fields, name) => {
      const { lost, lostByAll, changed, changedInAll } = choices[name];
      writeTexts(fields, [
        text(`by_${name}`, { k }),
        ...[lost, lostByAll, changed, changedInAll].map((share) => lostIn(whole, share)),
      ]);
    });
  return { element: listed(".at-wide-table", `${KIND}.table`, table), fill };
}

/** Pairs that are read where each query has up to k keys, as the sum and its result. */
function counted(/** @type {number} */ tokens, /** @type {number} */ k) {
  return `${count(tokens)} · ${count(k)} − ${count(k)} · ${count(k - 1)} / 2`;
}

/**
 * How many pairs there are and are read, as a formula: under another mask than a plain one the sum over the queries
 * of the keys that each sees.
 *
 * @param {number} tokens
 * @param {number} k
 * @param {number} seen pairs that the network's mask lets through
 * @param {boolean} causal
 */
function sumsOf(tokens, k, seen, causal) {
  if (seen === (tokens * (tokens + 1)) / 2 && causal)
    return {
      all: `T(T + 1) / 2 = ${count(tokens)} · ${count(tokens + 1)} / 2`,
      read: `T·k − k(k − 1) / 2 = ${counted(tokens, k)}`,
    };
  if (seen === tokens ** 2) return { all: `T² = ${count(tokens)}²`, read: `T·k = ${count(tokens)} · ${count(k)}` };
  return { all: "Σ nᵢ", read: "Σ min(nᵢ, k)" };
}

/**
 * The sums with this run's numbers, and with DeepSeek-V3.2's.
 *
 * @param {SparseReading} reading
 * @param {import("../../types.d.ts").Model} model
 * @param {Text} text
 */
function linesOf({ index, heads, pairs, bytes, tokens, causal, selection: { k, query, key } }, model, text) {
  const bold = (/** @type {number} */ value) => h("strong", null, count(value));
  /** @type {Record<string, number>} */
  const values = Object.fromEntries([["mean", index[key] ?? NaN], ...heads.map((a, i) => [`a${i}`, a])]);
  const said = writtenOut(
    values,
    [["mean", heads.map((_, i) => `a${i}`), (...all) => all.reduce((sum, a) => sum + a, 0) / all.length]],
    { digits: 4, write: fixed, of: { mean: { digits: 3, write: shown } } },
  );
  const each = heads.length > 8 ? "Σ a" : heads.map((_, i) => said[`a${i}`]).join(" + ");
  const mean = phrase`I${sub(`${query},${key}`)} = (${each}) / ${String(heads.length)}`;
  const { all, read } = sumsOf(tokens, k, pairs.all, causal);
  const { tokens: L, k: K, main, indexer, latent } = LARGE;
  const [whole, part] = [(L * (L + 1)) / 2, L * K - (K * (K - 1)) / 2];
  const sum = part * main + whole * indexer;
  const [full, some, scored] = [whole * main, part * main, whole * indexer].map((x) => shown(x, 3));
  const sparse = `${count(main)} · ${count(part)} + ${count(indexer)} · ${count(whole)} = ${some} + ${scored}`;
  const less = shown((whole * main) / sum, 3);
  const unit = byteUnit();
  const added = `${String(model.n_layers)} · (128 + 4) ${unit}`;
  return [
    line`${text("index", { query, key })}   ${mean} = ${strong(said.mean)}`,
    line`${text("pairs_all")}   ${all} = ${bold(pairs.all)};   ${text("pairs_read")}   ${read} = ${bold(pairs.read)}`,
    line`${text("large", { tokens: count(L), k: count(K) })}`,
    line`${text("large_whole")}   ${count(main)} · ${count(whole)} = ${h("strong", null, full)}`,
    line`${text("large_sparse")}   ${sparse} = ${strong(sum, 3)};   ${text("large_less", { less })}`,
    line`${text("cache_large")}   ${count(latent)} ${unit} + (128 + 4) ${unit} = ${bold(latent + KEY_BYTES)} ${unit}`,
    line`${text("cache_here")}   ${count(bytes.own)} ${unit} + ${added} = ${bold(bytes.own + bytes.added)} ${unit}`,
  ];
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function sparseAttention(element, glass) {
  const { state } = glass;
  const panel = frame(element, glass, KIND, { parts: ["what", "formula", "myth", "source"], pointed: false });
  const [keys, choices] = [createCount(glass), createChoices(panel.text, glass.text)];
  const rows = createWeightRows(glass, `${KIND}.rows`);
  const maps = [createNamedMap(glass, `${KIND}.map_chosen`), createNamedMap(glass, `${KIND}.map_window`)];
  const half = h("div", null, maps[0].canvas);
  const [wide, halfWide] = [widthOf(panel.body, glass), widthOf(half, glass)];

  /** @param {SparseReading} reading */
  function noticeOf({ choices: { best, window }, lost, weights, selection: { head, query, k } }) {
    return panel.text(weights.length <= k ? "notice_all" : "notice", {
      k,
      head,
      query: visible(labelsOf(state.trace?.tokens.pieces ?? [])[query] ?? ""),
      lost: lostIn(glass.text, best.lost),
      window: lostIn(glass.text, window.lost),
      all: lostIn(glass.text, lost.best),
      window_all: lostIn(glass.text, lost.window),
    });
  }
  /** @param {SparseReading | null} reading null before it has come */
  const view = (reading) => html`
    <p class="wy-notice" .textContent=${reading ? noticeOf(reading) : ""}></p>
    <p class="gp-note" .textContent=${panel.text("untrained")}></p>
    ${keys.element}
    <div class="gp-columns">
      <div>
        <h3 class="gp-subtitle" .textContent=${panel.text("chosen_title")}></h3>
        ${half}
      </div>
      <div>
        <h3 class="gp-subtitle" .textContent=${panel.text("window_title")}></h3>
        ${maps[1].canvas}
      </div>
    </div>
    ${rows.canvas} ${choices.element}
    <div class="gp-formula">${reading && state.trace && linesOf(reading, state.trace.model, panel.text)}</div>
  `;
  render(view(null), panel.body);

  return inWidth(element, wide, function draw(width) {
    const reading = readHere(glass, sparseReader, select(glass));
    element.toggleAttribute("data-loading", !reading);
    if (!reading) return undefined;
    const { head, layer, k } = reading.selection;
    /** @type {import("../../readings/masks.js").Mask} */
    const mask = () => [0, reading.tokens];
    /** @type {import("../../readings/masks.js").Span} */
    const seen = [0, reading.weights.length];
    for (const [i, matrix] of [reading.chosen, reading.recent].entries())
      maps[i].draw(halfWide(), { matrix, mask, seen });
    const shownRows = [
      { title: panel.text("row_own", { head }), weights: reading.weights },
      { title: panel.text("row_chosen", { k }), weights: reading.choices.best.weights },
      { title: panel.text("row_window", { k }), weights: reading.choices.window.weights },
    ];
    rows.draw(width, shownRows, "attention.ceiling");
    return () => {
      panel.title.textContent = panel.text("title", { layer, k });
      keys.show(reading);
      render(view(reading), panel.body);
      choices.fill(reading);
      panel.show(reading, "");
    };
  });
}
