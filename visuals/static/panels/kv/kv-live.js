// The live cache: which rows each token writes and reads, and its bytes as measured beside the formula.

import { largest } from "../../arrays.js";
import { row as attentionRow } from "../../compute.js";
import { h, share, shown, tinted } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { noCache } from "../../parts.js";
import { inWidth, bindPointer, bindArrowKeys, widthOf } from "../../pointing.js";
import {
  bytesOf,
  elementBytes,
  factorsOf,
  keptNumbers,
  latentOf,
  liveReader,
  piecesOf,
  sourceFactors,
} from "../../readings/kv.js";
import { readHere, shownIn } from "../../run-for.js";
import { html, nothing, render } from "../../vendor/lit-html.js";
import { both, exactBytes, whole } from "./format.js";
import { cellAt, drawGrid } from "./live-grid.js";
import { createPlayer } from "./live-player.js";
import { product } from "./product.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../decode.js").Trace} Trace
 *
 * @typedef {import("../../readings/kv.js").LiveReading} Reading
 *
 * @typedef {import("./live-grid.js").Scene} Scene
 */

/**
 * What the grid shows.
 *
 * @param {import("../../types.d.ts").Shown} state
 * @param {import("../../decode.js").Layer | null} layer
 * @param {Reading} reading
 * @returns {Scene}
 */
function sceneOf({ trace, layer: index, head, covered = false, presenting = false }, layer, { moment }) {
  const pieces = piecesOf(trace);
  const known = layer && moment.query < trace.T;
  return {
    layers: trace.model.n_layers,
    columns: pieces.length,
    pieces,
    prompt: trace.nPrompt,
    layer: index,
    head,
    weights: known ? attentionRow(layer, trace.model, head, moment.query).weights : null,
    covered,
    bare: presenting,
    ...moment,
  };
}

/**
 * The formula with its numbers, and what the tensors say.
 *
 * @param {Trace} trace
 * @param {Reading} reading
 * @param {Glass} glass
 * @param {Say} text of the panel
 */
function sums(trace, { measured, tally, values: { tokens: held, bytes } }, glass, text) {
  /** @type {import("./format.js").Named} */
  const name = (code, params) => glass.text(`kv.factor_${code}`, params);
  const [own, source] = [factorsOf(trace, held), sourceFactors(trace)];
  const more =
    source &&
    html`<p class="kv-line" .textContent=${text("source_line", { tokens: trace.encoder?.T })}></p>
      ${product(source, name, bytesOf(source))}
      <p class="kv-line">
        ${text("together")} ${exactBytes(bytesOf(own))} + ${exactBytes(bytesOf(source))} =
        <strong .textContent=${exactBytes(bytes)}></strong>
      </p>`;
  const [look, verdict] =
    measured === null ? ["open", "unmeasured"] : measured === bytes ? ["equal", "equal"] : ["unequal", "unequal"];
  return html`<p class="kv-line" .textContent=${text("formula_line")}></p>
    ${product(own, name, bytesOf(own))} ${more ?? nothing}
    <p class="kv-line kv-verdict">
      ${text("measured_line", { held: whole(held) })}
      <strong .textContent=${measured === null ? "—" : exactBytes(measured)}></strong>
      <span class=${`kv-check is-${look}`} .textContent=${text(verdict)}></span>
      <span class="gp-note" .textContent=${both(bytes)}></span>
    </p>
    <p class="gp-note" .textContent=${tally.measured > 1 ? text("tally", tally) : ""}></p>`;
}

/**
 * What this step writes and reads, and why Q is in none of it; with this run's numbers.
 *
 * @param {Trace} trace
 * @param {Reading} reading
 * @param {Say} text of the panel
 */
function story(trace, { moment, values }, text) {
  const { n_layers, n_heads, n_kv_heads, head_dim } = trace.model;
  const { rank: latent = 0, rope = 0 } = latentOf(trace) ?? {};
  const size = elementBytes(trace);
  const rows = moment.held - moment.from;
  const wrote = bytesOf(factorsOf(trace, rows));
  const read = values.bytes;
  const query = n_layers * n_heads * head_dim * size;
  const params = {
    rows,
    held: moment.held,
    layers: n_layers,
    kv: n_kv_heads,
    heads: n_heads,
    head_dim,
    bytes: size,
    group: n_heads / n_kv_heads,
    latent,
    rope,
    wrote: exactBytes(wrote),
    read: exactBytes(read),
    query: exactBytes(query),
    token: moment.query,
    percent: Math.round((100 * n_heads * head_dim) / keptNumbers(trace)),
  };
  const part = (/** @type {string} */ title, /** @type {string[]} */ ...names) =>
    html`<div>
      <h3 class="gp-subtitle" .textContent=${text(title)}></h3>
      ${names.map((name) => html`<p .textContent=${text(name, params)}></p>`)}
    </div>`;
  const step = moment.prefill ? ["step_prefill", "read_prefill"] : ["step_decode", "read_decode"];
  return html`${part("step_title", ...step)} ${part("q_title", "q_used", "q_cost")}`;
}

function legend() {
  const sample = (/** @type {string} */ role, /** @type {string} */ name) =>
    h("span.gp-sample", null, h(`span.kv-swatch.is-${role}`), h("span", { "data-text": `kv-live.${name}` }));
  return h(
    "div.gp-samples.kv-legend",
    { "data-answer": "beside" },
    sample("new", "is_new"),
    sample("read", "is_read"),
    sample("held", "is_held"),
    sample("empty", "is_empty"),
    h("span.gp-sample", null, tinted("k", "K"), " | ", tinted("v", "V")),
  );
}

/** @type {import("../../frame.js").About} */
export const about = {
  tensors: ["k", "k_rot", "v", "kv_latent", "k_rope"],
  absent: noCache,
  forms: ({ parts }) => (parts.latent ? ["latent"] : parts.stack ? ["source"] : []),
};

/**
 * The grid, over which the pointer leads.
 *
 * @param {Glass} glass
 */
function createGrid(glass) {
  const state = shownIn(glass);
  const canvas = h("canvas.gp-canvas.kv-grid", {
    "data-part": "grid",
    "data-text-label": "kv-live.grid",
    "data-answer": "drawn",
  });
  /** @type {{ scene: Scene; size: import("./live-grid.js").Size } | null} null until it is drawn */
  let drawn = null;
  bindPointer(canvas, glass, (x, y) => {
    const cell = drawn && !state.trace.generating && cellAt(drawn.scene, drawn.size, x, y);
    if (!cell) return null;
    return state.trace.layers.has(cell.layer) ? { layer: cell.layer, query: cell.token } : { query: cell.token };
  });
  bindArrowKeys(canvas, glass, {});
  /**
   * @param {Scene} scene
   * @param {number} width
   * @param {Say} text of the panel
   */
  function draw(scene, width, text) {
    drawn = { scene, size: drawGrid(canvas, scene, width, text) };
  }
  return { canvas, draw };
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function kvLive(element, glass) {
  const state = shownIn(glass);
  const panel = frame(element, glass, "kv-live", { parts: ["what", "formula", "myth"] });
  const { text } = panel;
  const [play, grid, swatches] = [createPlayer(glass), createGrid(glass), legend()];

  /** @param {{ reading: Reading; scene: Scene } | null} shows null before there is a run */
  function view(shows) {
    const weights = shows?.scene.weights;
    const { layer, head } = state;
    const caption = weights ? text("weights", { layer, head, most: share(largest(weights)) }) : "";
    return html`
      <div class="kv-bar">${play.element} ${swatches}</div>
      <div class="kv-kept">
        <p class="gp-note kv-caption" data-answer="beside" .textContent=${caption}></p>
        ${grid.canvas}
      </div>
      <div class="kv-sums" data-part="sums">${shows && sums(state.trace, shows.reading, glass, text)}</div>
      <div class="gp-columns kv-story" data-part="story">${shows && story(state.trace, shows.reading, text)}</div>
    `;
  }
  render(view(null), panel.body);

  /**
   * @param {Reading} reading
   * @param {Scene} scene
   */
  function tell(reading, { pieces }) {
    const { trace } = state;
    const { layer, query: token } = reading.selection;
    const { tokens, bytes, k, v } = reading.values;
    panel.title.textContent = text(trace.encoder ? "title_source" : "title", {
      tokens: whole(tokens),
      source: whole(trace.encoder?.T ?? 0),
      layers: trace.model.n_layers,
      bytes: exactBytes(bytes),
    });
    const said = (/** @type {number} */ length) => (Number.isNaN(length) ? "…" : shown(length, 4));
    const each = whole(bytesOf(factorsOf(trace, 1)) / trace.model.n_layers);
    panel.show(
      reading,
      text("read", { layer, token, piece: visible(pieces[token]), k: said(k), v: said(v), bytes: each }),
    );
  }

  return inWidth(element, widthOf(panel.body, glass), function draw(width) {
    const { layer, query } = state;
    const reading = readHere(glass, liveReader, { layer, query });
    if (!reading) return undefined;
    const scene = sceneOf(state, glass.layer(), reading);
    grid.draw(scene, width, text);
    return () => {
      play.draw();
      render(view({ reading, scene }), panel.body);
      tell(reading, scene);
    };
  });
}
